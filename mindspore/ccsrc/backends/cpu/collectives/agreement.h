// Whether the members of a group make the same call, and what is said where they do not. All judge
// what all see: so all refuse together, and none goes on with what another has given up.
#pragma once

#include <string>

#include "kernel/collectives.h"

namespace ms::cpu {

constexpr size_t kLongestSaid = 448;  // bytes of what is told of a call, with a zero behind them

// Of the `number`-th call of a group.
uint64_t Signature(const Exchange& call, uint64_t number);
// The call and its place, cut to what is told.
std::string Said(const Exchange& call);
[[noreturn]] void ThrowUnlike(const Group& group, const std::string& said, int other,
                              const std::string& theirs);

// What all members send to all, and expect of all, in bytes: a row of each, with its sends and then
// what it receives. ValueError where these differ, or one has more than `most` of either.
void CheckParts(const Group& group, Counts rows, int64_t most);

}  // namespace ms::cpu
