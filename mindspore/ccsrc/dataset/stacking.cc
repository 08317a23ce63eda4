// Joins the values of a column, equal or padded. See batching.h.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>

#include "dataset/batching.h"
#include "dataset/stacking.h"

namespace ms::dataset {
namespace {

OpaqueStacker& Stacker() {
  static OpaqueStacker stacker;
  return stacker;
}

// What all rows can be joined as: numbers of one type, or text of the greatest width.
Element Common(const char* op, const std::string& column, const std::vector<Value>& rows) {
  Element common = rows[0].element;
  for (size_t i = 1; i < rows.size(); ++i) {
    const Element& element = rows[i].element;
    if (common.text() && element.kind == common.kind) {
      common.size = std::max(common.size, element.size);
    } else if (element != common) {
      Throw(ErrorKind::kRuntime,
            "For '{}', the rows of column '{}' must have the same type, but got {} in row 0 and {} "
            "in row {} of the batch.",
            op, column, rows[0].element.name(), element.name(), i);
    }
  }
  return common;
}

// Elements of a text may become wider.
void CopyElements(std::byte* target, Element to, const std::byte* source, Element from,
                  int64_t count) {
  if (to.size == from.size) {
    std::memcpy(target, source, static_cast<size_t>(count) * to.size);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(target, source, from.size);
    std::memset(target + from.size, 0, to.size - from.size);
    target += to.size;
    source += from.size;
  }
}

Dims Prefixed(size_t rows, const Dims& dims) {
  Dims batch{static_cast<int64_t>(rows)};
  batch.insert(batch.end(), dims.begin(), dims.end());
  return batch;
}

Dims Target(const std::string& column, const std::vector<Value>& rows, const Pad& pad) {
  Dims target = pad.shape.value_or(Dims(rows[0].dims->size(), -1));
  for (const Value& row : rows) {
    if (row.dims->size() != target.size()) {
      Throw(ErrorKind::kRuntime, "For 'padded_batch', column '{}' must have rank {}, but got {}.",
            column, target.size(), row.dims->size());
    }
  }
  for (size_t axis = 0; axis < target.size(); ++axis) {
    if (target[axis] >= 0) continue;
    target[axis] = 0;
    for (const Value& row : rows) target[axis] = std::max(target[axis], (*row.dims)[axis]);
  }
  return target;
}

// A padding value as it was given: a real number, and exactly, where it is an integer.
struct Number {
  double real = 0;
  bool whole = false;
  Wide integer = 0;
};

Number NumberOf(const Value& value) {
  return VisitDType(value.element.dtype, [&]<class T>(TypeTag<T>) -> Number {
    if constexpr (std::is_integral_v<T>) {
      T number = *value.as<T>();
      return {static_cast<double>(number), true, number};
    } else if constexpr (std::is_constructible_v<double, T>) {
      auto real = static_cast<double>(*value.as<T>());
      bool whole = std::trunc(real) == real && std::abs(real) <= 0x1p64;
      return {real, whole, whole ? static_cast<Wide>(real) : 0};
    } else {
      Throw(ErrorKind::kType, "For 'padded_batch', a padding value must be real, but got {}",
            value.element.name());
    }
  });
}

// False: a T cannot hold the number.
template <class T>
bool Store(const Number& number, std::byte* target) {
  T value;
  if constexpr (std::is_integral_v<T>) {
    IntegerRange range = std::is_same_v<T, bool> ? IntegerRange{0, 1} : RangeOf(kDTypeOf<T>);
    if (!number.whole || !range.Holds(number.integer)) return false;
    value = static_cast<T>(number.integer);
  } else if constexpr (std::is_constructible_v<double, T>) {
    value = T(static_cast<ComputeType<T>>(number.real));
    if (std::isfinite(number.real) && !std::isfinite(static_cast<double>(value))) return false;
  } else {
    value = T(static_cast<typename T::value_type>(number.real));
  }
  std::memcpy(target, &value, sizeof(T));
  return true;
}

// The padding value in the type of the column.
Value Cast(const std::string& column, const Value& fill, Element element) {
  Value cast = Value::Make(element, fill.dims);
  Number number = NumberOf(fill);
  bool held = VisitDType(element.dtype,
                         [&]<class T>(TypeTag<T>) { return Store<T>(number, cast.memory()); });
  if (held) return cast;
  std::string got = number.whole ? fmt::format("{}", number.integer) : fmt::to_string(number.real);
  Throw(ErrorKind::kValue,
        "For 'padded_batch', the value that column '{}' is padded with must be one that {} can "
        "hold, but got {}.",
        column, element.name(), got);
}

// Memory of a batch; what does not fit names the column.
Value Room(const char* op, const std::string& column, Element element, Dims dims) {
  try {
    return Value::Make(element, MakeDims(std::move(dims)));
  } catch (const Error& error) {
    throw Error(error.kind(),
                fmt::format("For '{}', column '{}': {}.", op, column, error.message()));
  }
}

// Checks the padding value against the column, whose text it may make wider.
std::optional<Value> Filling(const std::string& column, const Pad& pad, Element* element) {
  if (!pad.fill) return std::nullopt;
  const Value& fill = *pad.fill;
  bool one = !fill.opaque() && fill.count() == 1;
  if (one && element->text() && fill.element.kind == element->kind) {
    element->size = std::max(element->size, fill.element.size);
    return fill;
  }
  if (one && !element->text() && fill.element.kind == Kind::kNumber) {
    return Cast(column, fill, *element);
  }
  Throw(ErrorKind::kType,
        "For 'padded_batch', the value that column '{}' is padded with must be one of {}, but got "
        "{} of shape {}.",
        column, element->name(), fill.element.name(), ToString(*fill.dims));
}

void Fill(std::byte* target, Element element, int64_t count, const Value* fill) {
  if (!fill) {
    std::memset(target, 0, static_cast<size_t>(count) * element.size);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    CopyElements(target + static_cast<size_t>(i) * element.size, element, fill->data, fill->element,
                 1);
  }
}

// The part of `row` that lies within `target`, at the same place.
void CopyWindow(std::byte* memory, Element element, const Dims& target, const Value& row) {
  const Dims& dims = *row.dims;
  size_t rank = target.size();
  if (rank == 0) {
    CopyElements(memory, element, row.data, row.element, 1);
    return;
  }
  Dims window(rank);
  for (size_t axis = 0; axis < rank; ++axis) window[axis] = std::min(dims[axis], target[axis]);
  if (std::find(window.begin(), window.end(), 0) != window.end()) return;
  Dims at(rank, 0);
  while (true) {
    int64_t from = 0, to = 0;
    for (size_t axis = 0; axis < rank; ++axis) {
      from = from * dims[axis] + at[axis];
      to = to * target[axis] + at[axis];
    }
    CopyElements(memory + static_cast<size_t>(to) * element.size, element,
                 row.data + static_cast<size_t>(from) * row.element.size, row.element,
                 window[rank - 1]);
    size_t axis = rank - 1;
    while (axis > 0 && ++at[axis - 1] == window[axis - 1]) at[--axis] = 0;
    if (axis == 0) return;
  }
}

}  // namespace

void SetOpaqueStacker(OpaqueStacker stacker) { Stacker() = std::move(stacker); }

Value Stack(const char* op, const std::string& column, const std::vector<Value>& rows) {
  if (rows[0].opaque()) return Stacker()(column, rows);
  for (size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].dims != rows[0].dims && *rows[i].dims != *rows[0].dims) {
      Throw(ErrorKind::kRuntime,
            "For '{}', the rows of column '{}' must have the same shape, but got {} in row 0 and "
            "{} in row {} of the batch. Use padded_batch(), or a map that makes them equal.",
            op, column, ToString(*rows[0].dims), ToString(*rows[i].dims), i);
    }
  }
  Element element = Common(op, column, rows);
  Value batch = Room(op, column, element, Prefixed(rows.size(), *rows[0].dims));
  int64_t count = rows[0].count();
  std::byte* memory = batch.memory();
  for (const Value& row : rows) {
    CopyElements(memory, element, row.data, row.element, count);
    memory += static_cast<size_t>(count) * element.size;
  }
  return batch;
}

Value StackPadded(const std::string& column, const std::vector<Value>& rows, const Pad& pad) {
  if (rows[0].opaque()) return Stacker()(column, rows);
  Element element = Common("padded_batch", column, rows);
  std::optional<Value> filling = Filling(column, pad, &element);
  const Value* fill = filling ? &*filling : nullptr;
  Dims target = Target(column, rows, pad);
  Value batch = Room("padded_batch", column, element, Prefixed(rows.size(), target));
  int64_t count = CountOf(target);
  std::byte* memory = batch.memory();
  for (const Value& row : rows) {
    if (*row.dims != target) Fill(memory, element, count, fill);
    CopyWindow(memory, element, target, row);
    memory += static_cast<size_t>(count) * element.size;
  }
  return batch;
}

}  // namespace ms::dataset
