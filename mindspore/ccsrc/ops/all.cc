#include "ops/all.h"

#include "ops/matmul_bias.h"

namespace ms {

void DefineAllOps(OpRegistry& ops) {
  DefineControl(ops);
  DefineMath(ops);
  DefineCompare(ops);
  DefineReduce(ops);
  DefineLinalg(ops);
  DefineArray(ops);
  DefineIndexing(ops);
  DefineCreation(ops);
  DefineConv(ops);
  DefineConvBias(ops);
  DefineMatMulBias(ops);
  DefinePool(ops);
  DefineImage(ops);
  DefineNorm(ops);
  DefineNormRelu(ops);
  DefineActivation(ops);
  DefineLoss(ops);
  DefineRandom(ops);
  DefineOptim(ops);
  DefineFused(ops);
  DefineUpdateGroup(ops);
  DefineAttention(ops);
  DefineRecurrent(ops);
}

}  // namespace ms
