#include "backends/cuda/codegen/nest_text.h"

#include <algorithm>
#include <map>

#include "backends/cuda/codegen/scalar_text.h"

namespace ms::cuda {
namespace {

using loops::LoopNest;
using loops::NestLeaf;
using loops::NestValue;
using loops::Reduction;

const char* const kReductions[] = {"", "Sum", "Sum", "Max", "Min", "Prod"};

// Lines of one block of text, and the values that it has names for.
struct Scope {
  std::string lines;
  std::map<int, std::string> names;
  Scope* outer = nullptr;
  std::string indent = "  ";

  void Line(const std::string& line) { lines += indent + line + "\n"; }
  const std::string* Find(int value) const {
    auto it = names.find(value);
    if (it != names.end()) return &it->second;
    return outer ? outer->Find(value) : nullptr;
  }
};

class NestPrinter {
 public:
  NestPrinter(const LoopNest& nest, const NestPlan& plan, NestText* result)
      : nest_(nest), plan_(plan), result_(*result) {}

  std::string Run() {
    CollectArguments();
    if (nest_.stages == 0)
      PrintElementwise();
    else if (plan_.chunks == 1)
      PrintWhole();
    else
      PrintChunks();
    std::string types;
    for (const NestValue& v : nest_.values) {
      if (types.empty()) types = TextOf(v.node.dtype);
    }
    result_.text = types + Head() + kernels_;
    return why_;
  }

 private:
  const NestValue& value(int v) const { return nest_.values[static_cast<size_t>(v)]; }
  int rank() const { return static_cast<int>(nest_.sizes.size()); }

  // A size or stride that a launch gives.
  std::string Number(int64_t number) {
    result_.numbers.push_back(number);  // equal ones too: they may differ in another launch
    return fmt::format("(Index)n.at[{}]", result_.numbers.size() - 1);
  }

  void CollectArguments() {
    for (const NestLeaf& leaf : nest_.leaves) {
      auto known = std::find(result_.inputs.begin(), result_.inputs.end(), leaf.input);
      argument_of_.push_back(static_cast<int>(known - result_.inputs.begin()));
      if (known != result_.inputs.end()) continue;
      result_.inputs.push_back(leaf.input);
      for (const NestValue& v : nest_.values) {
        bool reads = v.node.op == ScalarOp::kInput && v.reduction == Reduction::kNone;
        if (reads && &nest_.leaves[static_cast<size_t>(v.node.input)] == &leaf)
          result_.in.push_back(v.node.dtype);
      }
    }
    for (const loops::NestOutput& o : nest_.outputs)
      result_.out.push_back(value(o.value).node.dtype);
  }

  std::string Head() const {
    return fmt::format("typedef {} Index;\nstruct Numbers {{\n  long long at[{}];\n}};\n",
                       plan_.wide ? "long long" : "int",
                       std::max<size_t>(result_.numbers.size(), 1));
  }

  void AddKernel(int phase, const std::string& body) {
    std::string arguments = "Fault* fault";
    for (size_t i = 0; i < result_.in.size(); ++i)
      arguments += fmt::format(", const {}* in{}", MemoryType(result_.in[i]), i);
    for (size_t o = 0; o < result_.out.size(); ++o)
      arguments += fmt::format(", {}* out{}", MemoryType(result_.out[o]), o);
    arguments += ", char* workspace, Numbers n";
    kernels_ += fmt::format(
        "extern \"C\" __global__ void __launch_bounds__({}) phase{}({}) {{\n"
        "  if (fault->ticket) return;\n{}}}\n",
        kBlock, phase, arguments, body);
  }

  // ---- values
  // The name of a value in a scope, in which, or in an outer one, it is computed where it must be.
  std::string Name(int v, Scope& scope) {
    if (const std::string* known = scope.Find(v)) return *known;
    const NestValue& of = value(v);
    Scope& at = of.kept || of.uniform ? Outermost(scope) : scope;
    std::string text;
    if (of.reduction != Reduction::kNone) {
      why_ = "a reduction is read before it is computed";
      return "0";
    }
    if (of.node.op == ScalarOp::kConstant) return ConstantText(of.node.value, of.node.dtype);
    if (of.node.op == ScalarOp::kInput) {
      text = fmt::format("Load(in{}[{}])", argument_of_[static_cast<size_t>(of.node.input)],
                         LeafIndex(of.node.input, at));
    } else {
      std::vector<std::string> args;
      std::vector<DType> dtypes;
      for (int arg : of.node.args) {
        if (arg < 0) continue;
        args.push_back(Name(arg, at));
        dtypes.push_back(value(arg).node.dtype);
      }
      text = ScalarText(of.node, args, dtypes, &why_);
    }
    std::string name = fmt::format("v{}", v);
    at.Line(fmt::format("const {} {} = {};", RegisterType(of.node.dtype), name, text));
    at.names[v] = name;
    return name;
  }

  static Scope& Outermost(Scope& scope) { return scope.outer ? Outermost(*scope.outer) : scope; }

  // Where an input's element is; `at` is the scope in which the axes have their indices.
  std::string LeafIndex(int leaf_number, Scope& at) {
    const NestLeaf& leaf = nest_.leaves[static_cast<size_t>(leaf_number)];
    if (nest_.stages == 0 && IsDense(leaf)) return "i";
    std::string index = leaf.offset ? Number(leaf.offset) : "";
    for (int d = 0; d < rank(); ++d) {
      int64_t stride = leaf.strides[static_cast<size_t>(d)];
      if (stride == 0) continue;
      index += index.empty() ? "" : " + ";
      index += stride == 1 ? Axis(d, at) : fmt::format("{} * {}", Axis(d, at), Number(stride));
    }
    return index.empty() ? "0" : index;
  }
  bool IsDense(const NestLeaf& leaf) const {
    int64_t dense = 1;
    for (size_t d = nest_.sizes.size(); d-- > 0; dense *= nest_.sizes[d]) {
      if (leaf.strides[d] != dense) return false;
    }
    return leaf.offset == 0;
  }

  // The index along an axis, decoded in the scope when it is first asked for.
  std::string Axis(int d, Scope& scope) {
    bool reduces = nest_.stages > 0;
    bool inner = reduces && nest_.reduced[static_cast<size_t>(d)];
    Scope& at = reduces && !inner ? Outermost(scope) : scope;
    int key = -1 - d;
    if (const std::string* known = at.Find(key)) return *known;
    std::vector<int> axes;
    for (int e = 0; e < rank(); ++e) {
      if (!reduces || nest_.reduced[static_cast<size_t>(e)] == inner) axes.push_back(e);
    }
    std::string rest = !reduces ? "i" : inner ? "r" : "kept";
    for (size_t k = axes.size(); k-- > 0;) {
      int e = axes[k];
      std::string name = fmt::format("i{}", e);
      if (k == 0) {
        at.Line(fmt::format("const Index {} = {};", name, rest));
      } else {
        std::string size = Number(nest_.sizes[static_cast<size_t>(e)]);
        at.Line(
            fmt::format("const Index {0} = {1} % {2}, rest{3} = {1} / {2};", name, rest, size, e));
        rest = fmt::format("rest{}", e);
      }
      at.names[-1 - e] = name;
    }
    return fmt::format("i{}", d);
  }

  // ---- without reductions
  void PrintElementwise() {
    Scope outer;
    std::string size = Number(nest_.size());
    std::string text;
    if (plan_.pack > 1) text += PrintPacks(outer);
    Scope inner;
    inner.outer = &outer;
    inner.indent = "    ";
    for (size_t o = 0; o < nest_.outputs.size(); ++o) {
      // All are read before any is written, which may lie over what is read.
      Name(nest_.outputs[o].value, inner);
    }
    for (size_t o = 0; o < nest_.outputs.size(); ++o)
      Store(inner, o, "i", Name(nest_.outputs[o].value, inner));
    std::string begin = plan_.pack > 1 ? fmt::format("packs * {} + thread", plan_.pack) : "thread";
    text += fmt::format("  for (Index i = {}; i < {}; i += step) {{\n{}  }}\n", begin, size,
                        inner.lines);
    AddKernel(0, fmt::format("  const Index thread = (Index)blockIdx.x * {0} + threadIdx.x, step = "
                             "(Index)gridDim.x * {0};\n{1}{2}",
                             kBlock, outer.lines, text));
  }

  void Store(Scope& scope, size_t output, const std::string& index, const std::string& name) {
    scope.Line(fmt::format("out{}[{}] = Stored<{}>::Of({});", output, index,
                           MemoryType(result_.out[output]), name));
  }

  // Whole packs. How many of them is a number, the second one: none where an address is not
  // aligned.
  std::string PrintPacks(Scope& outer) {
    result_.packs_number = static_cast<int>(result_.numbers.size());
    std::string packs = Number(nest_.size() / plan_.pack);
    outer.Line(fmt::format("const Index packs = {};", packs));
    Scope loop;  // reads and writes packs
    loop.indent = "    ";
    Scope element;
    element.outer = &outer;
    element.indent = "      ";
    for (size_t v = 0; v < nest_.values.size(); ++v) {
      const NestValue& of = nest_.values[v];
      if (of.node.op != ScalarOp::kInput || of.uniform) continue;
      std::string type = MemoryType(of.node.dtype);
      int argument = argument_of_[static_cast<size_t>(of.node.input)];
      loop.Line(fmt::format("const Pack<{0}, {1}> p{2} = ((const Pack<{0}, {1}>*)in{3})[i];", type,
                            plan_.pack, v, argument));
      element.Line(
          fmt::format("const {} v{} = Load(p{}.at[j]);", RegisterType(of.node.dtype), v, v));
      element.names[static_cast<int>(v)] = fmt::format("v{}", v);
    }
    std::string stores;
    for (size_t o = 0; o < nest_.outputs.size(); ++o) {
      std::string type = MemoryType(result_.out[o]);
      std::string name = Name(nest_.outputs[o].value, element);
      loop.Line(fmt::format("Pack<{}, {}> q{};", type, plan_.pack, o));
      element.Line(fmt::format("q{}.at[j] = Stored<{}>::Of({});", o, type, name));
      stores += fmt::format("    ((Pack<{0}, {1}>*)out{2})[i] = q{2};\n", type, plan_.pack, o);
    }
    return fmt::format(
        "  for (Index i = thread; i < packs; i += step) {{\n{}#pragma unroll\n    for (int j = 0; "
        "j < {}; "
        "++j) {{\n"
        "{}    }}\n{}  }}\n",
        loop.lines, plan_.pack, element.lines, stores);
  }

  // ---- with reductions
  std::vector<int> ReductionsOf(int stage) const {
    std::vector<int> found;
    for (size_t v = 0; v < nest_.values.size(); ++v) {
      if (nest_.values[v].reduction != Reduction::kNone && nest_.values[v].stage == stage)
        found.push_back(static_cast<int>(v));
    }
    return found;
  }
  std::string RuleOf(int v) const {
    return fmt::format("{}<{}>", kReductions[static_cast<int>(value(v).reduction)],
                       RegisterType(value(v).node.dtype));
  }

  // Which kept index a thread works for, and its place in the group.
  std::string Place() {
    std::string kept = Number(nest_.kept_size());
    std::string own =
        plan_.across == 1
            ? fmt::format("threadIdx.x / {0};\n  const int along = threadIdx.x % {0}", plan_.along)
            : fmt::format("threadIdx.x % {0};\n  const int along = threadIdx.x / {0}",
                          plan_.across);
    return fmt::format(
        "  const Index place = (Index)blockIdx.x * {} + {};\n"
        "  const bool here = place < {};\n  const Index kept = here ? place : 0;\n",
        kBlock / plan_.along, own, kept);
  }

  // The totals of a group become the reductions' values.
  void Finish(Scope& outer, int v, const std::string& total) {
    const NestValue& of = value(v);
    std::string type = RegisterType(of.node.dtype), result = total;
    if (of.reduction == Reduction::kMean)
      result = fmt::format("{} / (double){}", total, Number(nest_.reduced_size()));
    result = fmt::format("({})({})", type, result);
    if (of.node.dtype == DType::kFloat16 || of.node.dtype == DType::kBFloat16)
      result = fmt::format("CastToHalf<{}>({})", MemoryType(of.node.dtype), result);
    outer.Line(fmt::format("const {} v{} = {};", type, v, result));
    outer.names[v] = fmt::format("v{}", v);
  }

  // One pass over what is reduced, from `begin` to `end`: takes for the reductions of the next
  // stage, and, where it is the last one, writes full outputs.
  void PrintPass(Scope& outer, int pass, const std::string& begin, const std::string& end) {
    Scope inner;
    inner.outer = &outer;
    inner.indent = "    ";
    std::vector<int> reductions = ReductionsOf(pass + 1);
    std::string takes;
    for (int v : reductions)
      takes += fmt::format("    t{}.Take({});\n", v, Name(value(v).node.args[0], inner));
    inner.lines += takes;
    if (pass + 1 == nest_.passes()) {
      std::vector<std::string> stores;
      for (size_t o = 0; o < nest_.outputs.size(); ++o) {
        if (nest_.outputs[o].kept) continue;
        Name(nest_.outputs[o].value, inner);
      }
      for (size_t o = 0; o < nest_.outputs.size(); ++o) {
        if (nest_.outputs[o].kept) continue;
        Store(inner, o, FullIndex(inner), Name(nest_.outputs[o].value, inner));
      }
    }
    for (int v : reductions) outer.Line(fmt::format("{} t{};", RuleOf(v), v));
    outer.Line(fmt::format("for (Index r = {} + along; here && r < {}; r += {}) {{", begin, end,
                           plan_.along));
    outer.lines += inner.lines;
    outer.Line("}");
  }

  std::string FullIndex(Scope& inner) {
    std::string index;
    int64_t dense = 1;
    for (int d = rank(); d-- > 0; dense *= nest_.sizes[static_cast<size_t>(d)]) {
      std::string step =
          d + 1 == rank() ? Axis(d, inner) : fmt::format("{} * {}", Axis(d, inner), Number(dense));
      index += (index.empty() ? "" : " + ") + step;
    }
    return index;
  }

  std::string Join(int v, const std::string& mine) const {
    return fmt::format("JoinGroup<{}, {}, {}>({})", RuleOf(v), plan_.across, plan_.along, mine);
  }

  void PrintKeptOutputs(Scope& outer) {
    std::vector<std::string> names;
    bool any = false;
    for (const loops::NestOutput& o : nest_.outputs) {
      names.push_back(o.kept ? Name(o.value, outer) : "");
      any |= o.kept;
    }
    if (!any) return;
    outer.Line("if (here && along == 0) {");
    for (size_t o = 0; o < nest_.outputs.size(); ++o) {
      if (nest_.outputs[o].kept) Store(outer, o, "kept", names[o]);
    }
    outer.Line("}");
  }

  // Everything in one kernel: a group reduces the whole of its kept index.
  void PrintWhole() {
    Scope outer;
    outer.lines = Place();
    std::string count = Number(nest_.reduced_size());
    for (int pass = 0; pass < nest_.passes(); ++pass) {
      PrintPass(outer, pass, "0", count);
      for (int v : ReductionsOf(pass + 1)) {
        outer.Line(fmt::format("const {0}::Total j{1} = {2};", RuleOf(v), v,
                               Join(v, fmt::format("t{}.Result()", v))));
        Finish(outer, v, fmt::format("j{}", v));
      }
    }
    PrintKeptOutputs(outer);
    AddKernel(0, outer.lines);
  }

  // ---- in chunks
  size_t TotalBytes(int v) const {
    DType dtype = value(v).node.dtype;  // totals of floats are doubles
    if (dtype == DType::kComplex64) return 16;
    return RegisterType(dtype) == "float" ? 8 : ItemSize(dtype);
  }
  void LayOutTotals() {
    for (int stage = 1; stage <= nest_.stages; ++stage) {
      for (int v : ReductionsOf(stage)) {
        totals_at_[v] = result_.workspace_bytes;
        size_t bytes = TotalBytes(v) * static_cast<size_t>(plan_.chunks * nest_.kept_size());
        result_.workspace_bytes += (bytes + 63) / 64 * 64;
      }
    }
  }
  // The array of the chunks' totals, one after another for each.
  std::string Totals(int v) {
    return fmt::format("(({}::Total*)(workspace + n.at[{}]))", RuleOf(v), TotalsNumber(v));
  }
  size_t TotalsNumber(int v) {
    Number(static_cast<int64_t>(totals_at_.at(v)));
    return result_.numbers.size() - 1;
  }

  void ReadTotals(Scope& outer, int stages, const std::string& chunks, const std::string& kept) {
    for (int stage = 1; stage <= stages; ++stage) {
      for (int v : ReductionsOf(stage)) {
        std::string rule = RuleOf(v);
        outer.Line(fmt::format("{0}::Total s{1} = {0}::Nothing();", rule, v));
        outer.Line(fmt::format("for (int c = along; c < {}; c += {})", chunks, plan_.along));
        outer.Line(fmt::format("  s{0} = {1}::Join(s{0}, {2}[c * {3} + kept]);", v, rule, Totals(v),
                               kept));
        outer.Line(
            fmt::format("const {0}::Total j{1} = {2};", rule, v, Join(v, fmt::format("s{}", v))));
        Finish(outer, v, fmt::format("j{}", v));
      }
    }
  }

  void PrintChunks() {
    LayOutTotals();
    int phases = 0;
    for (int pass = 0; pass < nest_.passes(); ++pass) {
      Scope outer;
      outer.lines = Place();
      std::string count = Number(nest_.reduced_size()), kept = Number(nest_.kept_size());
      std::string chunks = Number(plan_.chunks);
      outer.Line(fmt::format("const Index begin = (Index)((long long){} * blockIdx.y / {});", count,
                             chunks));
      outer.Line(fmt::format("const Index end = (Index)((long long){} * (blockIdx.y + 1) / {});",
                             count, chunks));
      ReadTotals(outer, pass, chunks, kept);
      PrintPass(outer, pass, "begin", "end");
      for (int v : ReductionsOf(pass + 1)) {
        outer.Line(fmt::format("const {0}::Total j{1} = {2};", RuleOf(v), v,
                               Join(v, fmt::format("t{}.Result()", v))));
        outer.Line(fmt::format("if (here && along == 0) {}[blockIdx.y * {} + kept] = j{};",
                               Totals(v), kept, v));
      }
      AddKernel(phases++, outer.lines);
    }
    bool any = std::any_of(nest_.outputs.begin(), nest_.outputs.end(),
                           [](const loops::NestOutput& o) { return o.kept; });
    if (any) {
      Scope outer;
      outer.lines = Place();
      std::string kept = Number(nest_.kept_size()), chunks = Number(plan_.chunks);
      ReadTotals(outer, nest_.stages, chunks, kept);
      PrintKeptOutputs(outer);
      AddKernel(phases++, outer.lines);
    }
    result_.phases = phases;
  }

  const LoopNest& nest_;
  const NestPlan& plan_;
  NestText& result_;
  std::string kernels_, why_;
  std::vector<int> argument_of_;  // of a leaf
  std::map<int, size_t> totals_at_;
};

}  // namespace

std::string PrintNest(const LoopNest& nest, const NestPlan& plan, NestText* result) {
  *result = {};
  return NestPrinter(nest, plan, result).Run();
}

}  // namespace ms::cuda
