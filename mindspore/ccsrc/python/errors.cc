#include "python/errors.h"

#include "ir/span.h"

namespace ms::python {
namespace py = pybind11;
namespace {

// The front end's own exception: it runs such code eagerly.
PyObject* Unsupported() {
  static PyObject* const type =
      py::object(py::module_::import("mindspore.compile.errors").attr("Unsupported"))
          .release()
          .ptr();
  return type;
}

PyObject* PythonType(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kType:
      return PyExc_TypeError;
    case ErrorKind::kValue:
      return PyExc_ValueError;
    case ErrorKind::kIndex:
      return PyExc_IndexError;
    case ErrorKind::kMemory:
      return PyExc_MemoryError;
    case ErrorKind::kAttribute:
      return PyExc_AttributeError;
    case ErrorKind::kName:
      return PyExc_NameError;
    case ErrorKind::kNotImplemented:
      return PyExc_NotImplementedError;
    case ErrorKind::kOs:
      return PyExc_OSError;
    case ErrorKind::kZeroDivision:
      return PyExc_ZeroDivisionError;
    case ErrorKind::kUnknownValue:
      return Unsupported();
    case ErrorKind::kRuntime:
    case ErrorKind::kInternal:
      break;
  }
  return PyExc_RuntimeError;
}

// The user's lines, innermost first: compile/errors.py chooses and formats them.
std::string Places(SpanId id) {
  py::list places;
  while (id != 0) {
    const Span& span = GetSpan(id);
    places.append(py::make_tuple(span.file, span.line, span.function));
    id = span.caller;
  }
  return py::module_::import("mindspore.compile.errors")
      .attr("places_text")(places)
      .cast<std::string>();
}

}  // namespace

void SetError(const Error& error) {
  std::string text = error.message();
  if (error.span() != 0) text += Places(error.span());
  PyErr_SetString(PythonType(error.kind()), text.c_str());
}

void BindErrors(py::module_&) {
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const Error& error) {
      SetError(error);
    }
  });
}

}  // namespace ms::python
