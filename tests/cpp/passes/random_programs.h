// Random programs over numbers: arithmetic, branches, closures, loops, functions as arguments,
// effects.
#pragma once

#include <random>

#include "ir/testing.h"

namespace ms::testing {

class RandomProgram {
 public:
  explicit RandomProgram(unsigned seed) : random_(seed) {}

  std::unique_ptr<Module> Make() {
    module_ = std::make_unique<Module>();
    Graph* main = module_->NewGraph("main");
    module_->set_main(main);
    Vars pool;
    for (const char* name : {"x", "y"}) pool.push_back({main->AddParameter(kNumber0, name), 0});
    Fill(main, pool, 0, 3);
    main->SetOutputs({pool[pool.size() - 1], pool[pool.size() - 2]});
    return std::move(module_);
  }

 private:
  inline static const Type kNumber0{DType::kFloat64, Shape{}};

  size_t Pick(size_t n) { return random_() % n; }
  Var Any(const Vars& pool) {
    return pool[Pick(2) == 0 ? pool.size() - 1 - Pick(std::min<size_t>(3, pool.size()))
                             : Pick(pool.size())];
  }
  static Var Apply(GraphEmitter& emitter, const char* op, std::initializer_list<Var> inputs,
                   const NamedAttrs& attrs = {}) {
    return emitter.Emit(Ops().Get(op), Vars(inputs), MakeAttrs(Ops().Get(op), attrs))[0];
  }
  Var Number(GraphEmitter& emitter) {
    const double values[] = {0, 1, -1, 0.5, 2, 0.3};
    double value = values[Pick(6)];
    if (Pick(3) == 0) return emitter.Full(value, kNumber0).var;
    return emitter.Constant(Tensor::Scalar(value), false);
  }

  // Adds values to the pool of a graph.
  void Fill(Graph* graph, Vars& pool, int depth, int calls) {
    GraphEmitter emitter(graph);
    for (size_t i = 4 + Pick(6); i > 0; --i) {
      pool.push_back(Arithmetic(emitter, pool));
      if (depth < 3 && calls > 0 && Pick(3) == 0) {
        Branchy(emitter, pool, depth);
        --calls;
      }
    }
  }

  Var Arithmetic(GraphEmitter& emitter, const Vars& pool) {
    const char* binary[] = {"Add", "Sub", "Mul"};
    const char* unary[] = {"Neg", "Sin", "Cos", "Identity"};
    switch (Pick(8)) {
      case 0:
        return Number(emitter);
      case 1:
      case 2:
        return Apply(emitter, unary[Pick(4)], {Any(pool)});
      case 3:
        return Apply(emitter, "Reshape", {Any(pool)}, {{"shape", Ints{}}});
      case 4: {
        Var dropped = Apply(emitter, "Dropout", {Any(pool)},
                            {{"keep_prob", 0.001 * static_cast<double>(++effects_)}});
        return Pick(2) == 0 ? dropped : Any(pool);
      }
      default:
        return Apply(emitter, binary[Pick(3)], {Any(pool), Any(pool)});
    }
  }

  // Keeps numbers small, whatever happened to them.
  Var Bounded(GraphEmitter& emitter, const Var& v) { return Apply(emitter, "Sin", {v}); }

  Graph* Function(size_t captures, size_t parameters, size_t results, int depth) {
    Graph* graph = module_->NewGraph("f");
    Vars pool;
    for (size_t i = 0; i < captures; ++i)
      pool.push_back({graph->AddParameter(kNumber0, "c", true), 0});
    for (size_t i = 0; i < parameters; ++i) pool.push_back({graph->AddParameter(kNumber0, "p"), 0});
    if (pool.empty()) {
      GraphEmitter emitter(graph);
      pool.push_back(Number(emitter));
    }
    Fill(graph, pool, depth, 1);
    GraphEmitter emitter(graph);
    Vars outputs;
    for (size_t i = 0; i < results; ++i) outputs.push_back(Bounded(emitter, Any(pool)));
    graph->SetOutputs(outputs);
    return graph;
  }

  Vars Some(const Vars& pool, size_t count) {
    Vars some;
    for (size_t i = 0; i < count; ++i) some.push_back(Any(pool));
    return some;
  }

  Var Closure(GraphEmitter& emitter, const Vars& pool, size_t parameters, size_t results,
              int depth) {
    size_t captures = Pick(3);
    return emitter.Partial(Function(captures, parameters, results, depth + 1),
                           Some(pool, captures));
  }

  void Branchy(GraphEmitter& emitter, Vars& pool, int depth) {
    size_t parameters = Pick(3), results = 1 + Pick(2);
    Var f = Closure(emitter, pool, parameters, results, depth);
    if (Pick(3) != 0) {
      Var condition =
          Apply(emitter, "Less", {Any(pool), Pick(4) == 0 ? Any(pool) : Number(emitter)});
      f = emitter.Switch(condition, f, Closure(emitter, pool, parameters, results, depth));
    }
    if (Pick(4) == 0)
      f = emitter.Partial(Twice(f, parameters, results), {f});  // a function captured by another
    size_t calls = 1 + Pick(2);
    for (size_t i = 0; i < calls; ++i) {
      for (const Var& v : emitter.CallFunction(f, Some(pool, parameters))) pool.push_back(v);
    }
    if (Pick(3) == 0) pool.push_back(Loop(emitter, pool, depth));
  }

  // g(p...) = f(p...) plus a second call of f.
  Graph* Twice(const Var& f, size_t parameters, size_t results) {
    Graph* graph = module_->NewGraph("twice");
    GraphEmitter emitter(graph);
    Var function{graph->AddParameter(f.type(), "f", true), 0};
    Vars pool;
    for (size_t i = 0; i < parameters; ++i) pool.push_back({graph->AddParameter(kNumber0, "p"), 0});
    Vars first = emitter.CallFunction(function, pool),
         second = emitter.CallFunction(function, pool);
    Vars outputs;
    for (size_t i = 0; i < results; ++i)
      outputs.push_back(Apply(emitter, "Add", {first[i], second[i]}));
    graph->SetOutputs(outputs);
    return graph;
  }

  // while i > 0: s, t = f(s, t); i = i - 1
  Var Loop(GraphEmitter& outer, const Vars& pool, int depth) {
    Graph* loop = module_->NewGraph("loop");
    Graph* body = module_->NewGraph("body");
    Graph* done = module_->NewGraph("done");
    loop->DeclareOutputTypes({kNumber0, kNumber0});
    Graph* step = Function(0, 3, 2, depth + 1);
    auto begin = [&](Graph* g) {
      Vars in{{g->AddParameter(kNumber0, "k", true), 0}};
      for (const char* name : {"s", "t", "i"}) in.push_back({g->AddParameter(kNumber0, name), 0});
      return in;
    };
    Vars head = begin(loop);
    Vars in = begin(done);
    done->SetOutputs({in[1], in[2]});
    in = begin(body);
    GraphEmitter b(body);
    Vars next = b.CallFunction(b.Partial(step, {}), {in[0], in[1], in[2]});
    Var less = Apply(b, "Sub", {in[3], b.Constant(Tensor::Scalar(1.0), false)});
    body->SetOutputs(b.CallFunction(b.Partial(loop, {in[0]}), {next[0], next[1], less}));
    in = head;
    GraphEmitter l(loop);
    Var condition = Apply(l, "Greater", {in[3], l.Constant(Tensor::Scalar(0.5), false)});
    Var arm = l.Switch(condition, l.Partial(body, {in[0]}), l.Partial(done, {in[0]}));
    loop->SetOutputs(l.CallFunction(arm, {in[1], in[2], in[3]}));
    loop->loop = {body, done, -1};
    Var count = outer.Constant(Tensor::Scalar(static_cast<double>(Pick(4))), false);
    return outer.CallFunction(outer.Partial(loop, {Any(pool)}),
                              {Any(pool), Any(pool), count})[Pick(2)];
  }

  std::mt19937 random_;
  std::unique_ptr<Module> module_;
  int effects_ = 0;
};

}  // namespace ms::testing
