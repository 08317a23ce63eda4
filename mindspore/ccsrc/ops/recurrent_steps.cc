#include "ops/recurrent_steps.h"

namespace ms {
namespace {

// What both directions need: steps in their order, blocks of the gates.
class Layer {
 public:
  explicit Layer(ExpandContext& c)
      : c_(c),
        mode_(RecurrentModeOf(c.attr<std::string>("mode"))),
        reverse_(c.attr<bool>("reverse")),
        axis_(c.attr<bool>("batch_first") ? 1 : 0),
        gates_(RecurrentGates(mode_)),
        saved_(RecurrentSaved(mode_)) {}

 protected:
  // Every step's row of a matrix of all steps.
  Terms Rows(const Term& x) {
    const Shape& all = x.shape();
    Ints begin(3, 0);
    Dims row{all.dim(1 - axis_), all.dim(2)};
    Terms rows;
    for (int64_t t = 0; t < all.dim(axis_).value(); ++t) {
      begin[static_cast<size_t>(axis_)] = t;
      Term slice =
          c_.Call("Slice", {x}, {{"begin", begin}, {"size", all.With(axis_, 1).ToCodes()}});
      rows.push_back(Reshape(slice, row));
    }
    return rows;
  }
  // `like`: the matrix, where there are no rows to tell its type.
  Term Join(const Terms& rows, const Type& like) {
    if (rows.empty()) return c_.emitter().Full(0, like);
    return c_.Call("Stack", rows, {{"axis", static_cast<int64_t>(axis_)}});
  }
  size_t At(size_t count, size_t steps) const { return reverse_ ? steps - 1 - count : count; }
  Terms Blocks(const Term& x, int count) {
    return c_.emitter().CallMany("Split", {x},
                                 {{"axis", static_cast<int64_t>(x.shape().rank() - 1)},
                                  {"output_num", static_cast<int64_t>(count)}});
  }
  Term Put(const Terms& blocks) { return c_.Call("Concat", blocks, {{"axis", int64_t{1}}}); }
  Term None(const Term& like) { return c_.emitter().Full(0, Type(like.dtype(), Shape{0})); }
  // Which sequences have a step, for all units of the state.
  Term Active(const Term& lengths, size_t t, const Term& state) {
    Term number = c_.emitter().Scalar(static_cast<double>(t), lengths.dtype());
    Term active = c_.Call("Greater", {lengths, number});
    return BroadcastTo(c_.Call("ExpandDims", {active}, {{"axis", int64_t{1}}}), state.shape());
  }
  Term Sigmoid(const Term& x) { return c_.Call("Sigmoid", {x}); }
  Term Tanh(const Term& x) { return c_.Call("Tanh", {x}); }
  Term Where(const Term& condition, const Term& x, const Term& y) {
    return c_.Call("Select", {condition, x, y});
  }

  ExpandContext& c_;
  RecurrentMode mode_;
  bool reverse_;
  int axis_;
  int gates_, saved_;
};

class Forward : public Layer {
 public:
  using Layer::Layer;

  Terms Run() {
    Term lengths = c_.in(5);
    state_ = c_.in(1), cells_ = c_.in(2);
    bias_ = Blocks(c_.in(4), RecurrentBiases(mode_));
    Terms from_x = Rows(c_.in(0));
    Terms outputs(from_x.size()), saved(from_x.size()), before(from_x.size());
    for (size_t count = 0; count < from_x.size(); ++count) {
      size_t t = At(count, from_x.size());
      Term active = Active(lengths, t, state_);
      Term old_cells = cells_;
      Terms kept;
      Term fresh = Step(from_x[t], &kept);
      outputs[t] = Where(active, fresh, ZerosLike(fresh));
      saved[t] = Put(kept);
      before[t] = state_;
      state_ = Where(active, fresh, state_);
      if (mode_ == RecurrentMode::kLstm) cells_ = Where(active, cells_, old_cells);
    }
    auto matrix = [&](int blocks) {
      const Shape& x = c_.in(0).shape();
      return Type(state_.dtype(), x.With(2, state_.shape().dim(1) * blocks));
    };
    bool keep = c_.attr<bool>("keep");
    return {Join(outputs, matrix(1)), state_, cells_,
            keep ? Join(saved, matrix(saved_)) : None(state_),
            keep ? Join(before, matrix(1)) : None(state_)};
  }

 private:
  // The new state; the new cells replace the old ones.
  Term Step(const Term& from_x, Terms* kept) {
    Terms x = Blocks(from_x, gates_);
    Terms h = Blocks(c_.Call("MatMul", {state_, c_.in(3)}, {{"transpose_b", true}}), gates_);
    auto gate = [&](size_t i) { return x[i] + bias_[i] + h[i]; };
    if (mode_ == RecurrentMode::kLstm) {
      *kept = {Sigmoid(gate(0)), Sigmoid(gate(1)), Tanh(gate(2)), Sigmoid(gate(3)), cells_};
      const Terms& s = *kept;
      cells_ = s[1] * cells_ + s[0] * s[2];
      return s[3] * Tanh(cells_);
    }
    if (mode_ == RecurrentMode::kGru) {
      Term reset = Sigmoid(gate(0)), update = Sigmoid(gate(1)), from_h = h[2] + bias_[3];
      Term next = Tanh(x[2] + bias_[2] + reset * from_h);
      *kept = {reset, update, next, from_h};
      return next + update * (state_ - next);
    }
    *kept = {mode_ == RecurrentMode::kTanh ? Tanh(gate(0)) : c_.Call("ReLU", {gate(0)})};
    return kept->front();
  }

  Term state_, cells_;
  Terms bias_;
};

class Backward : public Layer {
 public:
  using Layer::Layer;

  Terms Run() {
    Terms dout = Rows(c_.in(0)), saved = Rows(c_.in(5)), before = Rows(c_.in(6));
    dstate_ = c_.in(1), dcells_ = c_.in(2);
    Terms dx(dout.size()), dproduct(dout.size());
    for (size_t count = dout.size(); count-- > 0;) {
      size_t t = At(count, dout.size());
      Term active = Active(c_.in(4), t, dstate_);
      Term old_cells = dcells_;
      Terms d, p;
      Term past = Step(Blocks(saved[t], saved_), before[t], dout[t] + dstate_, &d, &p);
      for (Term& x : d) x = Where(active, x, ZerosLike(x));
      for (Term& x : p) x = Where(active, x, ZerosLike(x));
      dx[t] = Put(d);
      dproduct[t] = Put(p);
      Term back = c_.Call("MatMul", {dproduct[t], c_.in(3)});
      dstate_ = Where(active, past ? back + past : back, dstate_);
      if (mode_ == RecurrentMode::kLstm) dcells_ = Where(active, dcells_, old_cells);
    }
    const Shape& x = c_.in(0).shape();
    Type matrix(dstate_.dtype(), x.With(2, x.dim(2) * gates_));
    return {Join(dx, matrix), mode_ == RecurrentMode::kGru ? Join(dproduct, matrix) : None(dstate_),
            dstate_, dcells_};
  }

 private:
  // Of the blocks of the input and of the product; returns what the old state gets past the
  // product.
  Term Step(const Terms& s, const Term& before, const Term& dh, Terms* d, Terms* p) {
    if (mode_ == RecurrentMode::kGru) {
      Term dnext = dh * (1.0 - s[1]) * (1.0 - s[2] * s[2]);
      Term dreset = dnext * s[3] * s[0] * (1.0 - s[0]);
      Term dupdate = dh * (before - s[2]) * s[1] * (1.0 - s[1]);
      *d = {dreset, dupdate, dnext};
      *p = {dreset, dupdate, dnext * s[0]};
      return dh * s[1];
    }
    if (mode_ == RecurrentMode::kLstm) {
      Term bent = Tanh(s[1] * s[4] + s[0] * s[2]);
      Term dc = dcells_ + dh * s[3] * (1.0 - bent * bent);
      *d = {dc * s[2] * s[0] * (1.0 - s[0]), dc * s[4] * s[1] * (1.0 - s[1]),
            dc * s[0] * (1.0 - s[2] * s[2]), dh * bent * s[3] * (1.0 - s[3])};
      dcells_ = dc * s[1];
    } else {
      *d = {mode_ == RecurrentMode::kTanh ? dh * (1.0 - s[0] * s[0])
                                          : c_.Call("ReluGrad", {dh, s[0]})};
    }
    *p = *d;
    return {};
  }

  Term dstate_, dcells_;
};

}  // namespace

RecurrentMode RecurrentModeOf(const std::string& name) {
  if (name == "lstm") return RecurrentMode::kLstm;
  if (name == "gru") return RecurrentMode::kGru;
  return name == "tanh" ? RecurrentMode::kTanh : RecurrentMode::kRelu;
}

Terms ExpandRecurrence(ExpandContext& c) { return Forward(c).Run(); }

Terms ExpandRecurrenceGrad(ExpandContext& c) { return Backward(c).Run(); }

}  // namespace ms
