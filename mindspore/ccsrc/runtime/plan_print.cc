// Plans as text.
#include "runtime/plan.h"

namespace ms {
namespace {

class Printer {
 public:
  explicit Printer(const Plan& plan) : plan_(plan), names_(plan.pointer_count, "scratch") {
    for (auto [place, offset] : plan.arena_pointers) names_[place] = fmt::format("a{}", offset);
    for (auto [place, constant] : plan.constant_pointers)
      names_[place] = fmt::format("k{}", constant);
    for (uint32_t cell = 0; cell < plan.cell_count; ++cell) {
      for (uint32_t i = plan.patch_begin[cell]; i < plan.patch_begin[cell + 1]; ++i) {
        names_[plan.patches[i]] = fmt::format("c{}", cell);
      }
    }
  }

  std::string Run() {
    Line("plan {}: {} -> {}, arena {}, {} cells, {} launches\n", plan_.name,
         ToString(plan_.input_types), ToString(plan_.output_types), plan_.arena_bytes,
         plan_.cell_count, plan_.launches.size());
    for (const Instruction& code : plan_.code) PrintInstruction(code);
    return std::move(text_);
  }

 private:
  template <class... Args>
  void Line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  std::string Places(uint32_t begin, uint32_t end) const {
    return fmt::format("{}", fmt::join(names_.begin() + begin, names_.begin() + end, " "));
  }

  static std::string Name(Operand o) {
    static constexpr const char* kPrefix[] = {"c", "move c", "k", "input "};
    return fmt::format("{}{}", kPrefix[static_cast<int>(o.kind)], o.index);
  }

  std::string Names(Range range) const {
    std::string text;
    for (uint32_t i = range.begin; i < range.end; ++i)
      text += (text.empty() ? "" : ", ") + Name(plan_.operands[i]);
    return text;
  }

  std::string Cells(Range range) const {
    std::string text;
    for (uint32_t i = range.begin; i < range.end; ++i) {
      uint32_t cell = plan_.cell_lists[i];
      text += (text.empty() ? "" : " ") + (cell == kNoCell ? "_" : fmt::format("c{}", cell));
    }
    return text;
  }

  void PrintInstruction(const Instruction& code) {
    static constexpr const char* kNames[] = {"run",     "partial", "switch",   "call",  "box_make",
                                             "box_get", "box_add", "box_zero", "return"};
    static_assert(std::size(kNames) == static_cast<size_t>(OpCode::kReturn) + 1);
    const char* name = kNames[static_cast<int>(code.op)];
    if (code.op == OpCode::kRun) {
      PrintSegment(code);
    } else if (code.op == OpCode::kCall) {
      const CallTarget& target = plan_.targets[code.target];
      Line("  {} = {}call", Cells(code.results), code.tail ? "tail " : "");
      if (target.condition != CallTarget::kNone) Line(" if {}", names_[target.condition]);
      for (int i = 0; i < (target.condition == CallTarget::kNone ? 1 : 2); ++i) {
        const CallLeaf& leaf = target.leaves[i];
        Line("{} {}({})", i ? " else" : "", leaf.plan ? leaf.plan->name : Name(leaf.closure),
             Names(leaf.operands));
      }
      Line("\n");
    } else if (code.op == OpCode::kReturn) {
      Line("  return {}\n", Names(code.operands));
    } else {
      Line("  {} = {}{}{} {}\n", Cells(code.results), name, code.plan ? " " + code.plan->name : "",
           code.op == OpCode::kSwitch ? " " + names_[code.condition] : "", Names(code.operands));
    }
    if (code.drops.size()) Line("    drop {}\n", Cells(code.drops));
  }

  void PrintSegment(const Instruction& code) {
    Line("  run{}\n", code.poll ? " (poll)" : "");
    for (uint32_t i = code.allocations.begin; i < code.allocations.end; ++i) {
      const Allocation& a = plan_.allocations[i];
      Line("    allocate c{} {}", a.cell, a.bytes);
      if (a.reuse >= 0) Line(" over c{}", a.reuse);
      if (a.update >= 0) Line(" over input {}", a.update);
      Line("\n");
    }
    for (uint32_t i = code.launches.begin; i < code.launches.end; ++i) {
      const PlannedLaunch& launch = plan_.launches[i];
      std::string where = ShortSpan(plan_.infos[i].place.span);
      Line("    {} <- {}({}){}{}\n", Places(launch.out, launch.out + plan_.infos[i].outputs),
           plan_.infos[i].place.op->name, Places(launch.in, launch.out),
           launch.kernel->workspace_bytes() ? fmt::format(" workspace a{}", launch.workspace) : "",
           where.empty() ? "" : "  # " + where);
      if (std::string contents = launch.kernel->Contents(); !contents.empty())
        Line("      {}\n", contents);
    }
  }

  const Plan& plan_;
  std::vector<std::string> names_;
  std::string text_;
};

}  // namespace

std::string Print(const Program& program) {
  std::string text;
  for (const auto& plan : program.plans()) text += Printer(*plan).Run();
  return text;
}

}  // namespace ms
