// From graphs to plans: prepares the kernels, lays out the arena, and writes launches and control
// instructions.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/uses.h"
#include "kernel/node_kernels.h"
#include "runtime/machine.h"
#include "runtime/plan.h"
#include "runtime/plan_memory.h"
#include "runtime/spill.h"
#include "runtime/storage_plan.h"

namespace ms {
namespace {

// The nodes that run, views included, in program order: those with effects, calls (which may have
// some), outputs, and what these use.
std::vector<const Node*> RunningNodes(const Graph& graph) {
  std::vector<bool> runs(graph.nodes().size(), false);
  for (const Var& v : graph.outputs()) runs[v.node->id] = true;
  for (auto it = graph.nodes().rbegin(); it != graph.nodes().rend(); ++it) {
    const Node& node = **it;
    if (node.kind != NodeKind::kApply) continue;
    if (node.op->effect != Effect::kNone || node.op == Control().call) runs[node.id] = true;
    if (!runs[node.id]) continue;
    VisitUses(node, [&](const Var& v, Use) { runs[v.node->id] = true; });
  }
  std::vector<const Node*> nodes;
  for (const Node* node : graph.nodes()) {
    if (node->kind == NodeKind::kApply && runs[node->id]) nodes.push_back(node);
  }
  return nodes;
}

// Launches of one segment take about this long at most before the runtime asks whether to stop.
constexpr double kPollNs = 50e6;

constexpr size_t kSmallArena = 64 << 10;  // up to here an arena belongs to its frame

using PlanOf = std::function<const Plan*(const Graph*)>;

class PlanBuilder {
 public:
  PlanBuilder(Plan& plan, const Graph& graph, const Backend& backend, const PlanOf& plan_of,
              size_t limit)
      : plan_(plan),
        limit_(limit),
        graph_(graph),
        backend_(backend),
        plan_of_(plan_of),
        values_(graph, RunningNodes(graph), plan.main),
        kernels_(PrepareKernels()) {}

  void Build(MemoryReport& report) {
    plan_.input_types = graph_.InputTypes();
    plan_.output_types = graph_.OutputTypes();
    for (const Tensor& t : values_.constants()) plan_.constants.push_back(t.In(backend_.memory()));
    plan_.cell_count = values_.cells();
    LayOut(report);
    ListDrops();
    for (int t = 0; t < values_.steps(); ++t) EmitStep(t);
    EmitReturn();
    WritePatches();
    plan_.arena_apart =
        !plan_.arena_in_frame && (plan_.arena_bytes || !plan_.arena_pointers.empty());
  }

 private:
  const Node& NodeAt(int step) const { return *values_.order()[static_cast<size_t>(step)]; }
  struct Move {
    Spill spill;
    bool back;
  };

  // ---- kernels and memory -----------------------------------------------------------------------
  std::vector<std::shared_ptr<const Kernel>> PrepareKernels() {
    std::vector<std::shared_ptr<const Kernel>> kernels(values_.order().size());
    NodeKernels prepared(backend_);
    for (size_t t = 0; t < kernels.size(); ++t) {
      const Node& node = *values_.order()[t];
      if (!IsLaunch(node)) continue;
      try {
        kernels[t] = prepared.Of(node);
      } catch (Error& error) {
        throw std::move(error).WithSpan(node.span);
      }
      plan_.random |= node.op->effect == Effect::kRandom;
    }
    return kernels;
  }

  void LayOut(MemoryReport& report) {
    ReportBeside(report);
    memory_ = LayOutPlan(values_, kernels_, plan_.main, plan_.main ? limit_ : 0, report);
    plan_.arena_bytes = memory_.bytes;
    plan_.spill_bytes = memory_.spill_bytes;
    for (const Spill& spill : memory_.spills) {
      moves_[spill.after].push_back({spill, false});
      moves_[spill.before].push_back({spill, true});
    }
    if (backend_.memory().on_host() && memory_.bytes <= kSmallArena)
      plan_.arena_in_frame = std::max<size_t>(memory_.bytes, 64);
  }

  // What a run takes beside the arena.
  void ReportBeside(MemoryReport& report) const {
    for (const Tensor& t : plan_.constants) report.parameters += t.bytes();
    if (!plan_.main) return;
    for (const Type& t : plan_.input_types) report.parameters += t.bytes();
    report.outputs += BytesOfNewOutputs(values_, graph_.outputs());
  }

  // ---- places -----------------------------------------------------------------------------------
  // A new place in the table of pointers that shows the value at a step.
  uint32_t AddPointer(const Var& v, int step) {
    uint32_t place = plan_.pointer_count++;
    const Storage& s = values_.Get(v);
    switch (s.kind) {
      case Storage::Kind::kArena:
        plan_.arena_pointers.emplace_back(
            place, memory_.OffsetAt(static_cast<size_t>(values_.Of(v)), step));
        break;
      case Storage::Kind::kConstant:
        plan_.constant_pointers.emplace_back(place, s.index);
        break;
      case Storage::Kind::kInput:
      case Storage::Kind::kCell:
        shown_.emplace_back(s.index, place);
        break;
    }
    return place;
  }

  // Cells that a step is the last to need. An input that nothing needs goes at the first step.
  void ListDrops() {
    std::vector<std::pair<uint32_t, uint32_t>> drops;
    for (size_t i = 0; i < values_.storages().size(); ++i) {
      const Storage& s = values_.storages()[i];
      if (s.kind == Storage::Kind::kCell && values_.IsRoot(i)) {
        drops.emplace_back(static_cast<uint32_t>(std::max(s.last, 0)), s.index);
      }
    }
    Collect(drops, values_.order().size() + 1, &drop_begin_, &drops_);
  }

  void AddDrops(int step, std::vector<uint32_t>* list) const {
    const uint32_t* begin = &drop_begin_[static_cast<size_t>(step)];
    list->insert(list->end(), drops_.begin() + begin[0], drops_.begin() + begin[1]);
  }

  // Lists by number, all in one array: list i is items[begin[i]...] up to begin[i + 1].
  static void Collect(const std::vector<std::pair<uint32_t, uint32_t>>& pairs, size_t lists,
                      std::vector<uint32_t>* begin, std::vector<uint32_t>* items) {
    begin->assign(lists + 1, 0);
    for (auto [list, item] : pairs) ++(*begin)[list + 1];
    for (size_t i = 0; i < lists; ++i) (*begin)[i + 1] += (*begin)[i];
    std::vector<uint32_t> next(begin->begin(), begin->end() - 1);
    items->resize(pairs.size());
    for (auto [list, item] : pairs) (*items)[next[list]++] = item;
  }

  Range CellList(const std::vector<uint32_t>& cells) {
    uint32_t begin = static_cast<uint32_t>(plan_.cell_lists.size());
    plan_.cell_lists.insert(plan_.cell_lists.end(), cells.begin(), cells.end());
    return {begin, static_cast<uint32_t>(plan_.cell_lists.size())};
  }

  // How to get values at a step; of each cell not needed later, the last mention moves.
  std::vector<Operand> Operands(const Vars& vars, int step) const {
    std::vector<Operand> operands(vars.size());
    std::unordered_set<uint32_t> moved;
    for (size_t i = vars.size(); i-- > 0;) {
      const Storage& s = values_.Get(vars[i]);
      operands[i].index = s.index;
      if (s.kind == Storage::Kind::kConstant)
        operands[i].kind = Operand::Kind::kConstant;
      else if (s.kind == Storage::Kind::kInput)
        operands[i].kind = Operand::Kind::kInput;
      else if (s.last == step && moved.insert(s.index).second)
        operands[i].kind = Operand::Kind::kMove;
    }
    return operands;
  }

  Range AddOperands(const std::vector<Operand>& operands, size_t from = 0) {
    uint32_t begin = static_cast<uint32_t>(plan_.operands.size());
    plan_.operands.insert(plan_.operands.end(),
                          operands.begin() + static_cast<std::ptrdiff_t>(from), operands.end());
    return {begin, static_cast<uint32_t>(plan_.operands.size())};
  }

  // ---- code -------------------------------------------------------------------------------------
  void EmitStep(int step) {
    const Node& node = NodeAt(step);
    EmitMoves(step, true);
    if (!IsLaunch(node) && !node.op->view) {
      CloseSegment();
      EmitControl(node, step);
    } else {
      if (IsLaunch(node)) EmitLaunch(node, step);
      AddDrops(step, &segment_drops_);
    }
    EmitMoves(step, false);
  }

  // Of what is spilled: `back` before the step that needs it, out after the one that did.
  void EmitMoves(int step, bool back) {
    auto it = moves_.find(step);
    if (it == moves_.end()) return;
    for (const Move& move : it->second) {
      if (move.back == back) EmitMove(move, step);
    }
  }

  void EmitMove(const Move& move, int step) {
    const Storage& s = values_.storages()[move.spill.storage];
    std::shared_ptr<const Kernel> kernel = MakeMove(backend_.memory(), s.type().bytes(), move.back);
    AddToSegment(kernel->cost_ns());
    uint32_t inside = plan_.pointer_count++, outside = plan_.pointer_count++;
    if (move.back) std::swap(inside, outside);
    plan_.arena_pointers.emplace_back(inside, memory_.OffsetAt(move.spill.storage, step));
    plan_.spill_pointers.emplace_back(outside, move.spill.offset);
    plan_.launches.push_back(
        {kernel.get(), std::min(inside, outside), std::max(inside, outside), 0});
    LaunchInfo info{{&MoveOp(move.back), s.value.node->span}, 1};
    info.types = static_cast<uint32_t>(plan_.types.size());
    plan_.types.insert(plan_.types.end(), 2, s.type().Strong());
    plan_.infos.push_back(info);
    plan_.kernels.push_back(std::move(kernel));
  }

  void EmitLaunch(const Node& node, int step) {
    const auto& kernel = kernels_[static_cast<size_t>(step)];
    AddToSegment(kernel->cost_ns());
    PlannedLaunch launch{kernel.get(), plan_.pointer_count, 0,
                         memory_.workspaces[static_cast<size_t>(step)]};
    for (const Var& v : node.inputs) AddPointer(v, step);
    launch.out = plan_.pointer_count;
    for (const Var& v : OutputsOf(node)) {
      const Storage& s = values_.Get(v);
      if (s.kind == Storage::Kind::kCell && s.first == step) Allocate(s);
      AddPointer(v, step);
    }
    plan_.launches.push_back(launch);
    plan_.infos.push_back({{node.op, node.span},
                           static_cast<uint32_t>(node.outputs.size()),
                           LaunchTypes(node, kernel.get())});
    plan_.kernels.push_back(kernel);
  }

  // Where the types of its inputs and outputs are: launches of one kernel share them.
  uint32_t LaunchTypes(const Node& node, const Kernel* kernel) {
    auto [it, fresh] = types_of_.try_emplace(kernel, static_cast<uint32_t>(plan_.types.size()));
    if (fresh) {
      for (const Var& v : node.inputs) plan_.types.push_back(v.type().Strong());
      for (const Var& v : OutputsOf(node)) plan_.types.push_back(v.type().Strong());
    }
    return it->second;
  }

  void AddToSegment(double ns) {
    if (open_ && segment_ns_ + ns > kPollNs) CloseSegment();
    if (!open_) OpenSegment();
    segment_ns_ += ns;
  }

  void Allocate(const Storage& s) {
    Allocation allocation{s.index, s.type().bytes()};
    if (s.reuse >= 0) {
      allocation.reuse =
          static_cast<int32_t>(values_.storages()[static_cast<size_t>(s.reuse)].index);
    }
    allocation.update = s.update;
    allocation.line = s.value.node->span;
    if (s.update >= 0) plan_.watched_inputs.push_back(static_cast<uint32_t>(s.update));
    plan_.allocations.push_back(allocation);
  }

  void OpenSegment() {
    open_ = true;
    segment_ = {};
    segment_.op = OpCode::kRun;
    segment_.poll = segment_ns_ > kPollNs / 2;
    segment_.launches.begin = static_cast<uint32_t>(plan_.launches.size());
    segment_.allocations.begin = static_cast<uint32_t>(plan_.allocations.size());
    segment_ns_ = 0;
  }

  void CloseSegment() {
    if (!open_) return;
    open_ = false;
    segment_.launches.end = static_cast<uint32_t>(plan_.launches.size());
    segment_.allocations.end = static_cast<uint32_t>(plan_.allocations.size());
    segment_.drops = CellList(segment_drops_);
    segment_drops_.clear();
    plan_.code.push_back(segment_);
  }

  void EmitControl(const Node& node, int step) {
    const ControlOps& ops = Control();
    Instruction instruction;
    instruction.span = node.span;
    std::vector<uint32_t> drops = std::move(segment_drops_);
    segment_drops_.clear();
    AddDrops(step, &drops);
    std::vector<uint32_t> results;
    for (uint32_t i = 0; i < node.outputs.size(); ++i) {
      const Storage& s = values_.Get({const_cast<Node*>(&node), i});
      results.push_back(s.last > step ? s.index : kNoCell);
    }
    if (node.op == ops.call) {
      EmitCall(node, step, &instruction);
    } else {
      EmitOther(node, step, &instruction);
    }
    std::erase_if(drops, [&](uint32_t c) {
      return std::find(results.begin(), results.end(), c) != results.end();
    });
    instruction.results = CellList(results);
    instruction.drops = CellList(drops);
    plan_.code.push_back(instruction);
  }

  void EmitOther(const Node& node, int step, Instruction* instruction) {
    const ControlOps& ops = Control();
    Vars held = node.inputs;
    if (node.op == ops.partial) {
      instruction->op = OpCode::kPartial;
      instruction->plan = plan_of_(node.attr<Graph*>("graph"));
    } else if (node.op == ops.select) {
      instruction->op = OpCode::kSwitch;
      instruction->condition = AddPointer(node.inputs[0], step);
      held.erase(held.begin());
    } else if (node.op == ops.box_make) {
      instruction->op = OpCode::kBoxMake;
      Types types;
      for (const Var& v : node.inputs) types.push_back(v.type());
      instruction->types = AddTypes(types);
    } else if (node.op == ops.box_get) {
      instruction->op = OpCode::kBoxGet;
      instruction->types = AddTypes(node.outputs);
    } else if (node.op == ops.box_add) {
      instruction->op = OpCode::kBoxAdd;
    } else if (node.op == ops.box_zero) {
      instruction->op = OpCode::kBoxZero;
    } else {
      throw Error(ErrorKind::kInternal,
                  fmt::format("'{}' must be expanded before a graph is planned", node.op->name))
          .WithSpan(node.span);
    }
    instruction->operands = AddOperands(Operands(held, step));
  }

  Range AddTypes(const Types& types) {
    uint32_t begin = static_cast<uint32_t>(plan_.types.size());
    plan_.types.insert(plan_.types.end(), types.begin(), types.end());
    return {begin, static_cast<uint32_t>(plan_.types.size())};
  }

  void EmitCall(const Node& node, int step, Instruction* instruction) {
    instruction->op = OpCode::kCall;
    instruction->target = static_cast<uint32_t>(plan_.targets.size());
    Callee callee = CalleeOf(node);
    CallTarget target;
    if (callee.condition) target.condition = AddPointer(callee.condition, step);
    for (int i = 0; i < callee.count; ++i)
      target.leaves[i] = MakeLeaf(callee.leaves[i], node, step);
    plan_.targets.push_back(target);
    instruction->tail = !plan_.main && IsTail(node, step);
  }

  CallLeaf MakeLeaf(const Var& function, const Node& call, int step) {
    CallLeaf leaf;
    Vars vars;
    if (IsPartial(function)) {
      leaf.plan = plan_of_(function.node->attr<Graph*>("graph"));
      vars = function.node->inputs;
    } else {
      vars = {function};
    }
    vars.insert(vars.end(), call.inputs.begin() + 1, call.inputs.end());
    std::vector<Operand> operands = Operands(vars, step);
    if (!leaf.plan) leaf.closure = operands[0];
    leaf.operands = AddOperands(operands, leaf.plan ? 0 : 1);
    return leaf;
  }

  // The graph returns just what the call does, and nothing is left to do.
  bool IsTail(const Node& call, int step) const {
    if (step + 1 != values_.steps() || graph_.outputs().size() != call.outputs.size()) return false;
    for (uint32_t i = 0; i < call.outputs.size(); ++i) {
      if (!(graph_.outputs()[i] == Var{const_cast<Node*>(&call), i})) return false;
    }
    return true;
  }

  void EmitReturn() {
    CloseSegment();
    if (!plan_.code.empty() && plan_.code.back().tail) return;
    Instruction instruction;
    instruction.op = OpCode::kReturn;
    instruction.operands = AddOperands(Operands(graph_.outputs(), values_.steps()));
    plan_.code.push_back(instruction);
  }

  void WritePatches() { Collect(shown_, values_.cells(), &plan_.patch_begin, &plan_.patches); }

  Plan& plan_;
  const size_t limit_;
  const Graph& graph_;
  const Backend& backend_;
  const PlanOf& plan_of_;
  StoragePlan values_;
  std::vector<std::shared_ptr<const Kernel>> kernels_;  // by step
  PlanMemory memory_;
  std::unordered_map<int, std::vector<Move>> moves_;  // by step
  std::vector<std::pair<uint32_t, uint32_t>> shown_;  // cells, and places that show them
  std::vector<uint32_t> drop_begin_, drops_;          // lists by step
  std::unordered_map<const Kernel*, uint32_t> types_of_;
  Instruction segment_;
  std::vector<uint32_t> segment_drops_;
  double segment_ns_ = 0;
  bool open_ = false;
};

}  // namespace

class ProgramBuilder {
 public:
  static std::shared_ptr<const Program> Build(const Module& module, const Backend& backend,
                                              size_t limit) {
    auto program = std::make_shared<Program>(backend, module.main()->name());
    std::unordered_map<const Graph*, const Plan*> plans;
    std::vector<std::pair<const Graph*, Plan*>> pending;
    auto add_plan = [&](const Graph* graph) {
      auto plan = std::make_unique<Plan>();
      plan->name = graph->name();
      plan->program = program.get();
      plan->index = static_cast<uint32_t>(program->plans_.size());
      plan->main = program->plans_.empty();
      pending.emplace_back(graph, plan.get());
      program->plans_.push_back(std::move(plan));
      return program->plans_.back().get();
    };
    // A main graph that is also called as a function gets a second plan: only the first writes over
    // its inputs.
    PlanOf plan_of = [&](const Graph* graph) {
      auto [it, fresh] = plans.try_emplace(graph, nullptr);
      if (fresh) it->second = add_plan(graph);
      return it->second;
    };
    add_plan(module.main());
    while (!pending.empty()) {
      auto [graph, plan] = pending.back();
      pending.pop_back();
      PlanBuilder(*plan, *graph, backend, plan_of, limit).Build(program->memory_);
      program->random_ |= plan->random;
    }
    return program;
  }
};

std::shared_ptr<const Program> BuildProgram(const Module& module, const Backend& backend,
                                            size_t limit) {
  return ProgramBuilder::Build(module, backend, limit);
}

}  // namespace ms
