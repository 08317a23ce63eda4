// What passes ask a device about memory layouts.
#pragma once

#include "kernel/kernel.h"

namespace ms {

struct Layouts {
  // Whether a convolution, or a gradient of one, that is given with the channels second is quicker
  // with the channels last. Null: never.
  bool (*channels_last)(const KernelRequest& convolution) = nullptr;
  // How many elements the weight of a Conv2DBias has in the device's own layout; 0: it has none.
  int64_t (*packed_size)(const KernelRequest& convolution) = nullptr;
  // Whether a MatMul adds a bias, and applies an activation, at no cost; `packed`: where its second
  // matrix is in the device's own layout. Null: never.
  bool (*takes_bias)(const KernelRequest& product, bool packed) = nullptr;
  // Whether a MatMulBias or a Conv2DBias may end with the activation of that name. Null: never.
  bool (*joins)(const std::string& activation) = nullptr;
  // How many elements the second matrix of a MatMul has in the device's own layout; 0: that layout
  // is not worth its memory.
  int64_t (*packed_matrix)(const KernelRequest& product) = nullptr;
};

}  // namespace ms
