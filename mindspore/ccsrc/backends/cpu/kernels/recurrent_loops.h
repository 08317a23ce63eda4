// Loops of recurrent layers over one step, for a block of hidden units: the product with the state
// and what follows it in one go, so that the gates never leave the cache. Float32; compiled once
// per instruction set.
#pragma once

#include <cstdint>

#include "backends/cpu/isa.h"

namespace ms::cpu {

enum class RecurrentMode { kLstm, kGru, kTanh, kRelu };

// Blocks of hidden columns that a gradient with respect to the input of the layer has.
constexpr int RecurrentGates(RecurrentMode mode) {
  return mode == RecurrentMode::kLstm ? 4 : mode == RecurrentMode::kGru ? 3 : 1;
}
// Blocks of the bias: a GRU adds the last one to the product with the state, inside the reset gate.
constexpr int RecurrentBiases(RecurrentMode mode) {
  return mode == RecurrentMode::kGru ? 4 : RecurrentGates(mode);
}
// Blocks that are kept for the gradient. LSTM: gates in, forget, cell, out, and the cell before;
// GRU: gates reset, update, new, and the state's part of the last; else the new state.
constexpr int RecurrentSaved(RecurrentMode mode) {
  return mode == RecurrentMode::kLstm ? 5 : mode == RecurrentMode::kGru ? 4 : 1;
}

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
