// Rules of the ops that factorise matrices (ops/factor.cc): gradients, and what is made of factors.
#pragma once

#include "ir/op.h"

namespace ms::factor {

Terms CholeskyGrad(GradContext& g);
Terms TriangularSolveGrad(GradContext& g);
Terms LuGrad(GradContext& g);
Terms SolveByLuGrad(GradContext& g);
Terms InverseGrad(GradContext& g);
Terms Determinant(ExpandContext& c);
Terms DeterminantGrad(GradContext& g);
Terms LogDeterminant(ExpandContext& c);
Terms LogDeterminantGrad(GradContext& g);
Terms QrGrad(GradContext& g);
Terms SvdGrad(GradContext& g);
Terms SvdBatch(BatchContext& b);
Terms PseudoInverse(ExpandContext& c);
Terms PseudoInverseGrad(GradContext& g);
Terms SymmetricEigenGrad(GradContext& g);
Terms GeneralEigenGrad(GradContext& g);
// Of an analytic function of a matrix: the derivative stands in the function of a matrix of blocks.
Terms AnalyticGrad(GradContext& g, const char* op);

}  // namespace ms::factor
