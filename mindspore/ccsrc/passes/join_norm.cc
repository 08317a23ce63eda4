// Batch normalisation over pixels takes the ReLU that follows, and the addition of a shortcut
// between the two; so do the gradients, which read the image twice less.
#include "passes/applies.h"
#include "passes/graph_rules.h"
#include "passes/passes.h"

namespace ms {
namespace {

// One float type, channels last.
bool Fits(const Match& m) {
  DType dtype = m["x"].type().dtype();
  if (dtype != DType::kFloat32 && dtype != DType::kFloat64) return false;
  for (const char* name : {"x", "s", "b", "m", "v"}) {
    if (m[name].type().dtype() != dtype || m[name].type().shape().symbolic()) return false;
  }
  int rank = m["x"].type().shape().rank();
  return rank == 2 || (rank == 4 && m.attr<std::string>("f") == "NHWC");
}

const GraphRules& Activations() {
  const std::string arguments = "(x, s, b, m, v, epsilon=e, momentum=t, data_format=f)";
  const std::string norm = "y, n, w, p, q = BatchNorm" + arguments + "\n";
  const std::string six =
      "z, n, w, p, q = BatchNormRelu(x, s, b, m, v, epsilon=e, momentum=t, data_format=f, "
      "activation=\"relu6\")\n";
  static const GraphRules rules({
      GraphRule(norm + "z = ReLU(y)").When(Fits).To("z, n, w, p, q = BatchNormRelu" + arguments),
      GraphRule(norm + "z = ReLU(Add{y, r})")
          .When(Fits)
          .To("z, n, w, p, q = BatchNormAddRelu(x, s, b, m, v, r, epsilon=e, momentum=t, "
              "data_format=f)"),
      GraphRule(norm + "z = ReLU6(y)").When(Fits).To(six),
      // The gradient of ReLU6 reads what comes before it, and must be joined too.
      GraphRule(norm + "z = ReLU6(y)\n"
                       "g = ReLU6Grad(d, y)\n"
                       "dx, ds, db = BatchNormGrad(g, x, s, p, q, is_training=1)")
          .When(Fits)
          .To(six + "dx, ds, db = BatchNormReluGrad(d, x, s, b, p, q, epsilon=e, data_format=f, "
                    "activation=\"relu6\")"),
  });
  return rules;
}

const GraphRules& Gradients() {
  const std::string slope =
      "g = ReluGrad(d, z)\n"
      "dx, ds, db = BatchNormGrad(g, x, s, p, q, is_training=1)";
  static const GraphRules rules({
      GraphRule("z, _, _, p, q = BatchNormRelu(x, s, b, m, v, epsilon=e, data_format=f, "
                "activation=\"relu\")\n" +
                slope)
          .To("dx, ds, db = BatchNormReluGrad(d, x, s, b, p, q, epsilon=e, data_format=f)"),
      GraphRule("z, _, _, p, q = BatchNormAddRelu(x, s, b, m, v, r, epsilon=e, data_format=f)\n" +
                slope)
          .To("dx, ds, db, g = BatchNormAddReluGrad(d, z, x, s, p, q, epsilon=e, data_format=f)"),
  });
  return rules;
}

}  // namespace

bool JoinNormRelu(Module& module) {
  bool changed = false;
  for (const auto& graph : module.graphs()) {
    if (!Applies(*graph, "BatchNorm") || !Activations().Apply(graph.get())) continue;
    Gradients().Apply(graph.get());
    changed = true;
  }
  return changed;
}

}  // namespace ms
