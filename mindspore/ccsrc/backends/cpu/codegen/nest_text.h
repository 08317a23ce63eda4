// From the loops of a fused body to LLVM text and what is needed to run its code.
#pragma once

#include <string>
#include <vector>

#include "backends/cpu/codegen/llvm_scope.h"
#include "backends/cpu/codegen/nest_schedule.h"

namespace ms::cpu {

// The text knows the form of the body only: sizes, strides and offsets are parameters, so that
// equal bodies of other sizes share their code.
struct NestText {
  std::string text;                 // an LLVM module with the functions phase0, phase1, ...
  std::vector<int64_t> parameters;  // what the functions get as %params
  std::vector<LlvmCall> calls;      // and as %functions
  std::vector<int64_t> tasks;       // of each phase: the functions take a range of them
  size_t scratch_bytes = 0;         // for each thread
  size_t workspace_bytes = 0;       // for all, alive through all phases
};

// void phase(inputs, outputs, params, scratch, workspace, functions, begin, end)
using PhaseFn = void (*)(const void* const* inputs, void* const* outputs, const int64_t* params,
                         void* scratch, void* workspace, const VectorFn* functions, int64_t begin,
                         int64_t end);

// Returns why there is no text; empty when there is.
std::string WriteNest(const ScheduledNest& nest, const LlvmTarget& target, const VectorTable& table,
                      NestText* result);

}  // namespace ms::cpu
