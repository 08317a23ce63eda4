#include "backends/cpu/codegen/llvm_scope.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ms::cpu {

DType RegisterType(DType type) {
  return type == DType::kFloat16 || type == DType::kBFloat16 ? DType::kFloat32 : type;
}

namespace {

std::string Element(DType type, bool memory) {
  switch (type) {
    case DType::kBool:
      return memory ? "i8" : "i1";
    case DType::kFloat32:
      return "float";
    case DType::kFloat64:
      return "double";
    case DType::kFloat16:
      return memory ? "half" : "float";
    case DType::kBFloat16:
      return memory ? "i16" : "float";
    default:
      return fmt::format("i{}", 8 * ItemSize(type));
  }
}

std::string Wide(const std::string& element, int lanes) {
  return lanes == 1 ? element : fmt::format("<{} x {}>", lanes, element);
}

}  // namespace

std::string LlvmType(DType type, int lanes) { return Wide(Element(type, false), lanes); }
std::string LlvmMemoryType(DType type, int lanes) { return Wide(Element(type, true), lanes); }

std::string LlvmConstant(double value, DType type, int lanes) {
  std::string text;
  if (type == DType::kBool) {
    text = value != 0 ? "true" : "false";
  } else if (IsInteger(type)) {
    auto bits = value < 0 ? static_cast<uint64_t>(static_cast<int64_t>(value))
                          : static_cast<uint64_t>(value);
    auto width = 8 * ItemSize(type);  // both ranges: constants such as 255 or -1 keep their bits
    text = fmt::format("{}", static_cast<int64_t>(bits << (64 - width)) >> (64 - width));
  } else {
    double rounded =
        type == DType::kFloat64 ? value : static_cast<double>(static_cast<float>(value));
    text = fmt::format("0x{:016X}", std::bit_cast<uint64_t>(rounded));
  }
  return lanes == 1 ? text : fmt::format("splat ({} {})", Element(type, false), text);
}

VectorFn LlvmCall::Find(const VectorTable& table) const {
  if (kind == Kind::kCast) return table.Cast(from, to);
  return kind == Kind::kOp ? table.Get(op, from) : table.uniform_pow[static_cast<int>(from)];
}

std::string LlvmCall::Name() const {
  if (kind == Kind::kCast) return fmt::format("cast {} {}", ms::Name(from), ms::Name(to));
  if (kind == Kind::kUniformPow) return fmt::format("uniform pow {}", ms::Name(from));
  return fmt::format("op {} {}", static_cast<int>(op), ms::Name(from));
}

std::string LlvmModule::Intrinsic(const std::string& name, const std::string& result,
                                  const std::string& arguments) {
  intrinsics_[name] = fmt::format("declare {} @{}({})\n", result, name, arguments);
  return "@" + name;
}

int LlvmModule::Call(const LlvmCall& call) {
  if (!call.Find(table)) {
    if (refusal.empty()) refusal = fmt::format("there is no vector loop '{}'", call.Name());
    return -1;
  }
  auto it = std::find(calls.begin(), calls.end(), call);
  if (it == calls.end()) it = calls.insert(calls.end(), call);
  return static_cast<int>(it - calls.begin());
}

std::string LlvmModule::Declarations() const {
  std::string text;
  for (const auto& [name, line] : intrinsics_) text += line;
  return text;
}

LlvmValue LlvmScope::Let(DType type, int lanes, const std::string& instruction) {
  return {Let(instruction), type, lanes};
}

std::string LlvmScope::Let(const std::string& instruction) {
  std::string name = module.NewName("t");
  code += fmt::format("  {} = {}\n", name, instruction);
  return name;
}

std::string LlvmScope::Reserve(const std::string& type) {
  std::string name = module.NewName("m");
  module.allocas += fmt::format("  {} = alloca {}, align 64\n", name, type);
  return name;
}

LlvmValue LlvmScope::Splat(const LlvmValue& value, int lanes) {
  if (value.lanes == lanes) return value;
  if (value.name[0] != '%') {  // a constant
    return {fmt::format("splat ({} {})", LlvmType(value.type, 1), value.name), value.type, lanes};
  }
  std::string wide = LlvmType(value.type, lanes);
  std::string first = Let(fmt::format("insertelement {} poison, {} {}, i64 0", wide,
                                      LlvmType(value.type, 1), value.name));
  return Let(value.type, lanes,
             fmt::format("shufflevector {} {}, {} poison, <{} x i32> zeroinitializer", wide, first,
                         wide, lanes));
}

LlvmLoop::LlvmLoop(LlvmScope& outer, std::string begin, std::string end, std::string step)
    : body(outer.module),
      outer_(outer),
      begin_(std::move(begin)),
      end_(std::move(end)),
      step_(std::move(step)),
      variable_(outer.Reserve("i64")),
      head_(outer.module.NewLabel("head")),
      enter_(outer.module.NewLabel("loop")),
      leave_(outer.module.NewLabel("done")) {
  index = body.Let(fmt::format("load i64, ptr {}", variable_));
}

void LlvmLoop::Close() {
  outer_.Do(fmt::format("store i64 {}, ptr {}", begin_, variable_));
  outer_.Do(fmt::format("br label %{}", head_));
  std::string now = outer_.module.NewName("t"), more = outer_.module.NewName("t");
  std::string next = body.Let(fmt::format("add nsw i64 {}, {}", index, step_));
  outer_.code += fmt::format(
      "{0}:\n  {1} = load i64, ptr {2}\n  {3} = icmp slt i64 {1}, {4}\n"
      "  br i1 {3}, label %{5}, label %{6}\n{5}:\n{7}  store i64 {8}, ptr {2}\n"
      "  br label %{0}\n{6}:\n",
      head_, now, variable_, more, end_, enter_, leave_, body.code, next);
}

std::string LlvmLoop::Last() { return outer_.Let(fmt::format("load i64, ptr {}", variable_)); }

LlvmIf::LlvmIf(LlvmScope& outer, std::string condition)
    : body(outer.module), outer_(outer), condition_(std::move(condition)) {}

void LlvmIf::Close() {
  std::string enter = outer_.module.NewLabel("then"), leave = outer_.module.NewLabel("after");
  outer_.code += fmt::format("  br i1 {}, label %{}, label %{}\n{}:\n{}  br label %{}\n{}:\n",
                             condition_, enter, leave, enter, body.code, leave, leave);
}

}  // namespace ms::cpu
