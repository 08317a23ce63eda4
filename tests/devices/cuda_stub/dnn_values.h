// What the steps of a graph hand to each other when the stub's libcudnn runs it.
#pragma once

#include <functional>

#include "dnn.h"

namespace stub::dnn {

// The numbers of a tensor, dense.
struct Array {
  std::vector<int64_t> sizes;
  std::vector<double> at;

  Array() = default;
  explicit Array(std::vector<int64_t> sizes);
};

int64_t Elements(const std::vector<int64_t>& sizes);
// body(number in row-major order, index)
void ForAll(const std::vector<int64_t>& sizes,
            const std::function<void(size_t, const std::vector<int64_t>&)>& body);
int64_t Offset(const std::vector<int64_t>& index, const std::vector<int64_t>& strides);
size_t Extent(const Tensor& t);  // bytes

class Values {
 public:
  std::map<int64_t, uint64_t> addresses;  // of tensors, by their names
  std::map<int64_t, double> numbers;      // of those that are on the host
  bool coarse = false;                    // reads single precision as tensor cores do

  const Array& Get(const Tensor& t);
  const Array& Get(int64_t name) const { return values_.at(name); }
  void Give(const Tensor& t, Array array);
  void Put(int64_t name, Array array) { values_[name] = std::move(array); }
  void Forget() { values_.clear(); }

 private:
  std::map<int64_t, Array> values_;
};

struct Step {
  std::function<void(Values&)> run;
  std::vector<Tensor> tensors;  // what it reads and writes
};
Step StepOf(const Desc& d);
Step AttentionOf(const Desc& d);

}  // namespace stub::dnn
