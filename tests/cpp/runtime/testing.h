// A small device for tests of planning and running: every elementwise op by a plain interpreter of
// its scalar body, and a few others. It shares nothing with the CPU's kernels.
#pragma once

#include <cmath>
#include <mutex>

#include "kernel/range_kernel.h"
#include "kernel/update_group.h"
#include "ops/all.h"
#include "runtime/plan.h"

namespace ms::testing {

inline void UseAllOps() { SetOpSource(DefineAllOps); }

inline double Load(DType dtype, const void* data, int64_t i) {
  return VisitDType(dtype, [&]<class T>(TypeTag<T>) -> double {
    if constexpr (IsComplex(kDTypeOf<T>))
      return static_cast<const T*>(data)[i].real();
    else
      return static_cast<double>(static_cast<const T*>(data)[i]);
  });
}

inline void Store(DType dtype, void* data, int64_t i, double value) {
  VisitDType(dtype, [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_same_v<T, bool>)
      static_cast<T*>(data)[i] = value != 0;
    else if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>)
      static_cast<T*>(data)[i] = T(static_cast<float>(value));
    else if constexpr (IsComplex(kDTypeOf<T>))
      static_cast<T*>(data)[i] = T(static_cast<typename T::value_type>(value));
    else
      static_cast<T*>(data)[i] = static_cast<T>(value);
  });
}

inline double Evaluate(const ScalarNode& n, double a, double b, double c) {
  switch (n.op) {
    case ScalarOp::kConstant:
      return n.value;
    case ScalarOp::kAdd:
      return a + b;
    case ScalarOp::kSub:
      return a - b;
    case ScalarOp::kMul:
      return a * b;
    case ScalarOp::kDiv:
      return a / b;
    case ScalarOp::kNeg:
      return -a;
    case ScalarOp::kSin:
      return std::sin(a);
    case ScalarOp::kCos:
      return std::cos(a);
    case ScalarOp::kLess:
      return a < b;
    case ScalarOp::kGreater:
      return a > b;
    case ScalarOp::kCast:
      return a;
    case ScalarOp::kSelect:
      return a != 0 ? b : c;
    default:
      Throw(ErrorKind::kInternal, "the test device does not know scalar op {}",
            static_cast<int>(n.op));
  }
}

// Inputs of one element repeat; others have the shape of the output.
class InterpretedKernel : public RangeKernel {
 public:
  explicit InterpretedKernel(const KernelRequest& request) : in_(request.in), out_(request.out[0]) {
    std::vector<DType> types;
    for (const Type& t : in_) types.push_back(t.dtype());
    body_ = TraceScalar(request.op, types, request.attrs);
    SetWork(out_.shape().size(), 10);
  }
  void RunRange(const KernelArgs& args, int64_t begin, int64_t end) const override {
    std::vector<double> values(body_.nodes.size());
    for (int64_t i = begin; i < end; ++i) {
      for (size_t k = 0; k < body_.nodes.size(); ++k) {
        const ScalarNode& n = body_.nodes[k];
        if (n.op == ScalarOp::kInput) {
          const Type& type = in_[static_cast<size_t>(n.input)];
          values[k] = Load(type.dtype(), args.in[n.input], type.shape().size() == 1 ? 0 : i);
          continue;
        }
        auto arg = [&](int j) {
          return n.args[j] < 0 ? 0 : values[static_cast<size_t>(n.args[j])];
        };
        values[k] = Evaluate(n, arg(0), arg(1), arg(2));
      }
      Store(out_.dtype(), args.out[0], i, values.back());
    }
  }

 private:
  Types in_;
  Type out_;
  ScalarGraph body_;
};

inline KernelChoice MakeScalarKernel(const KernelRequest& request) {
  return KernelChoice(std::make_unique<InterpretedKernel>(request));
}

class TestBackend : public Backend {
 public:
  TestBackend() {
    table_.ForScalar().Try("interpreter", MakeScalarKernel);
    table_.For("Fill").Try("test", [](const KernelRequest& r) {
      Type out = r.out[0];
      double value = r.attr<double>("value");
      return FunctionKernel(
          [=](const KernelArgs& args) {
            for (int64_t i = 0; i < out.shape().size(); ++i)
              Store(out.dtype(), args.out[0], i, value);
          },
          10);
    });
    // Not in place, with a workspace: the sum of what came before and the element itself.
    table_.For("CumSum").Try("test", [](const KernelRequest& r) {
      if (r.shape(0).rank() != 1) return No("needs rank 1, got {}", r.shape(0).rank());
      Type type = r.out[0];
      return FunctionKernel(
          [=](const KernelArgs& args) {
            auto* sum = static_cast<double*>(args.workspace);
            *sum = 0;
            for (int64_t i = 0; i < type.shape().size(); ++i) {
              *sum += Load(type.dtype(), args.in[0], i);
              Store(type.dtype(), args.out[0], i, *sum);
            }
          },
          10, 64);
    });
    table_.For("AssignAdd").Try("test", [](const KernelRequest& r) {
      Type type = r.out[0];
      return FunctionKernel(
          [=](const KernelArgs& args) {
            for (int64_t i = 0; i < type.shape().size(); ++i) {
              Store(type.dtype(), args.out[0], i,
                    Load(type.dtype(), args.in[0], i) + Load(type.dtype(), args.in[1], i));
            }
          },
          10);
    });
    table_.For("GatherD").Try("test", [](const KernelRequest&) {
      return FunctionKernel(
          [](const KernelArgs&) { Throw(ErrorKind::kIndex, "For 'GatherD', the index is wrong."); },
          10);
    });
    table_.For("UpdateGroup").Try("ranges", [this](const KernelRequest& r) {
      return MakeUpdateGroup(r, *this);
    });
  }
  std::string_view name() const override { return "Test"; }
  const KernelTable& kernels() const override { return table_; }

 private:
  KernelTable table_;
};

inline const Backend& Device() {
  static const Backend* backend = [] {
    UseAllOps();
    RegisterBackend(std::make_unique<TestBackend>());
    return &GetBackend("Test");
  }();
  return *backend;
}

// A graph under construction: parameters, ops, outputs.
class Builder {
 public:
  Builder(Module& module, const std::string& name) : graph(module.NewGraph(name)), emitter(graph) {
    Device();
  }

  Term In(const Type& type, const std::string& name = "x") {
    return emitter.Wrap({graph->AddParameter(type, name), 0});
  }
  Term Capture(const Type& type) { return emitter.Wrap({graph->AddParameter(type, "c", true), 0}); }
  Term Op(const char* op, const Terms& inputs, const NamedAttrs& attrs = {}) {
    return emitter.Call(op, inputs, attrs);
  }
  Term Number(double value) { return emitter.Scalar(value, DType::kFloat32); }
  Term Partial(Graph* callee, const Terms& captures = {}) {
    return emitter.Wrap(emitter.Partial(callee, AsVars(captures)));
  }
  Term Switch(const Term& c, const Term& a, const Term& b) {
    return emitter.Wrap(emitter.Switch(c.var, a.var, b.var));
  }
  Terms Call(const Term& function, const Terms& arguments) {
    Terms results;
    for (const Var& v : emitter.CallFunction(function.var, AsVars(arguments)))
      results.push_back(emitter.Wrap(v));
    return results;
  }
  void Return(const Terms& outputs) { graph->SetOutputs(AsVars(outputs)); }

  static Vars AsVars(const Terms& terms) {
    Vars vars;
    for (const Term& t : terms) vars.push_back(t.var);
    return vars;
  }

  Graph* graph;
  GraphEmitter emitter;
};

inline const Type kScalar(DType::kFloat32, Shape{});
inline Type Vector(int64_t n) { return Type(DType::kFloat32, Shape{n}); }
inline Tensor Value(double v) { return Tensor::Full(DType::kFloat32, Shape{}, v); }
inline Tensor Filled(int64_t n, double v) { return Tensor::Full(DType::kFloat32, Shape{n}, v); }

}  // namespace ms::testing
