#include "backends/cpu/codegen/tile_compiler.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/codegen/scalar_times.h"

namespace ms::cpu {
namespace {

bool IsHalf(DType t) { return t == DType::kFloat16 || t == DType::kBFloat16; }
DType RegisterType(DType t) { return IsHalf(t) ? DType::kFloat32 : t; }

int Arity(const ScalarNode& node) {
  int n = 0;
  while (n < 3 && node.args[n] >= 0) ++n;
  return n;
}

// The bytes of `value` as an element of a register.
void Encode(double value, DType type, char* out) {
  VisitDType(RegisterType(type), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      MS_ASSERT(false);
    } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      // Both ranges: constants such as 255 or -1 keep their bits.
      T v = value < 0 ? static_cast<T>(static_cast<int64_t>(value))
                      : static_cast<T>(static_cast<uint64_t>(value));
      std::memcpy(out, &v, sizeof(T));
    } else if constexpr (std::is_same_v<T, bool>) {
      bool v = value != 0;
      std::memcpy(out, &v, sizeof(T));
    } else if constexpr (std::is_floating_point_v<T>) {
      T v = static_cast<T>(value);
      std::memcpy(out, &v, sizeof(T));
    } else {
      T v(static_cast<typename T::value_type>(value));
      std::memcpy(out, &v, sizeof(T));
    }
  });
}

}  // namespace

bool TileCompiler::Refuse(std::string why) {
  refusal_ = std::move(why);
  return false;
}

int TileCompiler::NewValue(Place place, int index, DType dtype, bool uniform) {
  Value value;
  value.place = place;
  value.index = index;
  value.dtype = dtype;
  value.uniform = uniform;
  values_.push_back(value);
  return static_cast<int>(values_.size()) - 1;
}

bool TileCompiler::Emit(VectorFn fn, int out, const std::vector<int>& args, double cost) {
  Instruction i{fn, out, {args[0], args[0], args[0]}};
  for (size_t a = 0; a < args.size(); ++a) i.args[a] = args[a];
  if (values_[out].uniform) {
    program_.once_.push_back(i);
  } else {
    program_.steps_.push_back(i);
    program_.ns_per_element_ += cost;
  }
  return true;
}

bool TileCompiler::EmitCast(int from, int to) {
  DType a = values_[from].dtype;
  DType b = values_[to].dtype;
  VectorFn fn = table_.Cast(a, b);
  if (!fn) return Refuse(fmt::format("there is no conversion from {} to {}", Name(a), Name(b)));
  return Emit(fn, to, {from}, TimeOf(ScalarOp::kCast, a).tile_ns);
}

int TileCompiler::Constant(const ScalarNode& node) {
  int value = NewRegister(RegisterType(node.dtype), true);
  TileProgram::Fill fill{value, -1, table_.Fill(ItemSize(RegisterType(node.dtype))), {}};
  Encode(node.value, node.dtype, fill.value);
  program_.fills_.push_back(fill);
  return value;
}

bool TileCompiler::SelectInput(int n) {
  const ScalarNode& node = body_.nodes[n];
  const loops::Access& access = accesses_[static_cast<size_t>(node.input)];
  size_t item = ItemSize(node.dtype);
  int value;
  if (loops::IsDense(access, sizes_)) {
    value = NewValue(Place::kInput, node.input, node.dtype, false);
  } else if (loops::IsUniform(access, sizes_) && access.offset == 0) {
    value = NewRegister(node.dtype, true);
    program_.fills_.push_back({value, node.input, table_.Fill(item), {}});
  } else {
    value = NewRegister(node.dtype, false);
    program_.expansions_.push_back(
        {value, node.input, item, table_.Fill(item), BroadcastWalk(access, sizes_)});
    program_.ns_per_element_ += 0.2;
  }
  value_of_[n] = value;
  if (!IsHalf(node.dtype)) return true;
  value_of_[n] = NewRegister(DType::kFloat32, values_[value].uniform);
  return EmitCast(value, value_of_[n]);
}

// Whether the node's only use is to be stored in one output.
bool TileCompiler::OnlyStored(int n) const {
  return uses_[n] == 0 && std::count(body_.outputs.begin(), body_.outputs.end(), n) == 1;
}

bool TileCompiler::SelectCast(int n) {
  const ScalarNode& node = body_.nodes[n];
  int from = value_of_[node.args[0]];
  DType to = RegisterType(node.dtype);
  // Complex numbers reach other types by their real part.
  if (IsComplex(values_[from].dtype) && !table_.Cast(values_[from].dtype, to)) {
    int real = NewRegister(DType::kFloat64, values_[from].uniform);
    if (!EmitCast(from, real)) return false;
    from = real;
  }
  bool narrows = IsHalf(node.dtype) && values_[from].dtype == DType::kFloat64;
  if (values_[from].dtype != to && !narrows) {
    int value = NewRegister(to, values_[from].uniform);
    if (!EmitCast(from, value)) return false;
    from = value;
  }
  value_of_[n] = from;
  // A float register takes the half type's precision here, except where the store does that.
  bool rounds = IsHalf(node.dtype) && body_.nodes[node.args[0]].dtype != node.dtype;
  if (!rounds || OnlyStored(n)) return true;
  int half = NewRegister(node.dtype, values_[from].uniform);
  value_of_[n] = NewRegister(DType::kFloat32, values_[from].uniform);
  return EmitCast(from, half) && EmitCast(half, value_of_[n]);
}

bool TileCompiler::SelectOp(int n) {
  const ScalarNode& node = body_.nodes[n];
  std::vector<int> args;
  bool uniform = true;
  for (int a = 0; a < Arity(node); ++a) {
    args.push_back(value_of_[node.args[a]]);
    uniform = uniform && values_[args.back()].uniform;
  }
  DType operand = values_[args[node.op == ScalarOp::kSelect ? 1 : 0]].dtype;
  VectorFn fn = table_.Get(node.op, operand);
  // The form must not depend on whether a single element is one for all.
  bool one_exponent =
      node.op == ScalarOp::kPow && (values_[args[1]].uniform || program_.size_ == 1);
  if (one_exponent) fn = table_.uniform_pow[static_cast<int>(operand)];
  if (!fn)
    return Refuse(
        fmt::format("scalar op {} has no loop for {}", static_cast<int>(node.op), Name(operand)));
  value_of_[n] = NewRegister(RegisterType(node.dtype), uniform);
  return Emit(fn, value_of_[n], args, TimeOf(node.op, operand).tile_ns);
}

bool TileCompiler::SelectNode(int n) {
  switch (body_.nodes[n].op) {
    case ScalarOp::kInput:
      return SelectInput(n);
    case ScalarOp::kConstant:
      value_of_[n] = Constant(body_.nodes[n]);
      return true;
    case ScalarOp::kCast:
      return SelectCast(n);
    default:
      return SelectOp(n);
  }
}

// The instruction that computes a value writes it to the output's memory where types allow.
bool TileCompiler::StoreOutput(int o) {
  const ScalarNode& node = body_.nodes[body_.outputs[o]];
  Value& value = values_[value_of_[body_.outputs[o]]];
  bool computed = std::any_of(program_.steps_.begin(), program_.steps_.end(),
                              [&](const Instruction& i) { return &values_[i.out] == &value; });
  if (value.place == Place::kRegister && value.dtype == node.dtype && computed) {
    value.place = Place::kOutput;
    value.index = o;
    return true;
  }
  int from = value_of_[body_.outputs[o]];
  return EmitCast(from, NewValue(Place::kOutput, o, node.dtype, false));
}

std::string TileCompiler::Compile() {
  program_.size_ = 1;
  for (int64_t size : sizes_) program_.size_ *= size;
  value_of_.assign(body_.nodes.size(), -1);
  uses_.assign(body_.nodes.size(), 0);
  for (const ScalarNode& node : body_.nodes) {
    for (int a = 0; a < Arity(node); ++a) ++uses_[node.args[a]];
  }
  if (program_.size_ == 0) return "";
  for (int n = 0; n < static_cast<int>(body_.nodes.size()); ++n) {
    if (!SelectNode(n)) return refusal_;
  }
  for (int o = 0; o < static_cast<int>(body_.outputs.size()); ++o) {
    if (!StoreOutput(o)) return refusal_;
  }
  AssignRegisters();
  AssignSlots();
  return refusal_;
}

// Registers by linear scan over the steps. What is filled or computed once stays for good.
void TileCompiler::AssignRegisters() {
  auto& steps = program_.steps_;
  for (int s = 0; s < static_cast<int>(steps.size()); ++s) {
    for (int v : steps[s].args) values_[v].last_use = s;
  }
  std::vector<int> free;
  auto take = [&](Value& value) {
    if (value.place != Place::kRegister || value.index >= 0) return;
    if (free.empty() || value.uniform) {
      value.index = registers_++;
    } else {
      value.index = free.back();
      free.pop_back();
    }
  };
  for (Value& value : values_) {
    if (value.uniform) take(value);
  }
  for (const auto& expansion : program_.expansions_) take(values_[expansion.slot]);
  for (int s = 0; s < static_cast<int>(steps.size()); ++s) {
    Value& out = values_[steps[s].out];
    // A loop may write over an operand only where elements have one size.
    auto release = [&](bool same_size) {
      for (int a = 0; a < 3; ++a) {
        Value& arg = values_[steps[s].args[a]];
        bool seen =
            std::find(steps[s].args, steps[s].args + a, steps[s].args[a]) != steps[s].args + a;
        bool equal = ItemSize(arg.dtype) == ItemSize(out.dtype);
        if (seen || arg.last_use != s || arg.uniform || arg.place != Place::kRegister) continue;
        if (equal == same_size) free.push_back(arg.index);
      }
    };
    release(true);
    take(out);
    release(false);
  }
}

// Instructions so far name values; after this they name slots, of which values in one place share
// one.
bool TileCompiler::AssignSlots() {
  size_t item = 1;
  std::vector<int> slot_of;
  for (const Value& value : values_) {
    item = std::max(item, ItemSize(value.dtype));
    auto& slots = program_.slots_;
    auto it = std::find_if(slots.begin(), slots.end(), [&](const auto& slot) {
      return slot.place == value.place && slot.index == value.index;
    });
    slot_of.push_back(static_cast<int>(it - slots.begin()));
    if (it != slots.end()) continue;
    bool dense = value.place != Place::kRegister;
    slots.push_back(
        {value.place, value.index, dense ? static_cast<int64_t>(ItemSize(value.dtype)) : 0});
  }
  if (program_.slots_.size() > static_cast<size_t>(kMaxSlots)) {
    return Refuse(
        fmt::format("the body has {} values, more than {}", program_.slots_.size(), kMaxSlots));
  }
  for (auto* list : {&program_.once_, &program_.steps_}) {
    for (Instruction& i : *list) {
      i.out = slot_of[i.out];
      for (int& arg : i.args) arg = slot_of[arg];
    }
  }
  for (auto& fill : program_.fills_) fill.slot = slot_of[fill.slot];
  for (auto& expansion : program_.expansions_) expansion.slot = slot_of[expansion.slot];

  if (registers_ == 0) {
    program_.tile_ = program_.steps_.size() == 1 ? INT64_MAX : kMaxTile;
    return true;
  }
  int64_t tile = static_cast<int64_t>(kScratchBytes / (item * static_cast<size_t>(registers_)));
  if (tile < kMinTile) return Refuse(fmt::format("the body needs {} registers", registers_));
  program_.tile_ = std::min(kMaxTile, tile / kMinTile * kMinTile);
  program_.register_bytes_ = static_cast<size_t>(program_.tile_) * item;
  return true;
}

}  // namespace ms::cpu
