// Optimiser updates. Pure functions of values: outputs are the new values of the Parameters among
// the inputs, and the runtime writes them in place. Learning rates and other factors are scalars of
// any real dtype. Calls from Python return as many outputs as MindSpore's classes do.
#include "ops/all.h"
#include "ops/shard.h"
#include "ops/written.h"

namespace ms {
namespace {

using Positions = std::vector<size_t>;

// Output i is the new value of input updated[i]; the inputs in `full` have one element for each of
// the first one's, all others are scalars.
OpDef& Update(OpDef& op, const Positions& updated, const Positions& full, int returned) {
  op.Infer([updated, full](InferContext& c) {
    for (size_t i : full) {
      c.CheckSameDType(full[0], i);
      c.CheckSameShape(full[0], i);
    }
    for (size_t i = 0; i < c.size(); ++i) {
      if (std::find(full.begin(), full.end(), i) != full.end()) continue;
      c.Check(c.shape(i).elements() == 1, "'{}' must be a scalar, but got shape {}",
              c.input_name(i), c.shape(i));
    }
    Types types;
    for (size_t i : updated) types.push_back(c.Like(i, c.shape(i)));
    return types;
  });
  for (size_t i = 0; i < updated.size(); ++i)
    op.Updates(static_cast<int>(i), static_cast<int>(updated[i]));
  return op.Elementwise().Returns(returned);
}

OpDef& In(OpDef& op, DTypeSet types, std::initializer_list<const char*> names) {
  for (const char* name : names) op.In(name, types);
  return op;
}

Types InferRows(InferContext& c) {
  for (size_t i : {1, 3, 5}) c.CheckSameDType(0, i);
  for (size_t i : {3, 5}) c.CheckSameShape(0, i);
  for (size_t i : {2, 4}) {
    c.Check(c.shape(i).elements() == 1, "'{}' must be a scalar, but got shape {}", c.input_name(i),
            c.shape(i));
  }
  c.Check(c.rank(0) > 0, "'parameters' must have rows, but got shape {}", c.shape(0));
  Dims rows;
  for (int i = 0; i < c.rank(6); ++i) rows.push_back(c.dim(6, i));
  for (int i = 1; i < c.rank(0); ++i) rows.push_back(c.dim(0, i));
  c.Check(SameSizes(c.shape(1), Shape(rows)),
          "'gradient' must have a row for each index, shape {}, but got {}", Shape(rows),
          c.shape(1));
  return {c.Like(0, c.shape(0)), c.Like(3, c.shape(3)), c.Like(5, c.shape(5))};
}

void DefineAssign(OpRegistry& ops) {
  struct Form {
    const char* name;
    const char* doc;
    DTypeSet types;
    const char* face;
    double of_variable, of_value;  // derivatives
  };
  const Form forms[] = {
      {"Assign", "Gives a Parameter a new value.", kAny, "assign(variable, value)", 0, 1},
      {"AssignAdd", "Adds to a Parameter.", kNumber, "assign_add(variable, value)", 1, 1},
      {"AssignSub", "Subtracts from a Parameter.", kNumber, "assign_sub(variable, value)", 1, -1},
  };
  for (const Form& form : forms) {
    ops.Op(form.name)
        .Doc(form.doc)
        .In("variable", form.types, "The Parameter.")
        .In("value", form.types | kBoolean,
            "The same shape; a dtype that promotes to the Parameter's.")
        .Elementwise()
        .Infer([](InferContext& c) {
          CheckBecomes(c, 1);
          bool fill = c.shape(1).elements() == 1 && c.shape(0).elements() == 1;
          c.Check(fill || c.shape(0) == c.shape(1),
                  "'value' must have the shape of 'variable', {}, but got {}", c.shape(0),
                  c.shape(1));
          return c.Like(0, c.shape(0));
        })
        .Grad([form](GradContext& g) {
          Term of_value = form.of_value < 0 ? -g.dout() : g.dout();
          Term value = Reshape(CastTo(of_value, g.in_type(1).dtype()), g.in_type(1).shape());
          return Terms{form.of_variable != 0 ? g.dout() : Term{}, value};
        })
        .Expand([form](ExpandContext& c) {
          Term variable = c.in(0);
          Term value = Reshape(CastTo(c.in(1), variable.type().dtype()), variable.type().shape());
          if (form.of_variable == 0) return value;
          return form.of_value < 0 ? variable - value : variable + value;
        })
        .Updates(0, 0)
        .Python(form.face);
  }
}

// Of devices without a kernel for it. A factor of any real dtype acts in the dtype of the weights.
Terms MomentumStep(ExpandContext& c) {
  auto factor = [&](size_t i) { return Reshape(CastTo(c.in(i), c.in(0).type().dtype()), Shape{}); };
  Term gradient = c.in(3) * c.attr<double>("gradient_scale");
  Term velocity = c.in(1) * factor(4) + gradient;
  Term step = c.attr<bool>("use_nesterov") ? gradient + velocity * factor(4) : velocity;
  return {c.in(0) - step * factor(2), velocity};
}

void DefineMomentum(OpRegistry& ops) {
  OpDef& momentum = ops.Op("ApplyMomentum");
  momentum.In("variable", kFloating, "The weights.").In("accumulation", kFloating, "The velocity.");
  momentum.In("learning_rate", kReal).In("gradient", kFloating).In("momentum", kReal);
  Update(momentum, {0, 1}, {0, 1, 3}, 1)
      .Doc(
          "Gradient descent with momentum: v = v * momentum + g * gradient_scale; w -= lr * v, or, "
          "by Nesterov, w -= lr * "
          "(g * gradient_scale + v * momentum).")
      .WithAttr("use_nesterov", false, "Look ahead by one step.")
      .WithAttr("use_locking", false, "Accepted; updates never race.")
      .WithAttr("gradient_scale", 1.0, "Multiplies the gradient.")
      .Expand(MomentumStep);
  OpDef& sgd = ops.Op("SGD");
  In(sgd, kFloating, {"parameters", "gradient"}).In("learning_rate", kReal).In("accum", kFloating);
  sgd.In("momentum", kReal)
      .In("stat", kFloating, "1 until the first update of an element, then 0.");
  Update(sgd, {0, 3, 5}, {0, 1, 3, 5}, 1)
      .Doc("Stochastic gradient descent with momentum, dampening and weight decay.")
      .WithAttr("dampening", 0.0, "Part of the gradient that the velocity leaves out.")
      .WithAttr("weight_decay", 0.0, "L2 penalty.")
      .WithAttr("nesterov", false, "Look ahead by one step.");
  OpDef& rows = ops.Op("SGDRows").Internal();
  rows.In("parameters", kFloating, "A table.").In("gradient", kFloating, "Of rows of the table.");
  rows.In("learning_rate", kReal).In("accum", kFloating).In("momentum", kReal);
  rows.In("stat", kFloating, "As in SGD.").In("indices", kIndex, "Which rows, in [-n, n).");
  rows.Doc(
          "SGD with a gradient that is zero but for some rows, where it is the sum of those given.")
      .WithAttr("dampening", 0.0, "As in SGD.")
      .WithAttr("weight_decay", 0.0, "As in SGD.")
      .WithAttr("nesterov", false, "As in SGD.")
      .Shard(shard::UpdateRows)
      .Infer(InferRows)
      .Updates(0, 0)
      .Updates(1, 3)
      .Updates(2, 5)
      .Returns(1);
}

void DefineAdam(OpRegistry& ops) {
  OpDef& adam = In(ops.Op("Adam"), kFloating, {"var", "m", "v"});
  In(adam, kReal, {"beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon"})
      .In("gradient", kFloating);
  Update(adam, {0, 1, 2}, {0, 1, 2, 9}, 3)
      .Doc("Adam: moving averages of the gradient and of its square, with bias correction.")
      .WithAttr("use_locking", false, "Accepted; updates never race.")
      .WithAttr("use_nesterov", false, "Look ahead by one step.");
  OpDef& decay = In(ops.Op("AdamWeightDecay"), kFloating, {"var", "m", "v"});
  In(decay, kReal, {"lr", "beta1", "beta2", "epsilon", "decay"}).In("gradient", kFloating);
  Update(decay, {0, 1, 2}, {0, 1, 2, 8}, 3)
      .Doc("Adam without bias correction, with weight decay apart from the gradient.")
      .WithAttr("use_locking", false, "Accepted; updates never race.");
  OpDef& ada_max = In(ops.Op("ApplyAdaMax"), kFloating, {"var", "m", "v"});
  In(ada_max, kReal, {"beta1_power", "lr", "beta1", "beta2", "epsilon"}).In("grad", kFloating);
  Update(ada_max, {0, 1, 2}, {0, 1, 2, 8}, 3).Doc("Adam with the infinity norm of past gradients.");
}

void DefineAdaptive(OpRegistry& ops) {
  OpDef& rms = In(ops.Op("ApplyRMSProp"), kFloating, {"var", "mean_square", "moment"});
  rms.In("learning_rate", kReal).In("grad", kFloating);
  In(rms, kReal, {"decay", "momentum", "epsilon"});
  Update(rms, {0, 1, 2}, {0, 1, 2, 4}, 1)
      .Doc("RMSProp: gradients divided by the root of their mean square.")
      .WithAttr("use_locking", false, "Accepted; updates never race.");
  OpDef& centered = In(ops.Op("ApplyCenteredRMSProp"), kFloating,
                       {"var", "mean_gradient", "mean_square", "moment", "grad"});
  In(centered, kReal, {"learning_rate", "decay", "momentum", "epsilon"});
  Update(centered, {0, 1, 2, 3}, {0, 1, 2, 3, 4}, 1)
      .Doc("RMSProp with the variance of the gradient in place of its mean square.")
      .WithAttr("use_locking", false, "Accepted; updates never race.");
  OpDef& adagrad =
      In(ops.Op("ApplyAdagrad"), kFloating, {"var", "accum"}).In("lr", kReal).In("grad", kFloating);
  Update(adagrad, {0, 1}, {0, 1, 3}, 2)
      .Doc("Adagrad: gradients divided by the root of the sum of their squares.")
      .WithAttr("update_slots", true, "Whether the sum of squares grows.");
  OpDef& adagrad2 = In(ops.Op("ApplyAdagradV2"), kFloating, {"var", "accum"})
                        .In("lr", kReal)
                        .In("grad", kFloating);
  Update(adagrad2, {0, 1}, {0, 1, 3}, 2)
      .Doc("Adagrad with a term that keeps the divisor from zero.")
      .RequiredAttr<double>("epsilon", "Added to the root.")
      .WithAttr("update_slots", true, "Whether the sum of squares grows.");
  OpDef& delta = In(ops.Op("ApplyAdadelta"), kFloating, {"var", "accum", "accum_update"});
  In(delta, kReal, {"lr", "rho", "epsilon"}).In("grad", kFloating);
  Update(delta, {0, 1, 2}, {0, 1, 2, 6}, 3).Doc("Adadelta: steps in units of past steps.");
  OpDef& ftrl = In(ops.Op("ApplyFtrl"), kFloating, {"var", "accum", "linear", "grad"});
  In(ftrl, kReal, {"lr", "l1", "l2", "lr_power"});
  Update(ftrl, {0, 1, 2}, {0, 1, 2, 3}, 1)
      .Doc("FTRL-proximal: follows the regularised leader, which gives sparse weights.")
      .WithAttr("use_locking", false, "Accepted; updates never race.");
  OpDef& descent =
      ops.Op("ApplyGradientDescent").In("var", kFloating).In("alpha", kReal).In("delta", kFloating);
  Update(descent, {0}, {0, 2}, 1).Doc("Plain gradient descent: var -= alpha * delta.");
}

}  // namespace

void DefineOptim(OpRegistry& ops) {
  DefineAssign(ops);
  DefineMomentum(ops);
  DefineAdam(ops);
  DefineAdaptive(ops);
}

}  // namespace ms
