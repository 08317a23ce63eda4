// Sums of gradients in a program that is cut, begun early: a ShardSum whose result no other
// communication needs for long becomes StartSum where the parts are made and AwaitSums where the
// sum is needed, so that the rest of the backward pass runs meanwhile.
//
// All processes must join the same sums and wait for them at the same place among all else that
// they do together, though their pieces differ in size, and with them the nodes between. So what is
// decided here looks at what depends on what, and at the order of the ops of ops/sharded.cc, which
// are alike in all of them; never at sizes, or at what else stands between. What processes do
// together between the beginning of a sum and its end goes on in other groups: those of the same
// processes, which sums alone have.
//
// Nobody waits for ever: whoever waits for a sum waits for what stands before, in a list that all
// have alike (the order of main), and so does whoever waits for anything else.
#pragma once

#include "passes/parallel/lower.h"

namespace ms::parallel {

// Of a lowered program, all of whose gradients are made. Adds the groups of the sums.
bool BeginSums(Module& module, Lowered* lowered);

}  // namespace ms::parallel
