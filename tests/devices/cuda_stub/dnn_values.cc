#include "dnn_values.h"

#include "numbers.h"

namespace stub::dnn {

int64_t Elements(const std::vector<int64_t>& sizes) {
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  return count;
}

Array::Array(std::vector<int64_t> given)
    : sizes(std::move(given)), at(static_cast<size_t>(Elements(sizes))) {}

void ForAll(const std::vector<int64_t>& sizes,
            const std::function<void(size_t, const std::vector<int64_t>&)>& body) {
  std::vector<int64_t> index(sizes.size());
  auto count = static_cast<size_t>(Elements(sizes));
  for (size_t e = 0; e < count; ++e) {
    body(e, index);
    for (size_t i = sizes.size(); i-- > 0;) {
      if (++index[i] < sizes[i]) break;
      index[i] = 0;
    }
  }
}

int64_t Offset(const std::vector<int64_t>& index, const std::vector<int64_t>& strides) {
  int64_t offset = 0;
  for (size_t i = 0; i < index.size(); ++i) offset += index[i] * strides[i];
  return offset;
}

size_t Extent(const Tensor& t) {
  int64_t last = 0;
  for (size_t i = 0; i < t.sizes.size(); ++i) last += (t.sizes[i] - 1) * t.strides[i];
  return static_cast<size_t>(last + 1) * SizeOf(t.type);
}

namespace {

Array Read(const Tensor& t, uint64_t address, bool coarse) {
  Array array(t.sizes);
  const char* memory = static_cast<const char*>(Open(address));
  ForAll(t.sizes, [&](size_t e, const std::vector<int64_t>& index) {
    double value =
        Get(memory + Offset(index, t.strides) * static_cast<int64_t>(SizeOf(t.type)), t.type);
    // As a tensor core has it: ten bits behind the point.
    if (coarse && t.type == 0)
      value = BitsToFloat((FloatToBits(static_cast<float>(value)) + 0x1000) & ~0x1fff);
    array.at[e] = value;
  });
  return array;
}

void Write(const Tensor& t, uint64_t address, const Array& array) {
  char* memory = static_cast<char*>(Open(address));
  ForAll(t.sizes, [&](size_t e, const std::vector<int64_t>& index) {
    Put(memory + Offset(index, t.strides) * static_cast<int64_t>(SizeOf(t.type)), t.type,
        array.at[e]);
  });
}

}  // namespace

const Array& Values::Get(const Tensor& t) {
  auto it = values_.find(t.name);
  if (it != values_.end()) return it->second;
  if (!t.on_host) return values_[t.name] = Read(t, addresses.at(t.name), coarse);
  Array array(t.sizes);
  array.at.assign(array.at.size(), numbers.at(t.name));
  return values_[t.name] = std::move(array);
}

void Values::Give(const Tensor& t, Array array) {
  if (!t.between)
    Write(t, addresses.at(t.name), array);
  else if (t.type == 0)
    for (double& value : array.at) value = static_cast<float>(value);
  values_[t.name] = std::move(array);
}

}  // namespace stub::dnn
