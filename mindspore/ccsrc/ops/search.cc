// Places of values in sorted rows.
#include "ops/all.h"
#include "ops/shard.h"

namespace ms {

void DefineSearch(OpRegistry& ops) {
  ops.Op("SearchRows")
      .Internal()
      .Doc(
          "How many elements of a sorted row are less than a value, or with `right` not greater; a "
          "nan is above all.")
      .In("sorted", kReal, "[..., n], or [n] for all rows of the values.")
      .In("values", kReal, "[..., m]; the dtype of the rows.")
      .WithAttr("dtype", DType::kInt64, "Int32 or Int64.")
      .WithAttr("right", false, "Behind equal elements.")
      .Shard([](const ShardContext& c) -> std::string {
        return c.rank(0) == 1 ? "n, ... -> ...; n whole" : "... n, ... m -> ... m; n whole";
      })
      .Infer([](InferContext& c) {
        c.CheckSameDType(0, 1);
        c.Check(c.rank(0) > 0, "'sorted' must have at least 1 dimension, but got a scalar");
        bool fits = c.rank(0) == 1 || c.rank(0) == c.rank(1);
        for (int i = 0; fits && i + 1 < c.rank(0); ++i) fits = c.dim(0, i) == c.dim(1, i);
        c.Check(fits,
                "the sizes of 'sorted' and 'values' must be equal but for the last ones, but got "
                "shapes {} and {}",
                c.shape(0), c.shape(1));
        DType dtype = c.attr<DType>("dtype");
        c.CheckType(Contains(kIndex, dtype), "'dtype' must be Int32 or Int64, but got {}",
                    Name(dtype));
        return Type(dtype, c.shape(1));
      });
}

}  // namespace ms
