#include "ops/all.h"

#include "ops/matmul_bias.h"
#include "ops/sharded.h"

namespace ms {

void DefineAllOps(OpRegistry& ops) {
  DefineControl(ops);
  DefineMath(ops);
  DefineBessel(ops);
  DefineIterated(ops);
  DefineCompare(ops);
  DefineReduce(ops);
  DefineLinalg(ops);
  DefineFactor(ops);
  DefineDistance(ops);
  DefineArray(ops);
  DefineIndexing(ops);
  DefineSearch(ops);
  DefineCreation(ops);
  DefineConv(ops);
  DefineConvBias(ops);
  DefineMatMulBias(ops);
  DefinePool(ops);
  DefineUnfold(ops);
  DefineImage(ops);
  DefineGrid(ops);
  DefineNorm(ops);
  DefineNormRelu(ops);
  DefineActivation(ops);
  DefineLoss(ops);
  DefineCtc(ops);
  DefineFft(ops);
  DefineRandom(ops);
  DefineOptim(ops);
  DefineFused(ops);
  DefineUpdateGroup(ops);
  DefineAttention(ops);
  DefineRecurrent(ops);
  DefineComm(ops);
  DefineSharded(ops);
}

}  // namespace ms
