#include "driver/fingerprint.h"

#include <algorithm>
#include <unordered_map>

#include "ir/op.h"

namespace ms {
namespace {

class Writer {
 public:
  Fingerprint Run(const Module& module) {
    Number(module.main());
    for (size_t i = 0; i < graphs_.size(); ++i) WriteGraph(*graphs_[i]);
    size_t hash = std::hash<std::string>()(result_.text);
    for (const Tensor& t : result_.constants) {
      size_t sampled = std::min<size_t>(t.bytes(), 4096);
      std::string_view head(static_cast<const char*>(t.raw()), sampled);
      hash = HashCombine(hash, std::hash<std::string_view>()(head));
    }
    result_.hash = hash;
    return std::move(result_);
  }

 private:
  template <class T>
  void Put(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    result_.text.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  // Graphs are numbered in the order in which they are met.
  uint32_t Number(const Graph* graph) {
    if (!graph) return ~0u;
    auto [it, fresh] = numbers_.try_emplace(graph, static_cast<uint32_t>(graphs_.size()));
    if (fresh) graphs_.push_back(graph);
    return it->second;
  }

  void WriteGraph(const Graph& graph) {
    Put(static_cast<uint32_t>(graph.captures().size()));
    Put(static_cast<uint32_t>(graph.parameters().size()));
    for (const Node* node : graph.captures()) Put(node->id);
    for (const Node* node : graph.parameters()) Put(node->id);
    Put(static_cast<uint32_t>(graph.nodes().size()));
    for (const Node* node : graph.nodes()) WriteNode(*node);
    Put(static_cast<uint32_t>(graph.outputs().size()));
    for (const Var& v : graph.outputs()) WriteVar(v);
    Put(static_cast<uint32_t>(graph.updates.size()));
    for (auto [output, input] : graph.updates) {
      Put(output);
      Put(input);
    }
    Put(Number(graph.loop.body));
    Put(Number(graph.loop.done));
    Put(graph.loop.trip_count);
  }

  void WriteNode(const Node& node) {
    Put(node.kind);
    Put(node.span);
    Put(node.op);
    Put(static_cast<uint32_t>(node.inputs.size()));
    for (const Var& v : node.inputs) WriteVar(v);
    if (node.attrs) {
      for (const Attr& attr : *node.attrs) WriteAttr(attr);
    }
    Put(static_cast<uint32_t>(node.outputs.size()));
    for (const Type& type : node.outputs) WriteKnownType(type);
    if (node.kind == NodeKind::kConstant) result_.constants.push_back(node.value);
  }

  void WriteVar(const Var& v) {
    Put(v.node->id);
    Put(v.index);
  }

  void WriteAttr(const Attr& attr) {
    Put(static_cast<uint8_t>(attr.index()));
    std::visit(
        [&](const auto& x) {
          using T = std::decay_t<decltype(x)>;
          if constexpr (std::is_same_v<T, std::monostate>)
            return;
          else if constexpr (std::is_same_v<T, Tensor>)
            result_.constants.push_back(x);
          else if constexpr (std::is_same_v<T, Graph*>)
            Put(Number(x));
          else if constexpr (std::is_same_v<T, std::string>) {
            Put(x.size());
            result_.text += x;
          } else if constexpr (std::is_same_v<T, Ints> || std::is_same_v<T, std::vector<double>>) {
            Put(x.size());
            for (auto item : x) Put(item);
          } else
            Put(x);
        },
        attr);
  }

  // In full at the first time, by number from then on: most nodes are of few types.
  void WriteKnownType(const Type& type) {
    auto [it, fresh] = types_.try_emplace(type, static_cast<uint32_t>(types_.size()));
    Put(it->second);
    if (fresh) WriteType(type);
  }

  void WriteType(const Type& type) {
    Put(type.kind());
    if (type.is_tensor()) {
      Put(type.dtype());
      Put(type.weak());
      Put(static_cast<uint8_t>(type.shape().rank()));
      for (int64_t size : type.shape().codes()) Put(size);
    } else if (type.is_function()) {
      for (const Types* types : {&type.function().parameters, &type.function().results}) {
        Put(static_cast<uint32_t>(types->size()));
        for (const Type& t : *types) WriteType(t);
      }
    }
  }

  struct TypeHash {
    size_t operator()(const Type& type) const { return type.Hash(); }
  };

  Fingerprint result_;
  std::unordered_map<Type, uint32_t, TypeHash> types_;
  std::vector<const Graph*> graphs_;
  std::unordered_map<const Graph*, uint32_t> numbers_;
};

}  // namespace

bool Fingerprint::operator==(const Fingerprint& other) const {
  if (hash != other.hash || text != other.text || constants.size() != other.constants.size())
    return false;
  for (size_t i = 0; i < constants.size(); ++i) {
    if (!Equal(Attr(constants[i]), Attr(other.constants[i]))) return false;
  }
  return true;
}

Fingerprint FingerprintOf(const Module& module) { return Writer().Run(module); }

uint32_t OutlineOf(const Module& module) {
  std::vector<const Graph*> graphs{module.main()};  // in the order in which they are met
  std::unordered_map<const Node*, size_t> numbers;  // so, too: ids may have gaps
  auto meet = [&](const Graph* graph) {
    if (graph && !std::ranges::count(graphs, graph)) graphs.push_back(graph);
  };
  std::string text;
  for (size_t i = 0; i < graphs.size(); ++i) {
    const Graph& graph = *graphs[i];
    text += fmt::format("graph {} {}\n", graph.parameters().size(), graph.outputs().size());
    for (const auto* nodes : {&graph.captures(), &graph.parameters(), &graph.nodes()}) {
      for (const Node* node : *nodes) numbers.try_emplace(node, numbers.size());
    }
    for (const Node* node : graph.nodes()) {
      text += node->op ? std::string_view(node->op->name) : std::string_view("value");
      for (const Var& v : node->inputs) text += fmt::format(" {}.{}", numbers[v.node], v.index);
      for (const Type& type : node->outputs) text += fmt::format(" {}", type);
      text += '\n';
      for (const Attr& attr : node->attrs ? *node->attrs : Attrs()) {
        if (const auto* inner = std::get_if<Graph*>(&attr)) meet(*inner);
      }
    }
    meet(graph.loop.body);
    meet(graph.loop.done);
  }
  return static_cast<uint32_t>(std::hash<std::string>()(text));
}

}  // namespace ms
