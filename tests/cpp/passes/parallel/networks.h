// Training steps of known networks as graphs: a loss, its gradient and an optimizer, the way the
// front end writes them. For tests of plans.
#pragma once

#include <map>

#include "ir/testing.h"
#include "passes/parallel/plan.h"

namespace ms::parallel::testing {

// Text of one training step. Values are named by what makes them.
class Network {
 public:
  std::string Parameter(const std::string& name, const std::string& type) {
    return Input(name, type, true);
  }
  std::string Data(const std::string& name, const std::string& type) {
    return Input(name, type, false);
  }
  std::string Op(const std::string& text, int results = 1) {
    std::string first = fmt::format("%{}", count_), names = first;
    for (int i = 1; i < results; ++i) names += fmt::format(", %{}", count_ + i);
    count_ += results;
    body_ += fmt::format("  {} = {}\n", names, text);
    return first;
  }
  template <class... Args>
  std::string Op(fmt::format_string<Args...> format, Args&&... args) {
    return Op(fmt::format(format, std::forward<Args>(args)...));
  }

  // The whole module: the loss, and the new values of all Parameters and their moments.
  std::unique_ptr<Module> Step(const std::string& loss) const {
    std::string main, call, results = "Float32[]", returned = "%l", grads, made, inner;
    int trained = 0;
    for (const In& in : inputs_) {
      main += fmt::format("{}: {}, ", in.name, in.type);
      inner += fmt::format("{}{}: {}", inner.empty() ? "" : ", ", in.name, in.type);
      call += ", " + in.name;
      grads += ", %g_" + in.name;
      if (!in.trained) continue;
      main += fmt::format("m_{}: {}, ", in.name, in.type);
      made +=
          fmt::format("  %u_{0}, %v_{0} = ApplyMomentum({0}, m_{0}, lr, %g_{0}, lr)\n", in.name);
      results += fmt::format(", {0}, {0}", in.type);
      returned += fmt::format(", %u_{0}, %v_{0}", in.name);
      ++trained;
    }
    std::string text = fmt::format(
        "graph main({}lr: Float32[]) -> ({}) {{\n  %f = Partial(graph=@f)\n  %d = Vjp(%f)\n"
        "  %l, %b = Call(%d{})\n  %one = Constant(Float32[] [1.0])\n  %box{} = Call(%b, %one)\n{}"
        "  return {}\n}}\ngraph f({}) -> (Float32[]) {{\n{}  return {}\n}}\n",
        main, results, call, grads, made, returned, inner, body_, loss);
    return Parse(text);
  }

 private:
  struct In {
    std::string name, type;
    bool trained;
  };
  std::string Input(const std::string& name, const std::string& type, bool trained) {
    inputs_.push_back({name, type, trained});
    return name;
  }
  std::vector<In> inputs_;
  std::string body_;
  int count_ = 0;
};

// Inputs of main are Parameters if they are weights (w...), moments or the rate.
inline PlanOptions OptionsFor(const Module& module, const Mesh& mesh) {
  PlanOptions options;
  options.mesh = mesh;
  for (const Var& v : module.main()->inputs()) {
    char first = v.node->name[0];
    options.parameters.push_back(first == 'w' || first == 'm' || first == 'l');
  }
  return options;
}

struct Sizes {
  int64_t batch = 4, length = 512, hidden = 1024, inner = 4096, heads = 16, vocabulary = 32000;
  int layers = 1;
  bool head = true;  // an embedding before, logits and a loss behind
};

class Transformer {
 public:
  explicit Transformer(const Sizes& sizes) : s_(sizes) {}

  std::unique_ptr<Module> Step() {
    std::string x;
    if (s_.head) {
      std::string ids = n_.Data("ids", fmt::format("Int32[{}, {}]", s_.batch, s_.length));
      std::string table = Weight("w_embedding", s_.vocabulary, s_.hidden);
      x = n_.Op("Gather({}, {}, axis=0)", table, ids);
    } else {
      x = n_.Data("x", fmt::format("Float32[{}, {}, {}]", s_.batch, s_.length, s_.hidden));
    }
    n_.Data("cos", fmt::format("Float32[{}, {}]", s_.length, s_.hidden / s_.heads));
    n_.Data("sin", fmt::format("Float32[{}, {}]", s_.length, s_.hidden / s_.heads));
    for (int i = 0; i < s_.layers; ++i) x = Block(i, x);
    if (!s_.head) return n_.Step(n_.Op("ReduceMean({}, axis=[], keep_dims=false)", x));
    x = Norm("w_last", x);
    std::string logits = Dense("w_head", Flat(x, s_.hidden), s_.hidden, s_.vocabulary);
    std::string labels = n_.Data("labels", fmt::format("Int32[{}]", s_.batch * s_.length));
    std::string ones = n_.Data("ones", fmt::format("Float32[{}]", s_.vocabulary));
    return n_.Step(n_.Op(fmt::format("CrossEntropy({}, {}, {})", logits, labels, ones), 2));
  }

 private:
  std::string Weight(const std::string& name, int64_t rows, int64_t columns) {
    return n_.Parameter(name, fmt::format("Float32[{}, {}]", rows, columns));
  }
  std::string Flat(const std::string& x, int64_t width) {
    return n_.Op("Reshape({}, shape=[-1, {}])", x, width);
  }
  std::string Dense(const std::string& name, const std::string& x, int64_t from, int64_t to) {
    return n_.Op("MatMul({}, {}, transpose_b=true)", x, Weight(name, to, from));
  }
  std::string Norm(const std::string& name, const std::string& x) {
    std::string gain = n_.Parameter(name + "_gain", fmt::format("Float32[{}]", s_.hidden));
    std::string bias = n_.Parameter(name + "_bias", fmt::format("Float32[{}]", s_.hidden));
    return n_.Op(fmt::format("LayerNorm({}, {}, {}, begin_norm_axis=-1, begin_params_axis=-1)", x,
                             gain, bias),
                 3);
  }
  std::string Heads(const std::string& name, const std::string& x, bool turns) {
    std::string y = Dense(name, Flat(x, s_.hidden), s_.hidden, s_.hidden);
    y = n_.Op("Reshape({}, shape=[{}, {}, {}])", y, s_.batch, s_.length, s_.hidden);
    y = n_.Op("Reshape({}, shape=[{}, {}, {}, {}])", y, s_.batch, s_.length, s_.heads,
              s_.hidden / s_.heads);
    y = n_.Op("Transpose({}, perm=[0, 2, 1, 3])", y);
    if (!turns) return y;
    std::string a = n_.Op("Mul({}, cos)", y), b = n_.Op("Mul({}, sin)", n_.Op("Neg({})", y));
    return n_.Op("Add({}, {})", a, b);
  }
  std::string Back(const std::string& x) {
    return n_.Op("Reshape({}, shape=[{}, {}, {}])", x, s_.batch, s_.length, s_.hidden);
  }
  std::string Block(int i, const std::string& x) {
    std::string w = fmt::format("w{}", i);
    std::string y = Norm(w + "_norm1", x);
    std::string q = Heads(w + "_q", y, true), k = Heads(w + "_k", y, true);
    std::string v = Heads(w + "_v", y, false);
    std::string scores =
        n_.Op("BatchMatMul({}, {})", q, n_.Op("Transpose({}, perm=[0, 1, 3, 2])", k));
    std::string p =
        n_.Op("Softmax({})", n_.Op("Mul({}, {})", scores, n_.Op("Constant(Float32[] [0.125])")));
    std::string c = n_.Op("Transpose({}, perm=[0, 2, 1, 3])", n_.Op("BatchMatMul({}, {})", p, v));
    std::string o = Back(Dense(w + "_o", Flat(Back(c), s_.hidden), s_.hidden, s_.hidden));
    std::string z = n_.Op("Add({}, {})", x, o);
    std::string u = Norm(w + "_norm2", z);
    std::string gate =
        n_.Op("SiLU({})", Dense(w + "_gate", Flat(u, s_.hidden), s_.hidden, s_.inner));
    std::string up = Dense(w + "_up", Flat(u, s_.hidden), s_.hidden, s_.inner);
    std::string down = Dense(w + "_down", n_.Op("Mul({}, {})", gate, up), s_.inner, s_.hidden);
    return n_.Op("Add({}, {})", z, Back(down));
  }

  Sizes s_;
  Network n_;
};

inline Mesh MeshOf(const std::vector<int64_t>& sizes, double alpha = 5e-6, double beta = 1e-10) {
  Mesh mesh;
  for (size_t i = 0; i < sizes.size(); ++i)
    mesh.axes.push_back({std::string(1, static_cast<char>('a' + i)), sizes[i], alpha, beta});
  return mesh;
}

// An accelerator of today.
inline Device FastDevice() { return {2e14, 1.5e12, 3e-6, int64_t{64} << 30}; }

// "op inputs -> outputs" for the nodes of an op in one graph, in order.
inline std::vector<std::string> Layouts(const Module& module, const Plan& plan,
                                        std::string_view graph, std::string_view op) {
  std::vector<std::string> lines;
  for (const auto& g : module.graphs()) {
    if (g->name() != graph) continue;
    for (const Node* node : g->nodes()) {
      if (!node->op || node->op->name != op) continue;
      std::string line;
      for (const Layout& l : plan.of(node).inputs) line += l.ToString(plan.mesh) + " ";
      line += "->";
      for (const Layout& l : plan.of(node).outputs) line += " " + l.ToString(plan.mesh);
      lines.push_back(line);
    }
  }
  return lines;
}

}  // namespace ms::parallel::testing
