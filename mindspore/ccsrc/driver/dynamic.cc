#include "driver/dynamic.h"

#include <unordered_map>

#include "driver/lower.h"
#include "ir/op.h"

namespace ms {
namespace {

constexpr size_t kPlans = 16;  // that one module keeps

bool HasSymbols(const Type& type) {
  if (type.is_tensor()) return type.shape().symbolic();
  if (!type.is_function()) return false;
  auto any = [](const Types& types) {
    return std::any_of(types.begin(), types.end(), [](const Type& t) { return HasSymbols(t); });
  };
  return any(type.function().parameters) || any(type.function().results);
}

class Specialiser {
 public:
  Specialiser(const Module& from, std::span<const int64_t> sizes) : from_(from), sizes_(sizes) {}

  std::shared_ptr<Module> Run() {
    auto module = std::make_shared<Module>();
    for (const auto& graph : from_.graphs()) graphs_[graph.get()] = module->NewGraph(graph->name());
    module->set_main(graphs_.at(from_.main()));
    for (const auto& graph : from_.graphs()) CopyGraph(*graph, graphs_.at(graph.get()));
    return module;
  }

 private:
  Dim Value(int64_t code) const { return Dim::FromCode(code).Evaluate(sizes_); }

  Shape Known(const Shape& shape) const {
    if (!shape.symbolic()) return shape;
    Dims dims = shape.dims();
    for (Dim& d : dims) d = d.Evaluate(sizes_);
    return dims;
  }

  Type Known(const Type& type) const {
    if (!HasSymbols(type)) return type;
    if (type.is_tensor()) return Type(type.dtype(), Known(type.shape()), type.weak());
    return Type::Function(Known(type.function().parameters), Known(type.function().results));
  }

  Types Known(const Types& types) const {
    Types known;
    for (const Type& t : types) known.push_back(Known(t));
    return known;
  }

  AttrsRef Known(const AttrsRef& attrs) const {
    bool graphs = attrs && std::any_of(attrs->begin(), attrs->end(), [](const Attr& a) {
                    return std::holds_alternative<Graph*>(a);
                  });
    if (!attrs || (!graphs && !ms::HasSymbols(*attrs))) return attrs;
    auto known = std::make_shared<Attrs>(*attrs);
    for (Attr& attr : *known) {
      if (auto* graph = std::get_if<Graph*>(&attr)) {
        if (*graph) *graph = graphs_.at(*graph);
      } else if (auto* number = std::get_if<int64_t>(&attr)) {
        *number = Value(*number).code();
      } else if (auto* list = std::get_if<Ints>(&attr)) {
        for (int64_t& item : *list) item = Value(item).code();
      }
    }
    return known;
  }

  // The number that a SizeScalar node stands for, as the emitter makes it where the size is known.
  static Tensor ScalarOf(const Node& node, double size) {
    double divisor = node.attr<double>("divisor");
    bool inverse = node.attr<bool>("inverse");
    return Tensor::Full(node.attr<DType>("dtype"), Shape{},
                        inverse ? divisor / size : size / divisor);
  }

  void CopyNode(const Node& node, Graph* to) {
    static const OpDef& size_scalar = Ops().Get("SizeScalar");
    Node* copy = nullptr;
    if (node.kind == NodeKind::kConstant) {
      copy = to->AddConstant(node.value, node.outputs[0].weak());
    } else if (node.op == &size_scalar) {
      auto size = static_cast<double>(Value(node.attr<int64_t>("size")).value());
      copy = to->AddConstant(ScalarOf(node, size), node.outputs[0].weak());
    } else {
      Vars inputs;
      for (const Var& v : node.inputs) inputs.push_back({nodes_.at(v.node), v.index});
      copy = to->AddApply(*node.op, std::move(inputs), Known(node.attrs), Known(node.outputs),
                          node.span);
    }
    copy->span = node.span;
    nodes_[&node] = copy;
  }

  void CopyGraph(const Graph& graph, Graph* to) {
    for (const Node* node : graph.captures())
      nodes_[node] = to->AddParameter(Known(node->outputs[0]), node->name, true);
    for (const Node* node : graph.parameters())
      nodes_[node] = to->AddParameter(Known(node->outputs[0]), node->name);
    for (const Node* node : graph.nodes()) {
      if (node->kind != NodeKind::kParameter) CopyNode(*node, to);
    }
    Vars outputs;
    for (const Var& v : graph.outputs()) outputs.push_back({nodes_.at(v.node), v.index});
    to->SetOutputs(std::move(outputs));
    to->updates = graph.updates;
    to->loop = graph.loop;
    if (graph.loop.body) to->loop.body = graphs_.at(graph.loop.body);
    if (graph.loop.done) to->loop.done = graphs_.at(graph.loop.done);
  }

  const Module& from_;
  std::span<const int64_t> sizes_;
  std::unordered_map<const Graph*, Graph*> graphs_;
  std::unordered_map<const Node*, Node*> nodes_;
};

// The number of a symbol; -1: the size is known.
int SymbolOf(Dim dim, size_t symbols) {
  if (!dim.symbolic()) return -1;
  for (int i = 0; i < static_cast<int>(symbols); ++i) {
    if (dim.Same(Dim::Symbol(i))) return i;
  }
  Throw(ErrorKind::kInternal, "an input must have plain symbols as sizes, but got {}", dim);
}

}  // namespace

bool HasSymbols(const Module& module) {
  Types inputs = module.main()->InputTypes();
  return std::any_of(inputs.begin(), inputs.end(), [](const Type& t) { return HasSymbols(t); });
}

std::shared_ptr<Module> Specialise(const Module& module, std::span<const int64_t> sizes) {
  return Specialiser(module, sizes).Run();
}

DynamicProgram::DynamicProgram(std::shared_ptr<const Module> module, DimScope scope,
                               const Backend& backend, PassOptions passes, size_t memory_limit)
    : module_(std::move(module)),
      scope_(std::move(scope)),
      backend_(backend),
      passes_(std::move(passes)),
      memory_limit_(memory_limit),
      input_types_(module_->main()->InputTypes()) {
  for (const Type& type : input_types_) {
    auto& symbols = symbols_.emplace_back();
    for (Dim dim : type.shape().dims()) symbols.push_back(SymbolOf(dim, scope_.hints.size()));
  }
}

Ints DynamicProgram::Bind(std::span<const Tensor> inputs) const {
  Ints sizes(scope_.hints.size(), -1);
  if (inputs.size() != input_types_.size()) {
    Throw(ErrorKind::kInternal, "For '{}', the number of inputs must be {}, but got {}.",
          module_->main()->name(), input_types_.size(), inputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Type& type = input_types_[i];
    const Shape& shape = inputs[i].shape();
    auto name = [&] { return module_->main()->inputs()[i].node->name; };
    if (inputs[i].dtype() != type.dtype() || shape.rank() != type.shape().rank()) {
      Throw(ErrorKind::kValue, "'{}' must be {}, but got {}.", name(), type, inputs[i].ToString());
    }
    for (int d = 0; d < shape.rank(); ++d) {
      Dim expected = type.shape().dim(d);
      if (int symbol = symbols_[i][static_cast<size_t>(d)]; symbol >= 0) {
        int64_t& size = sizes[static_cast<size_t>(symbol)];
        if (size < 0) size = shape[d];
        expected = size;
      }
      if (!expected.Is(shape[d])) {
        Throw(ErrorKind::kValue, "dimension {} of '{}' must be {}, but got {}.", d, name(),
              expected, inputs[i].ToString());
      }
    }
  }
  // A symbol that no input has is not read.
  for (int64_t& size : sizes) size = std::max<int64_t>(size, 0);
  return sizes;
}

std::shared_ptr<const Program> DynamicProgram::ProgramFor(const Ints& sizes) const {
  {
    std::lock_guard lock(mutex_);
    if (auto program = Planned(sizes)) return program;
  }
  // Without the lock: it may take long, and may need the GIL.
  auto known = Specialise(*module_, sizes);
  LowerAndAccelerate(*known, backend_, passes_);
  auto program = BuildProgram(*known, backend_, memory_limit_);
  DumpPlan(*program);
  Plans dropped;
  std::lock_guard lock(mutex_);
  if (auto earlier = Planned(sizes)) return earlier;  // another thread was quicker
  ++planned_;
  plans_.emplace_front(sizes, program);
  if (plans_.size() > kPlans) dropped.splice(dropped.end(), plans_, std::prev(plans_.end()));
  return program;
}

std::shared_ptr<const Program> DynamicProgram::Planned(const Ints& sizes) const {
  for (auto it = plans_.begin(); it != plans_.end(); ++it) {
    if (it->first != sizes) continue;
    plans_.splice(plans_.begin(), plans_, it);
    return it->second;
  }
  return nullptr;
}

std::vector<std::string> DynamicProgram::Assumptions() const {
  std::vector<std::string> texts;
  for (const DimScope::Guard& g : scope_.guards) {
    texts.push_back(
        fmt::format("{}{} {} 0", g.answer ? "" : "not ", g.difference, g.equality ? "==" : ">"));
  }
  return texts;
}

size_t DynamicProgram::planned() const {
  std::lock_guard lock(mutex_);
  return planned_;
}

}  // namespace ms
