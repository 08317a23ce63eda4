#include "passes/pipeline.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "ir/control.h"
#include "ir/text.h"
#include "ir/verify.h"

namespace ms {
namespace {

constexpr int kMaxRounds =
    8;  // of one fixpoint; what is left after them is correct, only not as small

void DumpText(const std::string& pass, const Module& module) {
  static std::atomic<int> number{0};
  TensorTable large;
  std::string text = Print(module, {.spans = true, .types = true, .large = &large});
  if (const char* directory = std::getenv("MS_DUMP_PATH")) {
    std::ofstream(fmt::format("{}/{:03}_{}.ir", directory, number++, pass)) << text;
  } else {
    fmt::print(stderr, "---- after {}\n{}", pass, text);
  }
}

bool DumpWanted() {
  const char* value = std::getenv("MS_DUMP");
  return value && std::string_view(value).find("passes") != std::string_view::npos;
}

bool HasVjp(const Module& module) {
  for (const auto& graph : module.graphs()) {
    for (const Node* node : graph->nodes()) {
      if (node->op == Control().vjp) return true;
    }
  }
  return false;
}

class Pipeline {
 public:
  Pipeline(Module& module, const PassOptions& options)
      : module_(module), options_(options), dump_(DumpWanted()) {}

  void Run() {
    Show("Parse");
    // What the front end began and gave up may be unfinished: it goes before anything is checked.
    if (RemoveDeadCode(module_)) Show("RemoveDeadCode");
    Check("before all passes", Level::kTyped);
    Apply("MergeEqualNodes", MergeEqualNodes);
    Apply("MergeCalls", MergeCalls);
    Reduce();
    while (HasVjp(module_)) {
      Apply("ExpandGradients", ExpandGradients);
      Reduce();
    }
    Check("after all passes", Level::kNoGradLeft);
  }

 private:
  // The fixpoint that follows each step that makes new code.
  void Reduce() {
    bool changed = true;
    for (int round = 0; changed && round < kMaxRounds; ++round) {
      changed = Apply("Inline", [&](Module& m) { return Inline(m, options_.inline_limit); });
      changed |= Apply("Simplify", Simplify);
      if (options_.evaluate) {
        changed |=
            Apply("FoldConstants", [&](Module& m) { return FoldConstants(m, options_.evaluate); });
      }
      changed |= Apply("MergeEqualNodes", MergeEqualNodes);
      Apply("RemoveDeadCode", RemoveDeadCode);
    }
  }

  template <class Pass>
  bool Apply(const std::string& name, Pass pass) {
    if (!pass(module_)) return false;
    Check("after " + name, Level::kTyped);
    Show(name);
    return true;
  }

  void Show(const std::string& name) {
    if (options_.dump) options_.dump(name, module_);
    if (dump_) DumpText(name, module_);
  }

  void Check(const std::string& stage, Level level) {
    if (Verifying()) Verify(module_, {level, stage, {}});
  }

  Module& module_;
  const PassOptions& options_;
  bool dump_;
};

}  // namespace

void Optimize(Module& module, const PassOptions& options) { Pipeline(module, options).Run(); }

}  // namespace ms
