// What makes two modules the same program: their graphs, node by node, with attributes, constants
// and places in the source (so that errors name the right line); names apart.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"

namespace ms {

struct Fingerprint {
  std::string text;               // canonical binary form
  std::vector<Tensor> constants;  // compared bit for bit
  size_t hash = 0;
  bool operator==(const Fingerprint& other) const;
};

Fingerprint FingerprintOf(const Module& module);

// Equal in processes that have traced the same program: its ops, what they take and of which types.
// Their attributes may differ (seeds), and so may constants.
uint32_t OutlineOf(const Module& module);

}  // namespace ms
