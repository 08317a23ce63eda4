// Python functions that compiled graphs call while they run (kernel/host_call.h).
#include <pybind11/stl.h>

#include "kernel/host_call.h"
#include "kernel/notice.h"
#include "ops/control.h"
#include "python/dtype_object.h"
#include "python/errors.h"
#include "python/module.h"
#include "python/tensor_object.h"
#include "python/trace.h"

namespace ms::python {
namespace py = pybind11;
namespace {

// A Python exception on its way through the runtime. It may be destroyed on any thread, hence the
// shared holder that takes the GIL.
class PythonError : public HostError {
 public:
  explicit PythonError(py::error_already_set& error)
      : error_(new py::error_already_set(std::move(error)), [](py::error_already_set* e) {
          py::gil_scoped_acquire gil;
          delete e;
        }) {}
  const char* what() const noexcept override { return "a Python exception"; }
  void Restore() const override { error_->restore(); }

 private:
  std::shared_ptr<py::error_already_set> error_;
};

std::vector<Tensor> CallPython(const py::object& function, std::vector<Tensor> arguments) {
  py::gil_scoped_acquire gil;
  Writing::Paused others_write;
  try {
    py::list tensors;
    for (Tensor& t : arguments)
      tensors.append(py::reinterpret_steal<py::object>(NewTensor(std::move(t))));
    py::object result = function(*tensors);
    std::vector<Tensor> values;
    if (result.is_none()) return values;
    for (py::handle item : result)
      values.push_back(ValueOf(item.ptr(), "a call from a compiled graph"));
    return values;
  } catch (py::error_already_set& error) {
    throw PythonError(error);
  }
}

// While a graph runs. The user may have made the warning an error.
void NoteToPython(SpanId span) {
  py::gil_scoped_acquire gil;
  try {
    TellOfZeroDivisor(span);
  } catch (py::error_already_set& error) {
    throw PythonError(error);
  }
}

// Owns the registration of a Python function.
class HostHandle {
 public:
  explicit HostHandle(py::object function) {
    // The registry may drop it on a thread without the GIL.
    std::shared_ptr<py::object> held(new py::object(std::move(function)), [](py::object* f) {
      py::gil_scoped_acquire gil;
      delete f;
    });
    number_ = RegisterHostFunction(
        [held](std::vector<Tensor> arguments) { return CallPython(*held, std::move(arguments)); });
  }
  HostHandle(const HostHandle&) = delete;
  ~HostHandle() { ForgetHostFunction(number_); }
  int64_t number() const { return number_; }

 private:
  int64_t number_;
};

py::list EmitHostCall(Trace& trace, py::object function, const py::sequence& arguments,
                      const py::sequence& types) {
  Types results;
  for (py::handle type : types) {
    auto [dtype_object, sizes] = type.cast<std::pair<py::object, Ints>>();
    DType dtype;
    if (!DTypeFromObject(dtype_object.ptr(), &dtype))
      Throw(ErrorKind::kType, "a result of a host call needs a dtype");
    results.emplace_back(dtype, Shape(sizes));
  }
  auto handle = std::make_shared<HostHandle>(std::move(function));
  trace.kept.push_back(py::cast(handle));
  Terms terms;
  for (const Var& v : VarsOf(trace, arguments)) terms.push_back(trace.emitter().Wrap(v));
  Terms made = trace.emitter().CallMany(
      "HostCall", terms, {{"function", handle->number()}, {"types", EncodeTangentTypes(results)}});
  Vars vars;
  for (const Term& t : made) vars.push_back(t.var);
  return ObjectsOf(trace, vars);
}

}  // namespace

void BindHost(py::module_& m) {
  SetZeroDivisorNotice(NoteToPython);
  py::class_<HostHandle, std::shared_ptr<HostHandle>>(m, "HostFunction")
      .def(py::init<py::object>(), "Registers a function for the op HostCall while it lives.")
      .def_property_readonly("number", &HostHandle::number);
  py::reinterpret_borrow<py::class_<Trace>>(m.attr("Trace"))
      .def("host_call", &EmitHostCall, py::arg("function"), py::arg("arguments"), py::arg("types"),
           "Appends a call of a Python function with the values of `arguments` at run time; it "
           "returns tensors of the given (dtype, shape) pairs.");
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const HostError& error) {
      error.Restore();
    }
  });
}

}  // namespace ms::python
