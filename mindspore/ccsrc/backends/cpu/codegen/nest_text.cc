#include "backends/cpu/codegen/nest_text.h"

#include <algorithm>

#include "backends/cpu/codegen/nest_writer.h"

namespace ms::cpu {
namespace {

// Keys of LlvmScope::known for other things than values in full width.
constexpr int kSplat = 1 << 20;   // a flat value in all lanes
constexpr int kOffset = 2 << 20;  // a leaf's or output's row
constexpr int kOutput = 1 << 19;

int LanesOf(const ScheduledNest& nest, const LlvmTarget& target) {
  size_t widest = 1;
  for (const loops::NestValue& v : nest.values) {
    if (!v.flat) widest = std::max(widest, ItemSize(RegisterType(v.node.dtype)));
  }
  int bytes = nest.tuning.narrow ? target.vector_bytes / 2 : target.vector_bytes;
  return std::max(2, bytes / static_cast<int>(widest));
}

// The element's name in intrinsics on memory.
std::string Suffix(DType type) {
  std::string element = LlvmMemoryType(type, 1);
  if (element == "float") return "f32";
  if (element == "double") return "f64";
  return element == "half" ? "f16" : element;
}

}  // namespace

NestWriter::NestWriter(const ScheduledNest& nest, const LlvmTarget& target,
                       const VectorTable& table, NestText* result)
    : nest_(nest), result_(*result), module_(target, table), lanes_(LanesOf(nest, target)) {}

std::string NestWriter::Run() {
  switch (nest_.schedule) {
    case ScheduledNest::Schedule::kElementwise:
      WriteElementwise();
      break;
    case ScheduledNest::Schedule::kRows:
      nest_.chunks == 1 ? WriteRows() : WriteRowChunks();
      break;
    case ScheduledNest::Schedule::kColumns:
      nest_.chunks == 1 ? WriteColumns() : WriteColumnChunks();
      break;
  }
  int bits = module_.target.vector_bytes * 8;
  result_.calls = module_.calls;
  for (const LlvmCall& call : module_.calls)
    result_.text += fmt::format("; calls the loop '{}'\n", call.Name());
  result_.text += module_.Declarations() + functions_text_;
  result_.text += fmt::format(
      "attributes #0 = {{ nounwind \"prefer-vector-width\"=\"{0}\" "
      "\"min-legal-vector-width\"=\"{0}\" }}\n",
      bits);
  if (nest_.tuning.streams) result_.text += "!0 = !{i32 1}\n";
  return module_.refusal;
}

std::string WriteNest(const ScheduledNest& nest, const LlvmTarget& target, const VectorTable& table,
                      NestText* result) {
  *result = {};
  return NestWriter(nest, target, table, result).Run();
}

void NestWriter::WritePhase(int64_t tasks, const std::function<void(LlvmScope&)>& write) {
  LlvmScope entry(module_);
  entry_ = &entry;
  params_.clear();
  pointers_.clear();
  module_.allocas.clear();
  LlvmLoop loop(entry, "%begin", "%end", "1");
  task_ = piece_ = &loop.body;
  at_.assign(nest_.sizes.size(), "");
  kept_ = loop.index;
  write(loop.body);
  loop.Close();
  functions_text_ += fmt::format(
      "define void @phase{}(ptr %inputs, ptr %outputs, ptr %params, ptr %scratch, ptr %workspace, "
      "ptr %functions, i64 %begin, i64 %end) #0 {{\nentry:\n{}{}{}  ret void\n}}\n",
      result_.tasks.size(), module_.allocas, entry.code,
      nest_.tuning.streams ? "  fence seq_cst\n" : "");
  result_.tasks.push_back(tasks);
}

std::string NestWriter::Param(const std::string& name, int64_t value) {
  if (auto it = params_.find(name); it != params_.end()) return it->second;
  auto [it, fresh] = param_index_.emplace(name, result_.parameters.size());
  if (fresh) result_.parameters.push_back(value);
  std::string place = At(*entry_, "i64", "%params", std::to_string(it->second));
  return params_[name] = entry_->Let(fmt::format("load i64, ptr {} ; {}", place, name));
}

void NestWriter::Decode(LlvmScope& scope, std::string flat, const std::vector<int>& axes) {
  for (size_t i = axes.size(); i-- > 0;) {
    int axis = axes[i];
    if (i == 0) {
      at_[axis] = flat;
      return;
    }
    at_[axis] = scope.Let(fmt::format("urem i64 {}, {}", flat, SizeOf(axis)));
    flat = scope.Let(fmt::format("udiv i64 {}, {}", flat, SizeOf(axis)));
  }
}

std::string NestWriter::OffsetIn(LlvmScope& scope, const std::string& name, const Ints& strides,
                                 int64_t offset) {
  std::string sum = offset == 0 ? "" : Param(name + ".offset", offset);
  for (size_t d = 0; d + 1 < strides.size(); ++d) {
    if (strides[d] == 0) continue;
    std::string stride = Param(fmt::format("{}.stride{}", name, d), strides[d]);
    std::string term = scope.Let(fmt::format("mul nsw i64 {}, {}", at_[d], stride));
    sum = sum.empty() ? term : scope.Let(fmt::format("add nsw i64 {}, {}", sum, term));
  }
  return sum.empty() ? "0" : sum;
}

std::string NestWriter::Pointer(const std::string& array, int index) {
  std::string key = fmt::format("{}{}", array, index);
  if (auto it = pointers_.find(key); it != pointers_.end()) return it->second;
  std::string place = At(*entry_, "ptr", "%" + array, std::to_string(index));
  return pointers_[key] = entry_->Let(fmt::format("load ptr, ptr {}", place));
}

std::string NestWriter::ScratchPointer(LlvmScope& scope, int64_t bytes_at) {
  result_.scratch_bytes = std::max(result_.scratch_bytes, static_cast<size_t>(bytes_at));
  return At(scope, "i8", "%scratch", std::to_string(bytes_at));
}

// The lanes that are below `count`, which may be more than there are lanes.
std::string NestWriter::MaskOf(LlvmScope& scope, const std::string& count) {
  std::string few = scope.Let(fmt::format("icmp slt i64 {}, {}", count, lanes_));
  std::string left = scope.Let(fmt::format("select i1 {}, i64 {}, i64 {}", few, count, lanes_));
  left = scope.Let(fmt::format("trunc i64 {} to i32", left));
  left = scope.Splat({left, DType::kInt32, 1}, lanes_).name;
  std::string numbers;
  for (int i = 0; i < lanes_; ++i) numbers += fmt::format("{}i32 {}", i ? ", " : "", i);
  return scope.Let(
      fmt::format("icmp ugt {} {}, <{}>", LlvmType(DType::kInt32, lanes_), left, numbers));
}

// Whole vectors, then what remains under a mask. A long body is not written twice, which would take
// twice the time to compile: where masks cost little, all its vectors have one.
void NestWriter::VectorLoop(LlvmScope& outer, const std::string& begin, const std::string& end,
                            const Body& body) {
  constexpr auto kLong = 60;  // instructions
  std::string count = outer.Let(fmt::format("sub nsw i64 {}, {}", end, begin));
  int64_t step = lanes_ * nest_.tuning.unroll;
  std::string rest = outer.Let(fmt::format("urem i64 {}, {}", count, step));
  std::string whole = outer.Let(fmt::format("sub nsw i64 {}, {}", count, rest));
  LlvmLoop loop(outer, "0", whole, std::to_string(step));
  for (int64_t i = 0; i < nest_.tuning.unroll; ++i) {
    LlvmScope& scope = loop.body;
    scope.known.clear();
    std::string local =
        i == 0 ? loop.index : scope.Let(fmt::format("add nsw i64 {}, {}", loop.index, i * lanes_));
    Lane lane{&scope, PlusBegin(scope, begin, local), local, ""};
    body(lane);
  }
  if (nest_.tuning.unroll > 1) {
    loop.Close();
    return MaskedLoop(outer, begin, whole, count, body);
  }
  auto lines = std::count(loop.body.code.begin(), loop.body.code.end(), '\n');
  if (module_.target.vector_bytes == 64 && lines > kLong)
    return MaskedLoop(outer, begin, "0", count, body);
  loop.Close();
  std::string some = outer.Let(fmt::format("icmp ne i64 {}, 0", rest));
  LlvmIf remainder(outer, some);
  LlvmScope& scope = remainder.body;
  Lane last{&scope, PlusBegin(scope, begin, whole), whole, MaskOf(scope, rest)};
  body(last);
  remainder.Close();
}

// All vectors from `first` on, under a mask.
void NestWriter::MaskedLoop(LlvmScope& outer, const std::string& begin, const std::string& first,
                            const std::string& count, const Body& body) {
  LlvmLoop loop(outer, first, count, std::to_string(lanes_));
  LlvmScope& scope = loop.body;
  std::string left = scope.Let(fmt::format("sub nsw i64 {}, {}", count, loop.index));
  Lane lane{&scope, PlusBegin(scope, begin, loop.index), loop.index, MaskOf(scope, left)};
  body(lane);
  loop.Close();
}

std::string NestWriter::PlusBegin(LlvmScope& scope, const std::string& begin,
                                  const std::string& local) {
  return begin == "0" ? local : scope.Let(fmt::format("add nsw i64 {}, {}", begin, local));
}

LlvmValue NestWriter::Compute(int v, LlvmScope& scope,
                              const std::function<LlvmValue(int)>& operand) {
  const ScalarNode& node = nest_.values[v].node;
  std::vector<LlvmValue> args;
  for (int arg : node.args) {
    if (arg >= 0) args.push_back(operand(arg));
  }
  if (node.op == ScalarOp::kCast) {
    return WriteCast(scope, args[0], nest_.values[node.args[0]].node.dtype, node.dtype);
  }
  if (node.op == ScalarOp::kPow && nest_.values[node.args[1]].uniform) {
    const ScalarNode& power = nest_.values[node.args[1]].node;
    bool number = power.op == ScalarOp::kConstant;
    return WriteUniformPow(scope, args[0], args[1], number ? &power.value : nullptr);
  }
  return WriteScalar(scope, node, args, args[node.op == ScalarOp::kSelect ? 1 : 0].type);
}

LlvmValue NestWriter::Flat(int v) {
  const loops::NestValue& value = nest_.values[v];
  const ScalarNode& node = value.node;
  if (node.op == ScalarOp::kConstant && value.reduction == loops::Reduction::kNone) {
    DType type = RegisterType(node.dtype);
    double number = node.value;
    return {LlvmConstant(number, type, 1), type, 1};
  }
  bool outer = value.kept || value.uniform;
  LlvmScope& scope = outer ? *task_ : *piece_;
  if (auto it = scope.known.find(v); it != scope.known.end()) return it->second;
  LlvmValue result;
  if (node.op == ScalarOp::kInput) {
    MS_ASSERT(value.reduction == loops::Reduction::kNone);  // totals are known when they are made
    const loops::NestLeaf& leaf = nest_.leaves[node.input];
    std::string offset =
        OffsetIn(scope, fmt::format("leaf{}", node.input), leaf.strides, leaf.offset);
    std::string type = LlvmMemoryType(node.dtype, 1);
    std::string place = At(scope, type, Pointer("inputs", leaf.input), offset);
    std::string loaded = scope.Let(fmt::format("load {}, ptr {}", type, place));
    result = FromMemory(scope, loaded, node.dtype, 1);
  } else {
    result = Compute(v, scope, [&](int arg) { return Flat(arg); });
  }
  return scope.known[v] = result;
}

// Processors follow plain loads through memory and fetch ahead, but not loads under a mask: a loop
// of those waits for every line, which makes it up to 1.7 times as long.
void NestWriter::PrefetchAfter(LlvmScope& scope, const std::string& pointer) {
  constexpr auto kBytesAhead = "1024";
  std::string name = module_.Intrinsic("llvm.prefetch.p0", "void", "ptr, i32, i32, i32");
  std::string place = At(scope, "i8", pointer, kBytesAhead);
  scope.Do(
      fmt::format("call void {}(ptr {}, i32 0, i32 3, i32 1)", name, place));  // read, keep, data
}

// Loads and stores under a mask are written as LLVM 20 wants them; from 22 on it reads that as its
// own form, while 20 dies of the newer one.
LlvmValue NestWriter::LoadFrom(Lane& lane, const std::string& pointer, DType type, bool padded) {
  LlvmScope& scope = *lane.scope;
  std::string memory = LlvmMemoryType(type, lanes_);
  std::string loaded;
  if (lane.mask.empty() || padded) {
    loaded = scope.Let(fmt::format("load {}, ptr {}, align {}", memory, pointer, ItemSize(type)));
  } else {
    std::string name =
        module_.Intrinsic(fmt::format("llvm.masked.load.v{}{}.p0", lanes_, Suffix(type)), memory,
                          fmt::format("ptr, i32, <{} x i1>, {}", lanes_, memory));
    loaded =
        scope.Let(fmt::format("call {} {}(ptr {}, i32 {}, <{} x i1> {}, {} zeroinitializer)",
                              memory, name, pointer, ItemSize(type), lanes_, lane.mask, memory));
  }
  return FromMemory(scope, loaded, type, lanes_);
}

void NestWriter::StoreTo(Lane& lane, const std::string& pointer, const LlvmValue& value, DType type,
                         bool padded) {
  LlvmScope& scope = *lane.scope;
  std::string memory = LlvmMemoryType(type, lanes_);
  std::string stored = ToMemory(scope, value, type);
  if (lane.mask.empty() || padded) {
    bool streams = nest_.tuning.streams && !padded;  // the rows of outputs are aligned then
    auto item = static_cast<int>(ItemSize(type));
    scope.Do(fmt::format("store {} {}, ptr {}, align {}{}", memory, stored, pointer,
                         streams ? item * lanes_ : item, streams ? ", !nontemporal !0" : ""));
    return;
  }
  std::string name =
      module_.Intrinsic(fmt::format("llvm.masked.store.v{}{}.p0", lanes_, Suffix(type)), "void",
                        fmt::format("{}, ptr, i32, <{} x i1>", memory, lanes_));
  scope.Do(fmt::format("call void {}({} {}, ptr {}, i32 {}, <{} x i1> {})", name, memory, stored,
                       pointer, ItemSize(type), lanes_, lane.mask));
}

LlvmValue NestWriter::Load(int v, Lane& lane) {
  const ScalarNode& node = nest_.values[v].node;
  const loops::NestLeaf& leaf = nest_.leaves[node.input];
  std::string name = fmt::format("leaf{}", node.input);
  std::string element = LlvmMemoryType(node.dtype, 1);
  auto [row, fresh] = piece_->known.try_emplace(kOffset + node.input);
  if (fresh) {
    std::string offset = OffsetIn(*piece_, name, leaf.strides, leaf.offset);
    std::string pointer = At(*piece_, element, Pointer("inputs", leaf.input), offset);
    row->second.name = pointer;
  }
  std::string pointer = row->second.name;
  LlvmScope& scope = *lane.scope;
  int64_t stride = leaf.strides.back();
  if (stride == 1) {
    std::string place = At(scope, element, pointer, lane.index);
    if (!lane.mask.empty()) PrefetchAfter(scope, place);
    return LoadFrom(lane, place, node.dtype, false);
  }
  // Elements one by one; those beyond the end are read at the last index that there is.
  std::string step = Param(name + ".inner", stride);
  std::string memory = LlvmMemoryType(node.dtype, lanes_);
  std::string last =
      scope.Let(fmt::format("sub nsw i64 {}, 1", SizeOf(static_cast<int>(nest_.sizes.size()) - 1)));
  std::string loaded = "poison";
  for (int i = 0; i < lanes_; ++i) {
    std::string index = scope.Let(fmt::format("add nsw i64 {}, {}", lane.index, i));
    if (!lane.mask.empty()) {
      std::string in = scope.Let(fmt::format("icmp slt i64 {}, {}", index, last));
      index = scope.Let(fmt::format("select i1 {}, i64 {}, i64 {}", in, index, last));
    }
    std::string place =
        At(scope, element, pointer, scope.Let(fmt::format("mul nsw i64 {}, {}", index, step)));
    std::string one = scope.Let(fmt::format("load {}, ptr {}", element, place));
    loaded = scope.Let(
        fmt::format("insertelement {} {}, {} {}, i64 {}", memory, loaded, element, one, i));
  }
  return FromMemory(scope, loaded, node.dtype, lanes_);
}

// A value in all lanes of the innermost loop.
LlvmValue NestWriter::Value(int v, Lane& lane) {
  const loops::NestValue& value = nest_.values[v];
  if (value.flat) {
    LlvmValue scalar = Flat(v);
    if (scalar.name[0] != '%') return lane.scope->Splat(scalar, lanes_);
    LlvmScope& scope = value.kept || value.uniform ? *task_ : *piece_;
    if (auto it = scope.known.find(kSplat + v); it != scope.known.end()) return it->second;
    return scope.known[kSplat + v] = scope.Splat(scalar, lanes_);
  }
  LlvmScope& scope = *lane.scope;
  if (auto it = scope.known.find(v); it != scope.known.end()) return it->second;
  auto remember = [&](const LlvmValue& result) { return scope.known[v] = result; };
  DType type = RegisterType(value.node.dtype);
  if (value.reduction != loops::Reduction::kNone ||
      (IsHoisted(v) && !finishing_)) {  // columns only
    std::string place = At(scope, LlvmMemoryType(type, 1), ColumnArray(*task_, v), lane.local);
    return remember(LoadFrom(lane, place, type, true));
  }
  if (value.node.op == ScalarOp::kInput) return remember(Load(v, lane));
  auto slot = std::find(nest_.buffered.begin(), nest_.buffered.end(), v);
  std::string buffer;
  if (slot != nest_.buffered.end()) {
    int64_t row = nest_.pieces() * nest_.piece_span();
    std::string stride = Param("buffer", row * 8);
    std::string from =
        scope.Let(fmt::format("mul nsw i64 {}, {}", stride, slot - nest_.buffered.begin()));
    std::string base = At(scope, "i8", "%scratch", from);
    std::string index = scope.Let(fmt::format("add nsw i64 {}, {}", span_at_, lane.local));
    buffer = At(scope, LlvmMemoryType(type, 1), base, index);
    result_.scratch_bytes =
        std::max(result_.scratch_bytes, nest_.buffered.size() * static_cast<size_t>(row) * 8);
    if (auto it = first_pass_.find(v); it != first_pass_.end() && it->second < pass_)
      return remember(LoadFrom(lane, buffer, type, true));
  }
  LlvmValue result = Compute(v, scope, [&](int arg) { return Value(arg, lane); });
  if (!buffer.empty()) {
    first_pass_.emplace(v, pass_);
    StoreTo(lane, buffer, result, type, true);
  }
  return remember(result);
}

void NestWriter::StoreOutputs(Lane& lane) {
  Ints strides(nest_.sizes.size(), 1);
  for (size_t d = strides.size() - 1; d-- > 0;) strides[d] = strides[d + 1] * nest_.sizes[d + 1];
  // All values first: an output may have the memory of an input.
  std::vector<LlvmValue> values;
  for (const loops::NestOutput& o : nest_.outputs)
    values.push_back(o.kept ? LlvmValue{} : Value(o.value, lane));
  for (size_t o = 0; o < nest_.outputs.size(); ++o) {
    if (nest_.outputs[o].kept) continue;
    DType type = nest_.values[nest_.outputs[o].value].node.dtype;
    std::string element = LlvmMemoryType(type, 1);
    auto [row, fresh] = piece_->known.try_emplace(kOffset + kOutput + static_cast<int>(o));
    if (fresh) {
      std::string offset = OffsetIn(*piece_, "full", strides, 0);
      row->second.name = At(*piece_, element, Pointer("outputs", static_cast<int>(o)), offset);
    }
    StoreTo(lane, At(*lane.scope, element, row->second.name, lane.index), values[o], type, false);
  }
}

}  // namespace ms::cpu
