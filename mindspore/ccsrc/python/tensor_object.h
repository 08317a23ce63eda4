// The Python Tensor: a hand-written type, since operators on it must cost nanoseconds. It holds a
// value, or is symbolic: a Var of the graph being traced. Under a gradient scope a value also knows
// its Var on the tape.
#pragma once

#include <pybind11/pybind11.h>

#include <span>
#include <utility>

#include "ir/graph.h"
#include "tensor/tensor.h"

namespace ms::python {

// Owners with this bit are traces, the others tapes. The bit alone: a description of an input,
// Tensor(shape=[None, 3], dtype=...), which belongs to none.
inline constexpr uint64_t kSymbolicBit = uint64_t{1} << 63;

struct View;
struct Cell;

// A value of the host, and the same in the memory of a device that has used it.
struct Elsewhere {
  Tensor of, copy;
};

struct TensorObject {
  PyObject_HEAD Tensor value;  // only dtype and shape when symbolic
  Var var;                     // valid while its owner, a trace or a tape, is the one in force
  uint64_t owner;              // 0: none
  PyObject* weak_references;
  View* view;            // it shows elements of another tensor; see python/views.h
  Cell* cell;            // others show elements of this one
  Elsewhere* elsewhere;  // owned; of the present value, or of an older one
  bool shared;           // arrays outside may share its memory, and see what is written to it
  bool stays;            // on its device: what is used elsewhere is a copy

  bool symbolic() const { return (owner & kSymbolicBit) != 0; }
  DType dtype() const { return value.dtype(); }
  const Shape& shape() const { return value.shape(); }
};

extern PyTypeObject* tensor_type;
// The Python class Parameter, once common/parameter.py has registered it.
extern PyTypeObject* parameter_type;
// The class of numbers that are inputs of a graph, once the front end has registered it.
extern PyTypeObject* number_input_type;

inline bool IsTensor(PyObject* object) {
  return Py_TYPE(object) == tensor_type || PyType_IsSubtype(Py_TYPE(object), tensor_type);
}
inline bool IsNumberInput(PyObject* object) { return Py_TYPE(object) == number_input_type; }
inline TensorObject* AsTensor(PyObject* object) { return reinterpret_cast<TensorObject*>(object); }
inline bool IsParameter(PyObject* object) {
  return parameter_type &&
         (Py_TYPE(object) == parameter_type || PyType_IsSubtype(Py_TYPE(object), parameter_type));
}

// How a Parameter takes a new value, in both modes; of common/parameter.py.
extern PyObject* parameter_assign;

// One write at a time: it reads the old value and makes another one, and code in between lets other
// threads run.
class Writing {
 public:
  Writing();
  ~Writing();
  Writing(const Writing&) = delete;

  // In a child of a process, nobody else writes.
  static void InChild();

  // While Python code runs that a graph calls, others may write: it may wait for them.
  class Paused {
   public:
    Paused();
    ~Paused();
    Paused(const Paused&) = delete;

   private:
    int depth_ = 0;
  };
};

// Gives a tensor another value where it stands: arrays and views that share its memory see it.
void Overwrite(TensorObject* tensor, Tensor value, const Var& var, uint64_t owner);
// The new value as it must be to take the place of the old one even if the kernel that makes it is
// left out: a kernel of a device is, after an error, and what it was to write over is as before
// then. So a value that a device has made elsewhere is written over the old one by a kernel, too.
Tensor AssignedOver(const Tensor& old, Tensor value);
// The same for Overwrite, which may fetch the value: that tells of the error.
Tensor WrittenOver(const TensorObject* tensor, Tensor value);
// `object[...] = value`: what shows elements of others changes these. `of_program`: in a trace,
// even a tensor that is known there is one of the program, not one that our own code made for
// itself. False: an exception is set.
bool Write(PyObject* object, PyObject* value, bool of_program);

// The value that a device can use: its own, or a copy of the host's, which is kept for the next
// time unless the tensor was told to stay, or arrays share its memory. What is on another device
// stays what it is.
const Tensor& ValueFor(TensorObject* tensor, Memory& memory);
// Before a device updates it: a value of the host moves there for good, with the same exceptions.
void Settle(TensorObject* tensor, Memory& memory);

// Forgets the copy that a device has used.
inline void DropCopy(TensorObject* tensor) { delete std::exchange(tensor->elsewhere, nullptr); }

// Lets a tensor stand for the value of another one while a graph is made.
void Rebind(TensorObject* tensor, const TensorObject* value);

// Gives tensors whose memory another thread writes over at the moment the values that they have
// when it is done, all of one moment. What else is among the objects stays as it is.
void SettleAll(std::span<PyObject* const> objects);

// New references.
PyObject* NewTensor(Tensor value);
PyObject* NewSymbolic(const Var& var, uint64_t owner);
PyObject* ShapeTuple(const Shape& shape);

// The value of a concrete tensor; throws TypeError for a symbolic one ("... needs a value while
// compiling").
const Tensor& ValueOf(PyObject* tensor, const char* what);
// The same where the host may read it.
Tensor HostValueOf(PyObject* tensor, const char* what);
// A tensor without a value that describes an input.
PyObject* NewPlaceholder(DType dtype, const Shape& shape);

void BindTensor(pybind11::module_& m);

}  // namespace ms::python
