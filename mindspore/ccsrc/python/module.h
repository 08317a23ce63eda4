// Topics that need no header of their own.
#pragma once

#include <pybind11/pybind11.h>

namespace ms::python {

void BindGrad(pybind11::module_& m);              // grad_bindings.cc
void BindCustomGradients(pybind11::module_& m);   // custom_gradients.cc
void BindRuntime(pybind11::module_& m);           // runtime_bindings.cc
void BindDevices(pybind11::module_& m);           // device_bindings.cc
void BindGuards(pybind11::module_& m);            // guards.cc
void BindCallKey(pybind11::module_& m);           // call_key.cc
void BindCheckedFunctions(pybind11::module_& m);  // checked_function.cc
void BindCellPrint(pybind11::module_& m);         // cell_print.cc
void BindCompile(pybind11::module_& m);           // compile_bindings.cc
void BindSink(pybind11::module_& m);              // sink.cc
void BindHost(pybind11::module_& m);              // host_bindings.cc
void BindAssembler(pybind11::module_& m);         // assembler_bindings.cc
void BindParallel(pybind11::module_& m);          // parallel_bindings.cc
void BindShardRules(pybind11::module_& m);        // shard_bindings.cc
void BindWatch(pybind11::module_& m);             // cluster_bindings.cc
void BindIo(pybind11::module_& m);                // io_bindings.cc
void BindCollectives(pybind11::module_& m);       // collective_bindings.cc
void BindDataset(pybind11::module_& m);           // dataset_bindings.cc
void BindMindRecord(pybind11::module_& m);        // mindrecord_bindings.cc
void BindMindIr(pybind11::module_& m);            // mindir_bindings.cc

}  // namespace ms::python
