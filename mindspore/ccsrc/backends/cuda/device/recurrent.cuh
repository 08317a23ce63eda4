// Recurrent layers, a step of all sequences at a time: what follows the product of the states with
// the weights, and in gradients what precedes it. What one step hands to the next is not rounded to
// halves; only what is multiplied by the weights is.
struct Numbers {
  long long batch, hidden, keep;
  long long step, last;       // last: of gradients, the step whose product is there; -1: none is
  long long first, distance;  // rows of the step, in matrices of all steps: of the first sequence,
                              // and from one sequence to the next
};

// A unit of the state of a sequence: what a thread has.
struct Unit {
  const Numbers& n;
  long long sequence, unit;

  MS_INSIDE Unit(long long e, const Numbers& numbers)
      : n(numbers), sequence(e / numbers.hidden), unit(e % numbers.hidden) {}
  // Its place in a matrix whose rows are so many blocks of units: of this step, and of all steps.
  MS_INSIDE long long At(int blocks, int block) const {
    return (sequence * blocks + block) * n.hidden + unit;
  }
  MS_INSIDE long long AtStep(int blocks, int block) const {
    return ((n.first + sequence * n.distance) * blocks + block) * n.hidden + unit;
  }
  template <class L>
  MS_INSIDE bool Has(long long step, const L* lengths) const {
    return step < (long long)lengths[sequence];
  }
};

// ---- kinds of layers. Forward: from the blocks of the input, x, and those of the product, h, to
// the new state, with v for the gradient. Backward: from dh, of the new state, to the gradients of
// both, d and p; returns what the old state gets past the product.
struct Lstm {
  template <class R>
  static MS_INSIDE R Forward(const R* x, const R* h, R, R* cell, R* v) {
    v[0] = k_sigmoid(x[0] + h[0]);
    v[1] = k_sigmoid(x[1] + h[1]);
    v[2] = k_tanh(x[2] + h[2]);
    v[3] = k_sigmoid(x[3] + h[3]);
    v[4] = *cell;
    *cell = v[1] * *cell + v[0] * v[2];
    return v[3] * k_tanh(*cell);
  }
  template <class R>
  static MS_INSIDE R Backward(const R* v, R dh, R, R* dcell, R* d, R* p) {
    const R bent = k_tanh(v[1] * v[4] + v[0] * v[2]);
    const R dc = *dcell + dh * v[3] * (1 - bent * bent);
    p[0] = d[0] = dc * v[2] * v[0] * (1 - v[0]);
    p[1] = d[1] = dc * v[4] * v[1] * (1 - v[1]);
    p[2] = d[2] = dc * v[0] * (1 - v[2] * v[2]);
    p[3] = d[3] = dh * bent * v[3] * (1 - v[3]);
    *dcell = dc * v[1];
    return 0;
  }
};
struct Gru {
  template <class R>
  static MS_INSIDE R Forward(const R* x, const R* h, R state, R*, R* v) {
    v[0] = k_sigmoid(x[0] + h[0]);
    v[1] = k_sigmoid(x[1] + h[1]);
    v[3] = h[2];
    v[2] = k_tanh(x[2] + v[0] * v[3]);
    return v[2] + v[1] * (state - v[2]);
  }
  template <class R>
  static MS_INSIDE R Backward(const R* v, R dh, R before, R*, R* d, R* p) {
    d[2] = dh * (1 - v[1]) * (1 - v[2] * v[2]);
    p[0] = d[0] = d[2] * v[3] * v[0] * (1 - v[0]);
    p[1] = d[1] = dh * (before - v[2]) * v[1] * (1 - v[1]);
    p[2] = d[2] * v[0];
    return dh * v[1];
  }
};
struct Tanh {
  template <class R>
  static MS_INSIDE R Forward(const R* x, const R* h, R, R*, R* v) {
    return v[0] = k_tanh(x[0] + h[0]);
  }
  template <class R>
  static MS_INSIDE R Backward(const R* v, R dh, R, R*, R* d, R* p) {
    p[0] = d[0] = dh * (1 - v[0] * v[0]);
    return 0;
  }
};
struct Relu {
  template <class R>
  static MS_INSIDE R Forward(const R* x, const R* h, R, R*, R* v) {
    const R sum = x[0] + h[0];
    return v[0] = sum < 0 ? 0 : sum;  // nan stays
  }
  template <class R>
  static MS_INSIDE R Backward(const R* v, R dh, R, R*, R* d, R* p) {
    p[0] = d[0] = v[0] > 0 ? dh : 0;
    return 0;
  }
};

// ---- steps. `state` and `cells` go from one to the next; of halves alone they lie elsewhere than
// the outputs, which the products read.
template <class M, class R>
MS_FUNCTION void Begin(const M* given, M* out, R* carried, const Numbers& n) {
  ForAll(n.batch * n.hidden, [&](long long e) {
    carried[e] = Load(given[e]);
    out[e] = given[e];
  });
}

template <class Layer, int gates, int biases, int saved, class M, class R, class L>
MS_FUNCTION void Forward(const M* from_x, const M* bias, const L* lengths, M* output, M* last_state,
                         M* last_cells, M* kept, M* before, const R* products, R* state, R* cells,
                         const Numbers& n) {
  ForAll(n.batch * n.hidden, [&](long long e) {
    const Unit u(e, n);
    R x[gates], h[gates], v[saved], cell = 0;
    for (int g = 0; g < gates; ++g) {
      x[g] = (R)Load(from_x[u.AtStep(gates, g)]) + (R)Load(bias[u.n.hidden * g + u.unit]);
      h[g] = products[u.At(gates, g)];
    }
    if (biases > gates) h[gates - 1] += (R)Load(bias[u.n.hidden * gates + u.unit]);
    const R old = state[e];
    if (last_cells) cell = cells[e];
    const R next = Layer::Forward(x, h, old, &cell, v);
    if (n.keep) {
      for (int b = 0; b < saved; ++b) kept[u.AtStep(saved, b)] = Stored<M>::Of(v[b]);
      before[u.AtStep(1, 0)] = Stored<M>::Of(old);
    }
    const bool has = u.Has(n.step, lengths);
    output[u.AtStep(1, 0)] = Stored<M>::Of(has ? next : (R)0);
    if (!has) return;
    state[e] = next;
    last_state[e] = Stored<M>::Of(next);
    if (!last_cells) return;
    cells[e] = cell;
    last_cells[e] = Stored<M>::Of(cell);
  });
}

// The gradient of the state that a step has left, without and with its product.
template <class R, class L>
MS_FUNCTION R WithProduct(R past, const R* products, const L* lengths, const Unit& u) {
  const bool has = u.n.last >= 0 && u.Has(u.n.last, lengths);
  return has ? past + products[u.At(1, 0)] : past;
}

template <class Layer, int gates, int saved, class M, class R, class L>
MS_FUNCTION void Backward(const M* dout, const L* lengths, const M* kept, const M* before, M* dx,
                          M* dproduct, const R* products, R* dstate, R* dcells, const Numbers& n) {
  ForAll(n.batch * n.hidden, [&](long long e) {
    const Unit u(e, n);
    R dh = WithProduct(dstate[e], products, lengths, u);
    R d[gates] = {}, p[gates] = {};
    if (u.Has(n.step, lengths)) {
      R v[saved], cell = 0;
      for (int b = 0; b < saved; ++b) v[b] = Load(kept[u.AtStep(saved, b)]);
      if (dcells) cell = dcells[e];
      dh = Layer::Backward(v, dh + (R)Load(dout[u.AtStep(1, 0)]), (R)Load(before[u.AtStep(1, 0)]),
                           &cell, d, p);
      if (dcells) dcells[e] = cell;
    }
    dstate[e] = dh;
    for (int g = 0; g < gates; ++g) {
      dx[u.AtStep(gates, g)] = Stored<M>::Of(d[g]);
      if (dproduct) dproduct[u.AtStep(gates, g)] = Stored<M>::Of(p[g]);
    }
  });
}

template <class M, class R, class L>
MS_FUNCTION void EndBackward(const L* lengths, M* first_state, M* first_cells, const R* products,
                             const R* dstate, const R* dcells, const Numbers& n) {
  ForAll(n.batch * n.hidden, [&](long long e) {
    first_state[e] = Stored<M>::Of(WithProduct(dstate[e], products, lengths, Unit(e, n)));
    if (first_cells) first_cells[e] = Stored<M>::Of(dcells[e]);
  });
}
