// A compiled graph with the Python objects that it reads and changes: Parameters, and functions
// that it calls.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "driver/compile.h"
#include "driver/rehearsal.h"
#include "python/same_inputs.h"
#include "python/slices.h"
#include "python/tensor_object.h"

namespace ms::python {

// Why a run did not begin: the arguments are such that only eager code does the right thing.
struct SharedMemory : std::exception {
  const char* what() const noexcept override {
    return "a view of a Parameter is used where that is updated";
  }
};

class CompiledGraph {
 public:
  // `parameters` by input position, null for an argument; of `updates`, output and input.
  CompiledGraph(std::shared_ptr<const Executable> executable,
                std::vector<pybind11::object> parameters, std::vector<std::pair<int, int>> updates,
                std::vector<pybind11::object> kept);

  // `arguments` fill the inputs that are not Parameters, in order.
  pybind11::list Run(const pybind11::list& arguments);
  // Runs as the processes of a cut program would.
  void Rehearse(std::shared_ptr<const Rehearsal> rehearsal) { rehearsal_ = std::move(rehearsal); }
  void Replace(const pybind11::list& parameters);

  bool dynamic() const { return executable_->dynamic() != nullptr; }
  // Whether this version is right for the sizes of the arguments.
  bool Fits(const pybind11::list& arguments) const;
  // Whether the objects are plain tensors of the very types that the arguments must have; never so
  // where sizes are open, or processes have parts.
  bool Takes(const pybind11::list& objects) const;
  std::vector<std::string> Assumptions() const;
  // The Parameters it reads.
  pybind11::list Parameters() const;
  // Whether another run on the same values does nothing but give the same results.
  bool Repeats() const;
  size_t planned() const { return dynamic() ? executable_->dynamic()->planned() : 1; }
  pybind11::object LayoutsOf() const;
  pybind11::dict Memory() const;

 private:
  void SettleInputs(const pybind11::list& arguments) const;
  std::vector<Tensor> Inputs(const pybind11::list& arguments) const;
  void CheckSame(const pybind11::list& arguments) const;
  void SliceParameters() const;
  void CheckSlice(size_t i, const Slice& slice) const;
  Tensor Piece(size_t i, const Tensor& value) const;
  void TakeAlone(TensorObject* parameter, Tensor& input) const;
  void CheckApart(const pybind11::list& arguments) const;
  void CheckType(size_t i, const Tensor& value, PyObject* object) const;
  pybind11::list Deliver(std::vector<RtValue>& outputs);

  std::shared_ptr<const Executable> executable_;
  std::shared_ptr<const Rehearsal> rehearsal_;
  std::vector<pybind11::object> parameters_;
  std::vector<std::pair<int, int>> updates_;
  std::vector<pybind11::object> kept_;  // host functions
  SameInputs same_inputs_;
  bool gives_functions_ = false;
  std::unordered_set<const TensorObject*> replaced_;  // of the Parameters, by set_data
};

void BindCompiledGraph(pybind11::module_& m);

}  // namespace ms::python
