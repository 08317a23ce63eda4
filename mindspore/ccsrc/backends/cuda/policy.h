// What the program around us decides about numbers: set by settings of the context, read by kernels
// when they run.
#pragma once

#include <atomic>
#include <cstdint>

namespace ms::cuda {

struct Policy {
  std::atomic<bool> convolutions_tf32{true};  // conv_allow_tf32
  std::atomic<bool> products_tf32{false};     // matmul_allow_tf32
  std::atomic<bool> deterministic{false};     // kernels are chosen by it, too (Backend::choices)
  std::atomic<bool> records{true};   // steps as graphs of the driver; MS_CUDA_GRAPHS=0 turns it off
  std::atomic<bool> branches{true};  // of those graphs; MS_CUDA_BRANCHES=0: all in a row
  std::atomic<uint64_t> changes{0};  // of any of these
};
Policy& ThePolicy();

}  // namespace ms::cuda
