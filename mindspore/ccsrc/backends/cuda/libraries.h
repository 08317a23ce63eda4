// NVIDIA's libraries, opened while the program runs: the driver comes with the machine, the others
// with PyPI's nvidia-* wheels, in versions that the driver can use. What is missing, or too old or
// too new, is an error that says how to get what fits.
#pragma once

#include <string>

#include "backends/cuda/comm_entries.h"
#include "backends/cuda/dnn_entries.h"
#include "backends/cuda/driver.h"

namespace ms::cuda {

// Before anything else: where the wheels' libraries may lie, folders separated by colons, and the
// number of the device; -1 - n is that of the n-th process of the machine, which chose none.
void Prepare(const std::string& folders, int device);
int ChosenDevice();

// Opened at first use, for the rest of the process.
const Driver& TheDriver();
const Compiler& TheCompiler();
const Products& TheProducts();
const Dnn& TheDnn();
const Comm& TheComm();

// Throws an Error that names the entry and what the driver says. `what` is the entry's name.
void Check(int result, const char* what);
void CheckCompiler(int result, const char* what);
void CheckProducts(int result, const char* what);
void CheckDnn(int result, const char* what);
// A version of cuDNN's as its authors write it: "9.21.0".
std::string DnnVersion(size_t version);
// What cuDNN says of its last error.
std::string DnnError(int result);

}  // namespace ms::cuda
