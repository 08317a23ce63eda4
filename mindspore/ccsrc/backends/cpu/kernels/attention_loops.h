// Scaled dot-product attention, a head at a time: sizes that all kernels share, and the float32
// loops by blocks, compiled once per instruction set.
#pragma once

#include <cstdint>

#include "backends/cpu/isa.h"
#include "backends/cpu/kernels/random_words.h"
#include "kernel/kernel.h"

namespace ms::cpu {

struct AttentionSizes {
  int64_t heads = 1;  // the product of the leading dimensions
  int64_t queries = 0, keys = 0, depth = 0, value_depth = 0;
  double scale = 1, fill = 0, keep = 1;
  bool causal = false;
  bool adds = false, hides = false;  // what the mask does; neither where it is known to do nothing
  int64_t mask_row = 0, mask_column = 0;
  Shape lead;         // leading dimensions
  Ints mask_step;     // of the mask along them
  int64_t masks = 1;  // matrices that the mask has

  explicit AttentionSizes(const KernelRequest& request);
  int64_t MaskOffset(int64_t head) const;
  // How many keys a query sees, but for masks.
  int64_t Seen(int64_t query) const { return causal ? (query < keys ? query + 1 : keys) : keys; }
  double Work() const {  // multiplications of the forward direction
    return static_cast<double>(heads) * static_cast<double>(queries) * static_cast<double>(keys) *
           static_cast<double>(depth + value_depth) / (causal ? 2 : 1);
  }
};

// Which probabilities of a head are dropped: as Dropout does, by element of all scores.
struct AttentionDropout {
  RandomKey key{0, 0};
  uint32_t last = 0;  // words up to it are kept
  int64_t first = 0;  // element of the head's first score
};

AttentionDropout DropoutOf(const AttentionSizes& sizes, const void* random_key, int64_t head);

// One head's operands. The mask points to floats, or to bytes that hide.
struct AttentionHead {
  const float *query, *key, *value;
  const void* mask;
  AttentionDropout dropout;
  const int64_t* reach = nullptr;  // of each query, or of all where the mask has one row
};

// What the backward direction reads besides: three numbers for each query, and its tangent.
struct AttentionTangents {
  const float *largest, *log_sum, *delta, *dout;
};

// Scratch, in floats, that the loops below need.
int64_t AttentionScratch(const AttentionSizes& sizes);
int64_t AttentionGradScratch(const AttentionSizes& sizes);

inline constexpr int64_t kQueryBlock = 96;
inline constexpr int64_t kKeyBlock = 512;      // forward
inline constexpr int64_t kGradKeyBlock = 128;  // backward

// `from` and `to` bound the queries, or the keys in the backward direction: then key and value
// gradients are written in that range, and the query gradient for all queries.
// AttentionReach: how many keys from the first can have probabilities above 0. Behind them the row
// of the mask puts all scores so far below another one that nothing is left, given that no product
// of a query and a key is larger than `bound`, which AttentionBound finds for a head. So causal
// masks and padding cost nothing.
MS_DECLARE_ISA(float AttentionBound(const AttentionSizes& sizes, const float* query,
                                    const float* key);
               int64_t AttentionReach(const AttentionSizes& sizes, const void* row, int64_t query,
                                      float bound);
               void AttentionRows(const AttentionSizes& sizes, const AttentionHead& head,
                                  int64_t from, int64_t to, float* out, float* largest,
                                  float* log_sum, float* scratch);
               void AttentionGradKeys(const AttentionSizes& sizes, const AttentionHead& head,
                                      const AttentionTangents& tangents, int64_t from, int64_t to,
                                      float* dquery, float* dkey, float* dvalue, float* scratch);)

// For Float64 and, where it is asked for, every float type.
KernelChoice ReferenceAttention(const KernelRequest& request);
KernelChoice ReferenceAttentionGrad(const KernelRequest& request);

}  // namespace ms::cpu
