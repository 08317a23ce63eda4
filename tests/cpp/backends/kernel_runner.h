// Runs one op by one maker on random data: how fast kernels are compared with reference kernels.
#pragma once

#include <gtest/gtest.h>

#include <random>

#include "kernel/kernel.h"
#include "ops/all.h"

namespace ms::testing {

// All ops, in a registry that depends on nothing that other tests set up.
inline const OpRegistry& HeavyOps() {
  static const auto* registry = [] {
    auto* ops = new OpRegistry;
    DefineLinalg(*ops);
    DefineConv(*ops);
    DefinePool(*ops);
    DefineNorm(*ops);
    DefineLoss(*ops);
    return ops;
  }();
  return *registry;
}

inline Tensor RandomTensor(DType dtype, const Shape& shape, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  Tensor t(dtype, shape);
  VisitDType(dtype, [&]<class T>(TypeTag<T>) {
    if constexpr (!IsComplex(kDTypeOf<T>)) {
      for (int64_t i = 0; i < t.size(); ++i) t.data<T>()[i] = static_cast<T>(uniform(random));
    }
  });
  return t;
}

inline double At(const Tensor& t, int64_t i) {
  return VisitDType(t.dtype(), [&]<class T>(TypeTag<T>) -> double {
    if constexpr (IsComplex(kDTypeOf<T>))
      return t.data<T>()[i].real();
    else
      return static_cast<double>(t.data<T>()[i]);
  });
}

// An op with its types; `make` chooses the kernel.
struct Call {
  const OpDef& op;
  AttrsRef attrs;
  Types in, out;

  Call(const char* name, Types inputs, const NamedAttrs& named)
      : op(HeavyOps().Get(name)), attrs(MakeAttrs(op, named)), in(std::move(inputs)) {
    static const Attrs none;
    out = Infer(op, in, attrs ? *attrs : none);
  }
  KernelRequest request() const {
    static const Attrs none;
    return {op, in, out, attrs ? *attrs : none};
  }

  std::vector<Tensor> Run(const Kernel& kernel, const std::vector<Tensor>& inputs) const {
    std::vector<Tensor> outputs;
    std::vector<const void*> from;
    std::vector<void*> to;
    for (const Tensor& t : inputs) from.push_back(t.raw());
    for (const Type& t : out) {
      outputs.emplace_back(t.dtype(), t.shape());
      to.push_back(outputs.back().raw());
    }
    // Garbage in the workspace must not matter.
    Tensor workspace(DType::kUInt8, {static_cast<int64_t>(kernel.workspace_bytes())});
    std::fill_n(workspace.data<uint8_t>(), kernel.workspace_bytes(), uint8_t{0xFF});
    kernel.Run({from.data(), to.data(), workspace.raw(), nullptr});
    return outputs;
  }

  std::vector<Tensor> Inputs(uint32_t seed) const {
    std::vector<Tensor> inputs;
    for (const Type& t : in) inputs.push_back(RandomTensor(t.dtype(), t.shape(), seed++));
    return inputs;
  }
};

inline void ExpectNear(const Tensor& actual, const Tensor& wanted, double tolerance,
                       const std::string& what) {
  ASSERT_EQ(actual.shape(), wanted.shape()) << what;
  for (int64_t i = 0; i < actual.size(); ++i) {
    double difference = std::abs(At(actual, i) - At(wanted, i));
    ASSERT_LE(difference, tolerance * (1 + std::abs(At(wanted, i)))) << what << " at " << i;
  }
}

}  // namespace ms::testing
