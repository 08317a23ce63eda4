#include "passes/parallel/lower.h"

#include <algorithm>

#include "ir/control.h"
#include "ir/rewrite.h"
#include "passes/parallel/lower_graph.h"
#include "passes/parallel/stage_program.h"

namespace ms::parallel {

std::string ParallelOptions::Key() const {
  std::string key = fmt::format("{} of", rank);
  for (const MeshAxis& axis : plan.mesh.axes)
    key += fmt::format(" {}={}:{}:{}", axis.name, axis.size, axis.alpha, axis.beta);
  key += fmt::format("; {} {} {} {} {}", static_cast<int>(plan.mode), plan.memory_limit,
                     plan.device.flops, plan.device.bytes, group_prefix);
  key += fmt::format(" {} {} {}", plan.device.launch, plan.device.memory, plan.lightest);
  auto add = [&](const char* kind, const std::vector<std::optional<Layout>>& layouts) {
    key += fmt::format("; {}", kind);
    for (const auto& layout : layouts) key += layout ? layout->ToString(plan.mesh) + "," : "?,";
  };
  add("in", plan.inputs);
  add("out", plan.outputs);
  key += "; parameters ";
  for (bool parameter : plan.parameters) key += parameter ? '1' : '0';
  if (pipeline.stages > 1)
    key += fmt::format("; stage {} of {}, {} {} {} {}", pipeline.stage, pipeline.stages,
                       Name(pipeline.scheduler), fmt::join(pipeline.marks, ","), pipeline.alpha,
                       pipeline.beta);
  return key;
}

std::string BesideName(const std::string& name) { return name + ", beside"; }

Mesh ParallelOptions::AllDevices() const {
  Mesh all = plan.mesh;
  if (pipeline.stages > 1) all.axes.insert(all.axes.begin(), MeshAxis{kStageAxis, pipeline.stages});
  return all;
}

ProgramLowering::ProgramLowering(Module& module, const Plan& plan, int64_t rank,
                                 const std::string& group_prefix, int64_t first)
    : module_(module),
      plan_(plan),
      processes_(&module, plan.mesh, rank, group_prefix, first),
      differentiated_(GraphsToTransform(module)) {
  for (const auto& graph : module.graphs()) {
    if (!graph->loop.body) continue;
    loop_of_[graph->loop.body] = graph.get();
    loop_of_[graph->loop.done] = graph.get();
  }
}

Place ProgramLowering::Of(const Type& type, const Layout* layout) const {
  if (!type.is_tensor() || !layout) return Everywhere(type);
  return {WithoutPartials(*layout), nullptr};
}

namespace {

bool SameParameters(const Graph& a, const Graph& b) {
  return std::equal(a.parameters().begin(), a.parameters().end(), b.parameters().begin(),
                    b.parameters().end(),
                    [](const Node* x, const Node* y) { return x->outputs[0] == y->outputs[0]; });
}

}  // namespace

// What a loop carries lies the same in its parts.
Places ProgramLowering::ParameterPlaces(const Graph* graph) const {
  Places places;
  auto add = [&](const Node* node) {
    auto it = plan_.parameters.find(node);
    places.push_back(Of(node->outputs[0], it == plan_.parameters.end() ? nullptr : &it->second));
  };
  for (const Node* node : graph->captures()) add(node);
  auto loop = loop_of_.find(graph);
  const Graph* of = loop == loop_of_.end() ? graph : loop->second;
  if (!SameParameters(*of, *graph)) of = of->loop.body;
  if (!of || !SameParameters(*of, *graph)) of = graph;
  for (const Node* node : of->parameters()) add(node);
  return places;
}

Places ProgramLowering::ResultPlaces(const Graph* graph) const {
  auto loop = loop_of_.find(graph);
  if (loop != loop_of_.end()) graph = loop->second;
  Places places;
  auto it = plan_.results.find(graph);
  Types types = graph->OutputTypes();
  for (size_t i = 0; i < types.size(); ++i) {
    bool known = it != plan_.results.end() && i < it->second.size();
    places.push_back(Of(types[i], known ? &it->second[i] : nullptr));
  }
  if (graph != module_.main()) return places;
  Places parameters = ParameterPlaces(graph);
  for (auto [output, input] : graph->updates)
    places[static_cast<size_t>(output)] = parameters[static_cast<size_t>(input)];
  return places;
}

Place ProgramLowering::FunctionPlace(const Graph* graph) const {
  Places all = ParameterPlaces(graph);
  auto first = all.begin() + static_cast<std::ptrdiff_t>(graph->captures().size());
  return {{},
          std::make_shared<const FunctionPlaces>(
              FunctionPlaces{Places(first, all.end()), ResultPlaces(graph)})};
}

Graph* ProgramLowering::Lowered(Graph* graph) {
  auto [it, fresh] = lowered_.try_emplace(graph, nullptr);
  if (!fresh) return it->second;
  Graph* made = it->second = module_.NewGraph(graph->name());
  pending_.push_back(graph);
  Places places = ParameterPlaces(graph);
  size_t i = 0;
  for (const Node* node : graph->captures())
    made->AddParameter(processes_.Local(node->outputs[0], places[i++]), node->name, true);
  for (const Node* node : graph->parameters())
    made->AddParameter(processes_.Local(node->outputs[0], places[i++]), node->name);
  Types types = graph->OutputTypes(), local;
  Places results = ResultPlaces(graph);
  for (size_t k = 0; k < types.size(); ++k) local.push_back(processes_.Local(types[k], results[k]));
  made->DeclareOutputTypes(std::move(local));
  return made;
}

void ProgramLowering::Run() {
  Graph* main = Lowered(module_.main());
  while (!pending_.empty()) {
    Graph* next = pending_.front();
    pending_.pop_front();
    Graph* made = lowered_.at(next);
    GraphLowering(*this, next, made).Run();
    made->updates = next->updates;
    if (next->loop.body) {
      made->loop = {Lowered(next->loop.body), Lowered(next->loop.done), next->loop.trip_count};
    }
  }
  module_.set_main(main);
  module_.SweepGraphs();
}

std::shared_ptr<parallel::Lowered> LowerPlan(Module& module, const Plan& plan, int64_t rank,
                                             const std::string& group_prefix, int64_t first) {
  auto result = std::make_shared<parallel::Lowered>();
  result->mesh = plan.mesh;
  result->rank = rank;
  result->whole_inputs = module.main()->InputTypes();
  result->whole_outputs = module.main()->OutputTypes();
  ProgramLowering program(module, plan, rank, group_prefix, first);
  for (const Place& place : program.ParameterPlaces(module.main()))
    result->inputs.push_back(place.layout);
  for (const Place& place : program.ResultPlaces(module.main()))
    result->outputs.push_back(place.layout);
  program.Run();
  result->groups = program.processes().groups();
  result->plan.seconds = plan.seconds;
  result->plan.bound = plan.bound;
  result->plan.memory = plan.memory;
  result->plan.stages = plan.stages;
  result->plan.warnings = plan.warnings;
  return result;
}

void LowerPipeline(Module& module, const ParallelOptions& options, const StagePlan& plan,
                   parallel::Lowered* lowered) {
  StageProgram program = KeepStage(module, options, plan, lowered->plan.stages);
  if (options.reported) options.reported(program.report);
  auto& warnings = lowered->plan.warnings;
  warnings.insert(warnings.end(), program.report.warnings.begin(), program.report.warnings.end());
  Mesh all = options.AllDevices();
  auto wider = [&](std::vector<Layout>* layouts) {
    for (Layout& layout : *layouts)
      layout = Layout::Parse(layout.ToString(lowered->mesh), layout.rank(), all);
  };
  wider(&lowered->inputs);
  wider(&lowered->outputs);
  lowered->mesh = std::move(all);
  lowered->rank = options.RankOfAll();
  lowered->held = std::move(program.held);
  lowered->groups.insert(lowered->groups.begin(), std::move(program.everybody));
}

bool ExpandShards(Module& module) {
  static const OpDef& hint = Ops().Get("ShardHint");
  auto is_shard = [](const Node& node) {
    return node.kind == NodeKind::kApply &&
           (node.op == &hint ||
            (node.op->internal && node.op->expand && node.op->name.starts_with("Shard")));
  };
  bool changed = false;
  for (const auto& graph : module.graphs()) {
    Rewriter rewriter(graph.get());
    rewriter.Walk([&](Node& node) {
      if (!is_shard(node)) return;
      GraphEmitter& emitter = rewriter.emitter();
      emitter.span = node.span;
      Terms inputs;
      for (const Var& v : node.inputs) inputs.push_back(emitter.Wrap(v));
      Var made = inputs.empty() ? Var{} : inputs[0].var;
      if (node.op != &hint) {
        ExpandContext context(emitter, std::move(inputs), *node.op, *node.attrs);
        made = node.op->expand(context)[0].var;
      }
      rewriter.Replace({&node, 0}, made);
      rewriter.Drop(node);
    });
    changed |= rewriter.changed();
  }
  return changed;
}

}  // namespace ms::parallel
