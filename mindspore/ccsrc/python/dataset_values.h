// Values of the data pipeline as NumPy arrays and Tensors, and Python objects in the pipeline's
// hands, which it may let go on any thread.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <memory>
#include <vector>

#include "dataset/value.h"

namespace ms::python {

// Keeps an object alive from threads without the GIL: the reference is given back later, by who
// holds the GIL next.
std::shared_ptr<const void> Held(pybind11::object object);
// Gives back what was let go; with the GIL.
void DropReleased();

// The GIL, in any thread. As pybind11's, but that nobody can fork while the interpreter notes a
// thread that it has not seen: CPython 3.11 would wait in the child for a lock that is held there.
class WithGil {
 public:
  WithGil();
  ~WithGil();
  WithGil(const WithGil&) = delete;

 private:
  PyThreadState* state_;
  bool noted_ = false, had_ = false;  // here; the GIL, before
};

// The array, or a copy of one whose bytes are in the other order.
pybind11::array InNativeOrder(const pybind11::array& array);
// A number, text or array; anything else is an opaque value. Memory that somebody else could write
// to is copied.
dataset::Value ValueFromPython(pybind11::handle object);
// The same, but memory is never copied: for a call that ends before its caller goes on.
dataset::Value BorrowedFromPython(pybind11::handle object);
// An array, or what was an opaque value. The array may be written to.
pybind11::object ArrayFromValue(const dataset::Value& value);
// A Tensor, where there is one of that type; else as above.
pybind11::object TensorFromValue(const dataset::Value& value);

pybind11::tuple ArraysFromValues(const std::vector<dataset::Value>& values);
std::vector<dataset::Value> ValuesFromPython(pybind11::handle sequence);

}  // namespace ms::python
