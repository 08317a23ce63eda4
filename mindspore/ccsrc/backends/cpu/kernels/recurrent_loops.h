// Loops of recurrent layers over one step, for a block of hidden units: the product with the state
// and what follows it in one go, so that the gates never leave the cache. Float32; compiled once
// per instruction set.
#pragma once

#include <cstdint>

#include "backends/cpu/isa.h"
#include "ops/recurrent_modes.h"

namespace ms::cpu {

// Rows of the batch at one step; their distance in floats is `distance` rows of the matrix.
struct RecurrentStep {
  int64_t batch, hidden;
  int64_t distance;       // 1, or the number of steps where the batch is the first axis
  const uint8_t* active;  // of each row: whether its sequence has this step
  // Forward.
  const float* from_x;  // gates * hidden wide
  const float* bias;    // one row
  const float* state;   // [batch, hidden], dense, and so is new_state
  float* new_state;     // may not be `state`
  float* cells;         // [batch, hidden], dense, changed in place
  float* output;        // hidden wide
  float* before;        // hidden wide: the state before the step; null: not kept
  float* saved;         // null: not kept
  // Backward: what is not there is null.
  const float* dout;         // hidden wide
  const float* kept;         // `saved` of the forward step
  const float* kept_before;  // `before` of the forward step
  float* dstate;             // [batch, hidden], dense: of the new state, then of the old one but
                             // for the product with the weights
  float* dcells;             // [batch, hidden], dense, likewise
  float* dfrom_x;            // gates * hidden wide
  float* dproduct;           // likewise: of the product with the weights; not of an LSTM
};

MS_DECLARE_ISA(
    // Hidden units of one block, forward and backward.
    int64_t RecurrentUnits(bool backward);
    // The weights [gates * hidden, hidden] that one block reads, in the order in which it does.
    void PackRecurrent(const float* weight, int64_t hidden, int gates, bool backward, int64_t block,
                       float* packed);
    void RecurrentForward(RecurrentMode mode, const RecurrentStep& step, int64_t block,
                          const float* packed);
    // dstate += dproduct weights, in the columns of a block.
    void RecurrentBackwardProduct(const RecurrentStep& step, int gates, const float* dproduct,
                                  int64_t block, const float* packed);
    void RecurrentBackward(RecurrentMode mode, const RecurrentStep& step, int64_t block);)

}  // namespace ms::cpu
