#include "python/errors.h"

#include "base/late_errors.h"
#include "io/os_error.h"
#include "python/once.h"
#include "python/trace.h"

namespace ms::python {
namespace py = pybind11;
namespace {

PyObject* symbolic_error = nullptr;

// The front end's own exception: it runs such code eagerly.
PyObject* Unsupported() {
  return Once([]() -> py::object {
           return py::module_::import("mindspore.compile.errors").attr("Unsupported");
         })
      .ptr();
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
    case ErrorKind::kSymbolic:
      return symbolic_error;
    case ErrorKind::kUnknownValue:
      return Unsupported();
    case ErrorKind::kRuntime:
    case ErrorKind::kInternal:
      break;
  }
  return PyExc_RuntimeError;
}

// What is no fault of the user's says so, whoever found it.
std::string Text(const Error& error) {
  return (error.kind() == ErrorKind::kInternal ? "internal error: " : "") + error.message();
}

// The front end makes the exception that shows the user's lines. While a function is traced the
// front end does so itself: it knows more.
py::object Located(const Error& error, PyObject* type) {
  bool of_an_op = error.message().starts_with("For '");
  if (Trace::Current() || (error.span() == 0 && !of_an_op)) return py::none();
  auto errors = py::module_::import("mindspore.compile.errors");
  if (error.span() == 0) return errors.attr("eager_error")(py::handle(type), Text(error));
  return errors.attr("core_error")(py::handle(type), Text(error), Places(error.span()));
}

// Paths in a message may hold bytes that are no UTF-8.
py::object Message(const Error& error) {
  std::string text = Text(error);
  return py::reinterpret_steal<py::object>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape"));
}

// With the subclass that Python has for the errno, such as IsADirectoryError. The message has all
// there is to say; with a filename beside it, Python would show something else.
void SetOsError(const OsError& error) {
  py::object plain = py::reinterpret_borrow<py::object>(PyExc_OSError);
  py::object made = py::type::of(plain(error.number(), ""))(Message(error));
  made.attr("errno") = error.number();
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
}

}  // namespace

py::list Places(SpanId id) {
  py::list places;
  while (id != 0) {
    const Span& span = GetSpan(id);
    places.append(py::make_tuple(span.file, span.line, span.function, span.column - 1,
                                 span.end_line, span.end_column - 1));
    id = span.caller;
  }
  return places;
}

SpanId CallingSpan() {
  const std::string& package = Once([] {
    return py::cast<std::string>(py::module_::import("mindspore.compile.places").attr("PACKAGE"));
  });
  auto frame = py::reinterpret_steal<py::object>(
      reinterpret_cast<PyObject*>(PyThreadState_GetFrame(PyThreadState_Get())));
  while (frame) {
    auto* raw = reinterpret_cast<PyFrameObject*>(frame.ptr());
    auto code =
        py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(PyFrame_GetCode(raw)));
    const char* file = PyUnicode_AsUTF8(py::object(code.attr("co_filename")).ptr());
    if (file && !std::string_view(file).starts_with(package)) {
      Span span;
      span.file = file;
      span.line = PyFrame_GetLineNumber(raw);
      span.function = py::cast<std::string>(code.attr("co_name"));
      return InternSpan(span);
    }
    PyErr_Clear();
    frame = py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(PyFrame_GetBack(raw)));
  }
  return 0;
}

void TellOfZeroDivisor(SpanId span) {
  py::module_::import("mindspore.compile.errors").attr("note_zero_divisor")(Places(span));
}

namespace {

void Set(const Error& given) {
  if (given.late()) NoteLateError();
  if (auto* os_error = dynamic_cast<const OsError*>(&given)) return SetOsError(*os_error);
  // What no op asked for, a tensor did.
  const Error error = given.kind() == ErrorKind::kMemory ? given.Of("Tensor") : given;
  PyObject* type = PythonType(error.kind());
  try {
    py::object located = Located(error, type);
    if (!located.is_none()) {
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(located.ptr())), located.ptr());
      return;
    }
  } catch (py::error_already_set&) {  // such as Ctrl-C: the error itself matters more
  }
  PyErr_SetObject(type, Message(error).ptr());
}

}  // namespace

void SetError(const Error& given) noexcept {
  try {
    Set(given);
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (...) {
    PyErr_NoMemory();
  }
}

void BindErrors(py::module_& m) {
  symbolic_error = PyErr_NewExceptionWithDoc(
      "mindspore._core.SymbolicSizeError",
      "A dynamic size met code that must know it: the caller compiles for the sizes of the call.",
      PyExc_ValueError, nullptr);
  m.attr("SymbolicSizeError") = py::reinterpret_borrow<py::object>(symbolic_error);
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const Error& error) {
      SetError(error);
    }
  });
}

}  // namespace ms::python
