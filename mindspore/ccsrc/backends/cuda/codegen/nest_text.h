// The CUDA C text of a loop nest (loops/loop_nest.h). The text depends on what is computed, on how
// the axes lie and on which strides are 0 or 1; sizes and strides are numbers that a launch gives,
// so that nests of other sizes share it.
//
// Without reductions, the threads share the elements. With them, a block of 256 threads holds
// groups: those of a group share what is reduced for one kept index (`across` == 1), or for several
// neighbours. Where there are too few kept indices for the chip, what is reduced is cut into
// `chunks`: a kernel for each pass, whose blocks leave totals of their chunks in the workspace for
// the next one.
#pragma once

#include <string>
#include <vector>

#include "loops/loop_nest.h"

namespace ms::cuda {

inline constexpr int kBlock = 256;  // threads

struct NestPlan {
  int across = 1, along = 32;  // of a group of threads
  int64_t chunks = 1;
  int pack = 1;       // elements that a thread reads and writes at once; 1: one by one
  bool wide = false;  // an index needs 64 bits
};
NestPlan PlanNest(const loops::LoopNest& nest, int multiprocessors);

struct NestText {
  std::string text;  // without the prelude; its kernels are phase0, phase1, ...
  int phases = 1;
  std::vector<long long> numbers;  // the sizes and strides, in the order of the text
  std::vector<DType> in, out;      // of the kernels' arguments
  std::vector<int> inputs;         // which of the nest's inputs these are
  int packs_number = -1;           // the number that says how many packs there are
  size_t workspace_bytes = 0;      // for totals of chunks
};

// Empty, or why there is no text.
std::string PrintNest(const loops::LoopNest& nest, const NestPlan& plan, NestText* result);

}  // namespace ms::cuda
