// Special functions that are not worth vectors.
#pragma once

namespace ms::cpu {

double LogGamma(double x);  // log |gamma(x)|, without the global sign that lgamma writes
double Digamma(double x);

}  // namespace ms::cpu
