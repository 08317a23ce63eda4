#include "ir/verify.h"

#include <cstdlib>
#include <unordered_set>

#include "ir/control.h"
#include "ir/text.h"

namespace ms {
namespace {

// Raised inside; Verify adds the graph's text.
struct Problem {
  const Graph* graph;
  const Node* node;  // may be null
  std::string what;
};

class GraphCheck {
 public:
  GraphCheck(const Graph& graph, const VerifyOptions& options,
             const std::unordered_set<const Graph*>& module)
      : graph_(graph), options_(options), module_(module) {}

  void Run() {
    const auto& nodes = graph_.nodes();
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i]->graph != &graph_ || nodes[i]->id != i)
        Fail(nodes[i], "the node is not at its place");
    }
    CheckInputs();
    for (const Node* node : nodes) CheckNode(*node);
    if (!graph_.finished()) Fail(nullptr, "its outputs are not set");
    for (const Var& v : graph_.outputs()) CheckVar(v, nodes.size(), nullptr);
    CheckUpdates();
    if (graph_.loop.body || graph_.loop.done) CheckLoop();
  }

 private:
  template <class... Args>
  [[noreturn]] void Fail(const Node* node, fmt::format_string<Args...> format, Args&&... args) {
    throw Problem{&graph_, node, fmt::format(format, std::forward<Args>(args)...)};
  }

  void CheckInputs() {
    std::unordered_set<const Node*> listed;
    for (const Var& v : graph_.inputs()) {
      bool here = v.node->graph == &graph_ && v.node->id < graph_.nodes().size() &&
                  graph_.nodes()[v.node->id] == v.node;
      if (!here || v.node->kind != NodeKind::kParameter)
        Fail(v.node, "an input is not a parameter node of it");
      if (!listed.insert(v.node).second) Fail(v.node, "an input is listed twice");
    }
    for (const Node* node : graph_.nodes()) {
      if (node->kind == NodeKind::kParameter && !listed.contains(node))
        Fail(node, "a parameter is not among its inputs");
    }
  }

  void CheckVar(const Var& v, size_t before, const Node* user) {
    if (!v) Fail(user, "a null value is used");
    if (v.node->graph != &graph_) Fail(user, "a value of another graph is used");
    if (v.node->id >= before) Fail(user, "a value is used before it is made");
    if (graph_.nodes()[v.node->id] != v.node) Fail(user, "a value is used whose node was dropped");
    if (v.index >= v.node->outputs.size())
      Fail(user, "output {} of a node with {} is used", v.index, v.node->outputs.size());
  }

  void CheckNode(const Node& node) {
    switch (node.kind) {
      case NodeKind::kParameter:
        if (node.outputs.size() != 1 || !node.inputs.empty())
          Fail(&node, "a parameter has one output and no inputs");
        return;
      case NodeKind::kConstant:
        if (!node.value.defined() || node.outputs.size() != 1)
          Fail(&node, "a constant has one value");
        if (!(node.outputs[0].Strong() == Type(node.value.dtype(), node.value.shape()))) {
          Fail(&node, "the constant is {}, but typed {}", node.value.ToString(), node.outputs[0]);
        }
        return;
      case NodeKind::kApply:
        break;
    }
    if (!node.op) Fail(&node, "the node has no op");
    for (const Var& v : node.inputs) CheckVar(v, node.id, &node);
    CheckAttributes(node);
    CheckTypes(node);
    if (options_.level >= Level::kNoGradLeft && IsTransform(node))
      Fail(&node, "a transform is left");
    if (options_.level >= Level::kNoGradLeft && node.op == Control().custom_grad)
      Fail(&node, "a CustomGrad is left");
    if (options_.level >= Level::kLowered && !node.op->structural && options_.refusal) {
      if (std::string why = options_.refusal(node); !why.empty()) Fail(&node, "no kernel: {}", why);
    }
  }

  void CheckAttributes(const Node& node) {
    size_t count = node.attrs ? node.attrs->size() : 0;
    const auto& defs = node.op->attributes;
    if (count != defs.size())
      Fail(&node, "it has {} attributes, but '{}' declares {}", count, node.op->name, defs.size());
    for (size_t i = 0; i < count; ++i) {
      const Attr& value = (*node.attrs)[i];
      bool fits = value.index() == defs[i].kind || defs[i].kind == 0 ||
                  (defs[i].optional && value.index() == 0);
      if (!fits) Fail(&node, "the attribute '{}' is of the wrong kind", defs[i].name);
      const auto* g = std::get_if<Graph*>(&value);
      if (g && !module_.contains(*g))
        Fail(&node, "the attribute '{}' refers to no graph of the module", defs[i].name);
    }
  }

  void CheckTypes(const Node& node) {
    static const Attrs kNone;
    Types inputs, inferred;
    for (const Var& v : node.inputs) inputs.push_back(v.type());
    try {
      inferred = Infer(*node.op, inputs, node.attrs ? *node.attrs : kNone);
    } catch (const Error& error) {
      Fail(&node, "its op refuses it: {}", error.message());
    }
    if (!(inferred == node.outputs)) {
      Fail(&node, "it is typed {}, but is {}", ToString(node.outputs), ToString(inferred));
    }
  }

  void CheckUpdates() {
    Vars inputs = graph_.inputs();
    for (auto [output, input] : graph_.updates) {
      bool inside = output >= 0 && input >= 0 &&
                    static_cast<size_t>(output) < graph_.outputs().size() &&
                    static_cast<size_t>(input) < inputs.size();
      if (!inside) Fail(nullptr, "the update {}={} names no output or no input", output, input);
      const Type& from = graph_.outputs()[output].type();
      if (!(from.Strong() == inputs[input].type().Strong())) {
        Fail(nullptr, "the update {}={} gives {} to {}", output, input, from, inputs[input].type());
      }
    }
  }

  void CheckLoop() {
    const LoopTag& loop = graph_.loop;
    if (!module_.contains(loop.body) || !module_.contains(loop.done))
      Fail(nullptr, "the loop's parts are not in the module");
    if (loop.trip_count < -1) Fail(nullptr, "the trip count is {}", loop.trip_count);
    if (!HasLoopShape(graph_)) Fail(nullptr, "it is tagged as a loop, but not built as one");
  }

  const Graph& graph_;
  const VerifyOptions& options_;
  const std::unordered_set<const Graph*>& module_;
};

// The function that `graph` calls last, when it returns just what that call returns.
const Node* TailFunction(const Graph& graph) {
  if (graph.nodes().empty()) return nullptr;
  // Without results, what counts are the effects: the call is the last node.
  Node* call = graph.outputs().empty() ? graph.nodes().back() : graph.outputs()[0].node;
  if (call->op != Control().call || graph.outputs().size() != call->outputs.size()) return nullptr;
  for (uint32_t i = 0; i < call->outputs.size(); ++i) {
    if (!(graph.outputs()[i] == Var{call, i})) return nullptr;
  }
  return call->inputs[0].node;
}

// The text of the graph; of a long one, the lines around the node.
std::string Excerpt(const Problem& problem) {
  constexpr size_t kLines = 15;
  TensorTable large;
  std::string text = Print(*problem.graph, {.spans = true, .types = true, .large = &large});
  std::vector<std::string_view> lines;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(std::string_view(text).substr(at, end - at));
    at = end + 1;
  }
  size_t place = 0;
  for (const Node* node : problem.graph->nodes()) {
    if (node->kind != NodeKind::kParameter) ++place;
    if (node == problem.node) break;
  }
  std::string excerpt;
  for (size_t i = 0; i < lines.size(); ++i) {
    bool near =
        lines.size() <= 4 * kLines || i == 0 || (i + kLines >= place && i <= place + kLines);
    if (!near) continue;
    excerpt +=
        fmt::format("{} {}\n", i == place && problem.node ? '>' : ' ', lines[i].substr(0, 400));
  }
  return excerpt;
}

bool& VerifyingFlag() {
  static bool on = [] {
    const char* value = std::getenv("MS_VERIFY");
    return value && std::string_view(value) == "1";
  }();
  return on;
}

}  // namespace

void Verify(const Module& module, const VerifyOptions& options) {
  std::unordered_set<const Graph*> graphs;
  for (const auto& graph : module.graphs()) graphs.insert(graph.get());
  try {
    if (!module.main() || !graphs.contains(module.main()))
      throw Problem{nullptr, nullptr, "the module has no main graph"};
    if (!module.main()->captures().empty())
      throw Problem{module.main(), nullptr, "the main graph has captures"};
    for (const auto& graph : module.graphs()) GraphCheck(*graph, options, graphs).Run();
  } catch (const Problem& problem) {
    uint32_t span = problem.node ? problem.node->span : 0;
    std::string where =
        problem.graph ? fmt::format("in the graph '{}', ", problem.graph->name()) : "";
    std::string text = problem.graph ? Excerpt(problem) : "";
    throw Error(ErrorKind::kInternal,
                fmt::format("{}{}{}{}\n{}", where, problem.what, options.stage.empty() ? "" : " ",
                            options.stage, text))
        .WithSpan(span);
  }
}

bool HasLoopShape(const Graph& graph) {
  const LoopTag& loop = graph.loop;
  const Node* function = TailFunction(graph);
  if (!function || function->op != Control().select) return false;
  if (PartialGraph(function->inputs[1].node) != loop.body ||
      PartialGraph(function->inputs[2].node) != loop.done)
    return false;
  const Node* again = TailFunction(*loop.body);
  return again && PartialGraph(again) == &graph;
}

bool Verifying() { return VerifyingFlag(); }
void SetVerifying(bool on) { VerifyingFlag() = on; }

}  // namespace ms
