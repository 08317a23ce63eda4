// The dictionary of ops: one function per file of declarations, called in a visible order.
#pragma once

#include "ir/op.h"

namespace ms {

void DefineControl(OpRegistry& ops);
void DefineMath(OpRegistry& ops);
void DefineBessel(OpRegistry& ops);
void DefineIterated(OpRegistry& ops);
void DefineCompare(OpRegistry& ops);
void DefineReduce(OpRegistry& ops);
void DefineLinalg(OpRegistry& ops);
void DefineFactor(OpRegistry& ops);
void DefineArray(OpRegistry& ops);
void DefineIndexing(OpRegistry& ops);
void DefineDistance(OpRegistry& ops);
void DefineSearch(OpRegistry& ops);
void DefineCreation(OpRegistry& ops);
void DefineConv(OpRegistry& ops);
void DefineConvBias(OpRegistry& ops);
void DefinePool(OpRegistry& ops);
void DefineUnfold(OpRegistry& ops);
void DefineImage(OpRegistry& ops);
void DefineGrid(OpRegistry& ops);
void DefineNorm(OpRegistry& ops);
void DefineNormRelu(OpRegistry& ops);
void DefineActivation(OpRegistry& ops);
void DefineLoss(OpRegistry& ops);
void DefineCtc(OpRegistry& ops);
void DefineFft(OpRegistry& ops);
void DefineRandom(OpRegistry& ops);
void DefineOptim(OpRegistry& ops);
void DefineFused(OpRegistry& ops);
void DefineUpdateGroup(OpRegistry& ops);
void DefineAttention(OpRegistry& ops);
void DefineRecurrent(OpRegistry& ops);
void DefineComm(OpRegistry& ops);

void DefineAllOps(OpRegistry& ops);

}  // namespace ms
