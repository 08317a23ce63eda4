// ms::Error to Python exceptions, with the user's line where the failing node knows it.
#pragma once

#include <pybind11/pybind11.h>

#include "base/error.h"
#include "ir/span.h"
#include "kernel/host_call.h"

namespace ms::python {

// Sets the Python error; the caller returns nullptr. Where it cannot be made, as at the end of the
// interpreter or without memory, what Python said of that is the error.
void SetError(const Error& error) noexcept;
// Runs f and turns C++ exceptions into a set Python error and nullptr: the border of hand-written
// slots.
template <class F>
PyObject* Guarded(F&& f) noexcept {
  try {
    return f();
  } catch (const Error& error) {
    SetError(error);
  } catch (pybind11::error_already_set& error) {
    error.restore();
  } catch (const HostError& error) {
    error.Restore();
  } catch (const std::bad_alloc&) {
    SetError(Error(ErrorKind::kMemory, "the memory is not enough"));
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  } catch (...) {  // of a device's library
    PyErr_SetString(PyExc_RuntimeError, "something was thrown that is no std::exception");
  }
  return nullptr;
}

// The chain of calls through which a node came to be where it is, innermost first.
pybind11::list Places(SpanId id);

// The line of the user's program that runs; 0 where none does.
SpanId CallingSpan();

// Warns of an integer division by zero; the span is 0 where the caller's line is the place.
void TellOfZeroDivisor(SpanId span);

void BindErrors(pybind11::module_& m);

}  // namespace ms::python
