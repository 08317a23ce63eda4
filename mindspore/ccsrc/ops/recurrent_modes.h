// Kinds of recurrent layers. Nothing but constants: what is compiled once per instruction set
// includes this, too.
#pragma once

namespace ms {

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

}  // namespace ms
