// Integers that are looked at on their way: whether they fit another type, whether one is zero.
#include <cstring>

#include "backends/cpu/cpu.h"
#include "kernel/notice.h"

namespace ms::cpu {
namespace {

KernelChoice MakeFitNumber(const KernelRequest& r) {
  DType from = r.dtype(0), to = r.out[0].dtype();
  int64_t size = r.shape(0).size();
  std::string of = r.attr<std::string>("of");
  auto run = [=](const KernelArgs& a) {
    VisitDType(from, [&]<class T>(TypeTag<T>) {
      if constexpr (IsInteger(kDTypeOf<T>)) {
        const T* x = static_cast<const T*>(a.in[0]);
        IntegerRange range = RangeOf(to);
        for (int64_t i = 0; i < size; ++i) {
          if (!range.Holds(x[i]))
            Throw(ErrorKind::kValue, "For '{}', {}.", of, UnfitText(to, fmt::format("{}", x[i])));
        }
        VisitDType(to, [&]<class U>(TypeTag<U>) {
          if constexpr (IsInteger(kDTypeOf<U>)) std::copy(x, x + size, static_cast<U*>(a.out[0]));
        });
      }
    });
  };
  return FunctionKernel(run, static_cast<double>(size));
}

KernelChoice MakeCheckDivisor(const KernelRequest& r) {
  DType dtype = r.dtype(0);
  int64_t size = r.shape(0).size();
  auto span = static_cast<SpanId>(r.attr<int64_t>("span"));
  auto run = [=](const KernelArgs& a) {
    if (HasZero(dtype, a.in[0], size)) NoteZeroDivisor(span);
    if (a.out[0] != a.in[0])
      std::memcpy(a.out[0], a.in[0], static_cast<size_t>(size) * ItemSize(dtype));
  };
  return FunctionKernel(run, 0.2 * static_cast<double>(size));
}

}  // namespace

void AddNumbers(KernelTable& table) {
  table.For("FitNumber").Try("reference", MakeFitNumber);
  table.For("CheckDivisor").Try("reference", MakeCheckDivisor);
}

}  // namespace ms::cpu
