// Chains on one image, called by hand: a builtin function for each, which takes what arrays of
// images mostly are and leaves the rest to the class that has it. Small images cost less than the
// way through arguments of any type.
#include "dataset/transforms/chain.h"
#include "python/dataset_handles.h"
#include "python/dataset_values.h"
#include "python/errors.h"

namespace ms::python {
namespace py = pybind11;

namespace {

using ChainRef = std::shared_ptr<const dataset::Chain>;

// A dense image of real numbers as this machine has them.
bool IsPlainImage(PyObject* given) {
  if (Py_TYPE(given) != py::detail::npy_api::get().PyArray_Type_) return false;
  const auto* array = py::detail::array_proxy(given);
  using Flags = py::detail::npy_api;
  constexpr int kDense = Flags::NPY_ARRAY_C_CONTIGUOUS_ | Flags::NPY_ARRAY_ALIGNED_;
  if ((array->nd != 2 && array->nd != 3) || (array->flags & kDense) != kDense) return false;
  const auto* element = py::detail::array_descriptor_proxy(array->descr);
  constexpr std::string_view kReal = "buif";
  return kReal.find(element->kind) != std::string_view::npos && element->byteorder != '>';
}

PyObject* Call(PyObject* self, PyObject* const* given, Py_ssize_t count) {
  if (count != 2 || !IsPlainImage(given[0])) Py_RETURN_NOTIMPLEMENTED;
  return Guarded([&] {
    uint64_t key = PyLong_AsUnsignedLongLong(given[1]);
    if (key == UINT64_MAX && PyErr_Occurred()) throw py::error_already_set();
    const auto& chain = *static_cast<ChainRef*>(PyCapsule_GetPointer(self, nullptr));
    dataset::Value value = BorrowedFromPython(given[0]);
    {
      py::gil_scoped_release released;
      value = chain->Run(std::move(value), key);
    }
    return ArrayFromValue(value).release().ptr();
  });
}

PyMethodDef direct = {"direct", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(Call)),
                      METH_FASTCALL,
                      "direct(image, key): the image through a chain, or NotImplemented."};

}  // namespace

void BindDatasetCalls(py::module_& m) {
  m.def(
      "direct_call",
      [](std::shared_ptr<dataset::Chain> chain) {
        py::capsule held(new ChainRef(std::move(chain)),
                         [](void* ref) { delete static_cast<ChainRef*>(ref); });
        PyObject* made = PyCFunction_New(&direct, held.ptr());
        if (!made) throw py::error_already_set();
        return py::reinterpret_steal<py::object>(made);
      },
      "A function of an image and a key that runs the chain.");
}

}  // namespace ms::python
