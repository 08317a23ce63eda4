// Letting go of the GIL and taking it.
//
// While Python ends, it ends a daemon's thread that asks for the GIL by unwinding its stack. Frames
// of C++ do not survive that: a destructor may not throw, and others would drop references without
// the GIL. Such a thread sleeps here instead, until the process is gone.
#pragma once

#include <pybind11/pybind11.h>
#include <unistd.h>

namespace ms::python {

[[noreturn]] inline void SleepForEver() noexcept {
  for (;;) pause();
}

inline void TakeGil(PyThreadState* state) noexcept {
  try {
    PyEval_RestoreThread(state);
  } catch (...) {
    SleepForEver();
  }
}

// While one lives this thread does not hold it.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() { TakeGil(state_); }
  WithoutGil(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

// While one lives this thread holds it, whether or not it did before.
class WithGil {
 public:
  WithGil() : state_(Ensure()) {}
  ~WithGil() { PyGILState_Release(state_); }
  WithGil(const WithGil&) = delete;

 private:
  static PyGILState_STATE Ensure() noexcept {
    try {
      return PyGILState_Ensure();
    } catch (...) {
      SleepForEver();
    }
  }

  PyGILState_STATE state_;
};

}  // namespace ms::python
