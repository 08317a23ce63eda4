#include "passes/parallel/explain.h"

#include <algorithm>

#include "ir/shard_rule.h"
#include "ir/users_span.h"
#include "passes/parallel/explain_text.h"
#include "passes/parallel/hints.h"

namespace ms::parallel {
namespace {

// "k by tp, m by dp"
std::string CutText(const Node& node, const std::vector<int>& factor_of_axis, const Mesh& mesh) {
  if (std::all_of(factor_of_axis.begin(), factor_of_axis.end(), [](int f) { return f < 0; }))
    return "";
  Types inputs;
  for (const Var& v : node.inputs) inputs.push_back(v.type());
  static const Attrs kNone;
  auto rule = ShardRuleOf(*node.op, inputs, node.attrs ? *node.attrs : kNone);
  std::string text;
  for (size_t axis = 0; axis < factor_of_axis.size(); ++axis) {
    int f = factor_of_axis[axis];
    if (f < 0) continue;
    text += fmt::format("{}{} by {}", text.empty() ? "" : ", ",
                        rule->factors[static_cast<size_t>(f)].name, mesh.axes[axis].name);
  }
  return text;
}

ExplainedNode ExplainNode(const Node& node, const Plan& plan, Redistributor* redistributor) {
  const NodePlan& chosen = plan.of(&node);
  ExplainedNode result;
  result.graph = node.graph->name();
  result.line = ShortSpan(UsersSpan(node.span));
  if (std::string layer = ShortSpan(node.span); layer != result.line) result.layer = layer;
  result.whole = chosen.whole;
  result.op = node.op->name;
  result.cut = CutText(node, chosen.factor_of_axis, plan.mesh);
  result.compute_seconds = chosen.compute_seconds;
  result.communication_seconds = chosen.communication_seconds;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    result.inputs.push_back(chosen.inputs[i].ToString(plan.mesh));
    const Type& type = node.inputs[i].type();
    if (!type.is_tensor() || (i > 0 && Hints::Waits(node))) continue;
    const Path& path = redistributor->Find(type, plan.LayoutOf(node.inputs[i]), chosen.inputs[i]);
    for (const Move& move : path.moves) {
      if (move.kind == Move::kSlice) continue;
      result.moves.push_back({static_cast<int>(i), std::string(Name(move.kind)),
                              AxesText(move.axes, plan.mesh), move.bytes, move.seconds});
    }
  }
  for (const Layout& l : chosen.outputs) result.outputs.push_back(l.ToString(plan.mesh));
  for (const Alternative& a : chosen.alternatives)
    result.alternatives.push_back({CutText(node, a.factor_of_axis, plan.mesh), a.more_seconds});
  return result;
}

}  // namespace

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      quoted += std::string("\\") + c;
    else if (static_cast<unsigned char>(c) < 32)
      quoted += fmt::format("\\u{:04x}", c);
    else
      quoted += c;
  }
  return quoted + "\"";
}

std::string Time(double seconds) {
  return seconds >= 1      ? fmt::format("{:.3g} s", seconds)
         : seconds >= 1e-3 ? fmt::format("{:.3g} ms", seconds * 1e3)
                           : fmt::format("{:.3g} us", seconds * 1e6);
}
std::string Size(int64_t bytes) {
  auto n = static_cast<double>(bytes);
  if (bytes >= int64_t{1} << 30) return fmt::format("{:.1f} GiB", n / (1 << 30));
  if (bytes >= 1 << 20) return fmt::format("{:.1f} MiB", n / (1 << 20));
  return bytes >= 1024 ? fmt::format("{:.1f} KiB", n / 1024) : fmt::format("{} B", bytes);
}

namespace {

std::string NodeJson(const ExplainedNode& n) {
  return fmt::format(
      R"({{"graph": {}, "line": {}, "layer": {}, "op": {}, "cut": {}, "whole_because": {}, )"
      R"("inputs": {}, "outputs": {}, )"
      R"("compute_seconds": {}, "communication_seconds": {}, "moves": {}, "alternatives": {}}})",
      Quoted(n.graph), Quoted(n.line), Quoted(n.layer), Quoted(n.op), Quoted(n.cut),
      Quoted(n.whole), JsonList(n.inputs, Quoted), JsonList(n.outputs, Quoted), n.compute_seconds,
      n.communication_seconds,
      JsonList(n.moves,
               [](const ExplainedMove& m) {
                 return fmt::format(
                     R"({{"input": {}, "what": {}, "axes": {}, "bytes": {}, "seconds": {}}})",
                     m.input, Quoted(m.what), Quoted(m.axes), m.bytes, m.seconds);
               }),
      JsonList(n.alternatives, [](const ExplainedAlternative& a) {
        return fmt::format(R"({{"cut": {}, "more_seconds": {}}})", Quoted(a.cut), a.more_seconds);
      }));
}

// What is known of plans that were not found.
std::string BoundText(const Explanation& e) {
  if (e.exact) return "no plan on these axes takes less";
  return fmt::format("no plan on these axes takes less than {}{}", Time(e.bound),
                     e.limited ? ", and the search left plans unseen to be done in time" : "");
}

std::string PartsText(const Explanation& e) {
  std::string text;
  for (const Part& p : e.parts) {
    std::string what = p.what + (p.back ? " backward" : "");
    std::string sent = p.axes.empty() ? "" : fmt::format(", {} along {}", Size(p.bytes), p.axes);
    text += fmt::format("  {:<24} {:>10}  {} times{}\n", what, Time(p.seconds), p.count, sent);
  }
  if (e.critical.seconds <= 0) return text;
  text += fmt::format(
      "with communication beside the computing {}: the longest chain computes {} and communicates "
      "{}\n",
      Time(e.critical.seconds), Time(e.critical.compute_seconds),
      Time(e.critical.communication_seconds));
  for (const ExplainedStage& s : e.longest)
    text += fmt::format(
        "  {:<20} {:<16} {:<24} {}\n", s.line, s.op,
        std::string(s.moves ? "communicates" : "computes") + (s.back ? " backward" : ""),
        Time(s.seconds));
  return text;
}

std::string PartJson(const Part& p) {
  return fmt::format(
      R"({{"what": {}, "axes": {}, "backward": {}, "seconds": {}, "bytes": {}, "count": {}}})",
      Quoted(p.what), Quoted(p.axes), p.back, p.seconds, p.bytes, p.count);
}
std::string StageJson(const ExplainedStage& s) {
  return fmt::format(R"({{"line": {}, "op": {}, "what": {}, "backward": {}, "seconds": {}}})",
                     Quoted(s.line), Quoted(s.op), Quoted(s.moves ? "communicates" : "computes"),
                     s.back, s.seconds);
}

}  // namespace

Explanation Explain(const Module& module, const Plan& plan) {
  Explanation result;
  Redistributor redistributor(plan.mesh);
  for (const auto& graph : module.graphs()) {
    for (const Node* node : graph->nodes()) {
      if (node->kind != NodeKind::kApply || node->op->structural) continue;
      result.nodes.push_back(ExplainNode(*node, plan, &redistributor));
      result.compute_seconds += result.nodes.back().compute_seconds;
    }
  }
  for (const Var& v : module.main()->inputs())
    result.parameters.emplace_back(v.node->name, plan.parameters.at(v.node).ToString(plan.mesh));
  result.devices = plan.mesh.devices();
  result.seconds = plan.seconds;
  for (const Part& part : plan.parts) {
    if (!part.axes.empty()) result.communication_seconds += part.seconds;
  }
  result.bound = plan.bound;
  result.exact = plan.bound >= plan.seconds * (1 - 1e-5);
  result.limited = plan.limited && !result.exact;
  result.memory = plan.memory;
  result.parts = plan.parts;
  result.critical = plan.critical;
  for (const CriticalPath::Stage& s : plan.critical.longest)
    result.longest.push_back(
        {ShortSpan(UsersSpan(s.node->span)), s.node->op->name, s.moves, s.back, s.seconds});
  result.warnings = plan.warnings;
  return result;
}

std::string ToText(const Explanation& e) {
  std::string text = fmt::format(
      "a step on {} devices: {}, of it {} computing and {} communicating; {}\n"
      "a device keeps {} of Parameters, {} of activations; its largest value is {}\n",
      e.devices, Time(e.seconds), Time(e.compute_seconds), Time(e.communication_seconds),
      BoundText(e), Size(e.memory.parameters), Size(e.memory.activations), Size(e.memory.largest));
  if (e.pipeline) text += ToText(*e.pipeline);
  text += PartsText(e);
  for (const auto& [name, layout] : e.parameters) text += fmt::format("  {} {}\n", name, layout);
  std::string graph;
  for (const ExplainedNode& n : e.nodes) {
    if (n.graph != graph) text += fmt::format("{}:\n", graph = n.graph);
    text += fmt::format("  {:<20} {:<16} {:<24} {} -> {}  {}\n", n.line, n.op,
                        n.cut.empty() ? "alike" : n.cut, fmt::join(n.inputs, " "),
                        fmt::join(n.outputs, " "), Time(n.compute_seconds));
    if (!n.whole.empty()) text += fmt::format("    not cut: {}\n", n.whole);
    for (const ExplainedMove& m : n.moves)
      text += fmt::format("    input {}: {} along {}, {}, {}\n", m.input, m.what, m.axes,
                          Size(m.bytes), Time(m.seconds));
    for (const ExplainedAlternative& a : n.alternatives)
      text += fmt::format("    rejected: {}, {} more\n", a.cut.empty() ? "alike" : a.cut,
                          Time(a.more_seconds));
  }
  for (const std::string& warning : e.warnings) text += warning + "\n";
  return text;
}

std::string ToJson(const Explanation& e) {
  std::string critical = fmt::format(
      R"({{"seconds": {}, "compute_seconds": {}, "communication_seconds": {}, "longest": {}}})",
      e.critical.seconds, e.critical.compute_seconds, e.critical.communication_seconds,
      JsonList(e.longest, StageJson));
  return fmt::format(
      R"({{"devices": {}, "seconds": {}, "compute_seconds": {}, "communication_seconds": {}, )"
      R"("bound": {}, "exact": {}, "limited": {}, "parts": {}, "critical_path": {}, )"
      R"("memory": {{"parameters": {}, "activations": {}, "largest": {}}}, )"
      R"("parameters": {}, "nodes": {}, "warnings": {}, "pipeline": {}}})",
      e.devices, e.seconds, e.compute_seconds, e.communication_seconds, e.bound, e.exact, e.limited,
      JsonList(e.parts, PartJson), critical, e.memory.parameters, e.memory.activations,
      e.memory.largest,
      JsonList(e.parameters,
               [](const auto& p) {
                 return fmt::format(R"({{"name": {}, "layout": {}}})", Quoted(p.first),
                                    Quoted(p.second));
               }),
      JsonList(e.nodes, NodeJson), JsonList(e.warnings, Quoted),
      e.pipeline ? ToJson(*e.pipeline) : "null");
}

}  // namespace ms::parallel
