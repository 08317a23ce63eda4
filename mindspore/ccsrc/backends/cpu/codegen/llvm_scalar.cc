// LLVM text of scalar ops and casts, with the results of the vector loops in backends/cpu/isa, bit
// for bit. What has no short text is a call of such a loop on the lanes of one vector.
#include <array>

#include "backends/cpu/codegen/llvm_scope.h"

namespace ms::cpu {
namespace {

bool IsHalf(DType t) { return t == DType::kFloat16 || t == DType::kBFloat16; }
bool IsReal(DType t) { return t == DType::kFloat32 || t == DType::kFloat64; }
int Width(DType t) { return static_cast<int>(8 * ItemSize(t)); }

// Writes instructions on operands of one type and one number of lanes.
class Writer {
 public:
  Writer(LlvmScope& scope, DType type, int lanes) : scope_(scope), type_(type), lanes_(lanes) {}

  std::string type() const { return LlvmType(type_, lanes_); }
  std::string flags() const { return LlvmType(DType::kBool, lanes_); }
  std::string Number(double value) const { return LlvmConstant(value, type_, lanes_); }
  LlvmValue Give(const std::string& name) const { return {name, type_, lanes_}; }
  LlvmValue Flag(const std::string& name) const { return {name, DType::kBool, lanes_}; }

  std::string Two(const char* op, const std::string& a, const std::string& b) {
    return scope_.Let(fmt::format("{} {} {}, {}", op, type(), a, b));
  }
  std::string Compare(const char* how, const std::string& a, const std::string& b) {
    return scope_.Let(
        fmt::format("{} {} {} {}, {}", IsReal(type_) ? "fcmp" : "icmp", how, type(), a, b));
  }
  std::string Select(const std::string& flag, const std::string& a, const std::string& b) {
    return scope_.Let(
        fmt::format("select {} {}, {} {}, {} {}", flags(), flag, type(), a, type(), b));
  }
  std::string Intrinsic(const char* name, const std::string& a) {
    const char* element = type_ == DType::kFloat64 ? "f64" : "f32";
    std::string full = lanes_ == 1 ? fmt::format("llvm.{}.{}", name, element)
                                   : fmt::format("llvm.{}.v{}{}", name, lanes_, element);
    return scope_.Let(fmt::format("call {} {}({} {})", type(),
                                  scope_.module.Intrinsic(full, type(), type()), type(), a));
  }
  std::string As(const char* how, const std::string& value, DType to) {
    return scope_.Let(fmt::format("{} {} {} to {}", how, type(), value, LlvmType(to, lanes_)));
  }

 private:
  LlvmScope& scope_;
  DType type_;
  int lanes_;
};

// The call of a vector loop, through memory.
LlvmValue WriteCall(LlvmScope& scope, const LlvmCall& call, const std::vector<LlvmValue>& args,
                    DType to) {
  int lanes = args[0].lanes;
  LlvmValue nothing{LlvmConstant(0, RegisterType(to), lanes), RegisterType(to), lanes};
  int index = scope.module.Call(call);
  if (index < 0) return nothing;
  std::vector<std::string> slots;
  for (const LlvmValue& arg : args) {
    std::string value = arg.name;
    std::string type = LlvmMemoryType(arg.type, lanes);
    if (arg.type == DType::kBool) {
      value =
          scope.Let(fmt::format("zext {} {} to {}", LlvmType(DType::kBool, lanes), arg.name, type));
    }
    slots.push_back(scope.Reserve(type));
    scope.Do(fmt::format("store {} {}, ptr {}", type, value, slots.back()));
  }
  while (slots.size() < 3) slots.push_back(slots[0]);
  std::string memory = LlvmMemoryType(to, lanes);
  std::string out = scope.Reserve(memory);
  std::string place = scope.Let(fmt::format("getelementptr ptr, ptr %functions, i64 {}", index));
  std::string function = scope.Let(fmt::format("load ptr, ptr {}", place));
  scope.Do(fmt::format("call void {}(ptr {}, ptr {}, ptr {}, ptr {}, i64 {})", function, out,
                       slots[0], slots[1], slots[2], lanes));
  return FromMemory(scope, scope.Let(fmt::format("load {}, ptr {}", memory, out)), to, lanes);
}

const char* Comparison(ScalarOp op, DType type) {
  bool real = IsReal(type), sign = IsSigned(type);
  switch (op) {
    case ScalarOp::kLess:
      return real ? "olt" : sign ? "slt" : "ult";
    case ScalarOp::kLessEqual:
      return real ? "ole" : sign ? "sle" : "ule";
    case ScalarOp::kGreater:
      return real ? "ogt" : sign ? "sgt" : "ugt";
    case ScalarOp::kGreaterEqual:
      return real ? "oge" : sign ? "sge" : "uge";
    case ScalarOp::kEqual:
      return real ? "oeq" : "eq";
    case ScalarOp::kNotEqual:
      return real ? "une" : "ne";
    default:
      return nullptr;
  }
}

bool WriteReal(Writer& w, LlvmScope& scope, ScalarOp op, const std::vector<LlvmValue>& args,
               LlvmValue* result) {
  const std::string& a = args[0].name;
  std::string b = args.size() > 1 ? args[1].name : "";
  auto give = [&](const std::string& name) { return *result = w.Give(name), true; };
  auto flag = [&](const std::string& name) { return *result = w.Flag(name), true; };
  switch (op) {
    case ScalarOp::kAdd:
      return give(w.Two("fadd", a, b));
    case ScalarOp::kSub:
      return give(w.Two("fsub", a, b));
    case ScalarOp::kMul:
      return give(w.Two("fmul", a, b));
    case ScalarOp::kDiv:
      return give(w.Two("fdiv", a, b));
    case ScalarOp::kTruncDiv:
      return give(w.Intrinsic("trunc", w.Two("fdiv", a, b)));
    case ScalarOp::kMin:
    case ScalarOp::kMax: {  // a nan wins
      std::string m = w.Select(w.Compare(op == ScalarOp::kMin ? "olt" : "ogt", a, b), a, b);
      return give(w.Select(w.Compare("oeq", a, a), m, a));
    }
    case ScalarOp::kNeg:
      return give(scope.Let(fmt::format("fneg {} {}", w.type(), a)));
    case ScalarOp::kSign: {
      std::string zero = w.Number(0);
      std::string s = w.Select(w.Compare("olt", a, zero), w.Number(-1), zero);
      s = w.Select(w.Compare("ogt", a, zero), w.Number(1), s);
      return give(w.Select(w.Compare("oeq", a, a), s, a));
    }
    case ScalarOp::kAbs:
      return give(w.Intrinsic("fabs", a));
    case ScalarOp::kFloor:
      return give(w.Intrinsic("floor", a));
    case ScalarOp::kCeil:
      return give(w.Intrinsic("ceil", a));
    case ScalarOp::kTrunc:
      return give(w.Intrinsic("trunc", a));
    case ScalarOp::kRint:
      return give(w.Intrinsic("rint", a));
    case ScalarOp::kSqrt:
      return give(w.Intrinsic("sqrt", a));
    case ScalarOp::kRsqrt:
      return give(w.Two("fdiv", w.Number(1), w.Intrinsic("sqrt", a)));
    case ScalarOp::kIsNan:
      return flag(w.Compare("une", a, a));
    case ScalarOp::kIsInf:
      return flag(w.Compare("oeq", w.Intrinsic("fabs", a), w.Number(__builtin_inf())));
    case ScalarOp::kIsFinite:
      return flag(w.Compare("oeq", w.Two("fsub", a, a), w.Number(0)));
    default:
      return false;
  }
}

// Shifts by the width or more give 0, or the sign.
std::string WriteShift(Writer& w, bool left, DType type, const std::string& a,
                       const std::string& b) {
  std::string outside = w.Compare("uge", b, w.Number(Width(type)));
  std::string by = w.Select(outside, w.Number(IsSigned(type) && !left ? Width(type) - 1 : 0), b);
  std::string shifted = w.Two(left ? "shl" : IsSigned(type) ? "ashr" : "lshr", a, by);
  return IsSigned(type) && !left ? shifted : w.Select(outside, w.Number(0), shifted);
}

bool WriteInteger(Writer& w, ScalarOp op, DType type, const std::vector<LlvmValue>& args,
                  LlvmValue* result) {
  const std::string& a = args[0].name;
  std::string b = args.size() > 1 ? args[1].name : "";
  auto give = [&](const std::string& name) { return *result = w.Give(name), true; };
  const char* less = IsSigned(type) ? "slt" : "ult";
  const char* greater = IsSigned(type) ? "sgt" : "ugt";
  switch (op) {
    case ScalarOp::kAdd:
      return give(w.Two("add", a, b));
    case ScalarOp::kSub:
      return give(w.Two("sub", a, b));
    case ScalarOp::kMul:
      return give(w.Two("mul", a, b));
    case ScalarOp::kMin:
      return give(w.Select(w.Compare(less, a, b), a, b));
    case ScalarOp::kMax:
      return give(w.Select(w.Compare(greater, a, b), a, b));
    case ScalarOp::kNeg:
      return give(w.Two("sub", w.Number(0), a));
    case ScalarOp::kAbs:
      if (!IsSigned(type)) return give(a);
      return give(w.Select(w.Compare("slt", a, w.Number(0)), w.Two("sub", w.Number(0), a), a));
    case ScalarOp::kSign: {
      std::string s = w.Select(w.Compare(greater, a, w.Number(0)), w.Number(1), w.Number(0));
      if (!IsSigned(type)) return give(s);
      return give(w.Select(w.Compare("slt", a, w.Number(0)), w.Number(-1), s));
    }
    case ScalarOp::kAnd:
      return give(w.Two("and", a, b));
    case ScalarOp::kOr:
      return give(w.Two("or", a, b));
    case ScalarOp::kXor:
      return give(w.Two("xor", a, b));
    case ScalarOp::kNot:
      return give(w.Two("xor", a, w.Number(-1)));
    case ScalarOp::kShiftLeft:
    case ScalarOp::kShiftRight:
      return give(WriteShift(w, op == ScalarOp::kShiftLeft, type, a, b));
    default:
      return false;
  }
}

bool WriteBool(Writer& w, ScalarOp op, const std::vector<LlvmValue>& args, LlvmValue* result) {
  const std::string& a = args[0].name;
  std::string b = args.size() > 1 ? args[1].name : "";
  auto give = [&](const std::string& name) { return *result = w.Give(name), true; };
  switch (op) {
    case ScalarOp::kAnd:
    case ScalarOp::kMul:
    case ScalarOp::kMin:
      return give(w.Two("and", a, b));
    case ScalarOp::kOr:
    case ScalarOp::kAdd:
    case ScalarOp::kMax:
      return give(w.Two("or", a, b));
    case ScalarOp::kXor:
    case ScalarOp::kSub:
      return give(w.Two("xor", a, b));
    case ScalarOp::kNot:
      return give(w.Two("xor", a, w.Number(1)));
    case ScalarOp::kAbs:
    case ScalarOp::kSign:
      return give(a);
    default:
      return false;
  }
}

// Truncation; nan and what does not fit give the least number (see casts_isa.cc).
LlvmValue WriteToInteger(LlvmScope& scope, const LlvmValue& value, DType to) {
  bool long_way = ItemSize(to) == 8 || to == DType::kUInt32;
  DType middle = long_way ? DType::kInt64 : DType::kInt32;
  Writer w(scope, value.type, value.lanes);
  bool wide = value.type == DType::kFloat64;
  double low = long_way ? -9223372036854775808.0 : wide ? -2147483649.0 : -2147483904.0;
  std::string above = w.Compare(long_way ? "oge" : "ogt", value.name, w.Number(low));
  std::string below = w.Compare("olt", value.name, w.Number(long_way ? 0x1p63 : 0x1p31));
  std::string fits = scope.Let(fmt::format("and {} {}, {}", w.flags(), above, below));
  std::string least = w.Number(long_way ? -0x1p63 : -0x1p31);
  std::string x = w.As("fptosi", w.Select(fits, value.name, least), middle);
  if (to == middle || (ItemSize(to) == ItemSize(middle))) return {x, to, value.lanes};
  Writer n(scope, middle, value.lanes);
  return {n.As("trunc", x, to), to, value.lanes};
}

// A float takes the precision of a half type: its bits in memory.
std::string WriteHalfBits(LlvmScope& scope, const LlvmValue& value, DType to) {
  int n = value.lanes;
  Writer f(scope, DType::kFloat32, n);
  if (to == DType::kFloat16) {
    return scope.Let(
        fmt::format("fptrunc {} {} to {}", f.type(), value.name, LlvmMemoryType(to, n)));
  }
  Writer w(scope, DType::kInt32, n);
  std::string bits = f.As("bitcast", value.name, DType::kInt32);
  std::string high = w.Two("lshr", bits, w.Number(16));
  std::string even = w.Two("and", high, w.Number(1));
  std::string rounded = w.Two("add", w.Two("add", bits, w.Number(0x7fff)), even);
  rounded = w.Two("lshr", rounded, w.Number(16));
  std::string nan = f.Compare("uno", value.name, value.name);
  std::string result = w.Select(nan, w.Two("or", high, w.Number(0x40)), rounded);
  return scope.Let(fmt::format("trunc {} {} to {}", w.type(), result, LlvmMemoryType(to, n)));
}

LlvmValue WriteFromHalfBits(LlvmScope& scope, const std::string& bits, DType from, int lanes) {
  if (from == DType::kFloat16) {
    return scope.Let(DType::kFloat32, lanes,
                     fmt::format("fpext {} {} to {}", LlvmMemoryType(from, lanes), bits,
                                 LlvmType(DType::kFloat32, lanes)));
  }
  Writer w(scope, DType::kInt32, lanes);
  std::string wide =
      scope.Let(fmt::format("zext {} {} to {}", LlvmMemoryType(from, lanes), bits, w.type()));
  wide = w.Two("shl", wide, w.Number(16));
  return {w.As("bitcast", wide, DType::kFloat32), DType::kFloat32, lanes};
}

}  // namespace

LlvmValue FromMemory(LlvmScope& scope, const std::string& loaded, DType type, int lanes) {
  if (IsHalf(type)) return WriteFromHalfBits(scope, loaded, type, lanes);
  if (type != DType::kBool) return {loaded, type, lanes};
  return scope.Let(type, lanes,
                   fmt::format("icmp ne {} {}, {}", LlvmMemoryType(type, lanes), loaded,
                               lanes == 1 ? "0" : "zeroinitializer"));
}

std::string ToMemory(LlvmScope& scope, const LlvmValue& value, DType type) {
  if (IsHalf(type)) return WriteHalfBits(scope, value, type);
  if (type != DType::kBool) return value.name;
  return scope.Let(fmt::format("zext {} {} to {}", LlvmType(type, value.lanes), value.name,
                               LlvmMemoryType(type, value.lanes)));
}

LlvmValue WriteCast(LlvmScope& scope, const LlvmValue& value, DType from, DType to) {
  DType a = value.type, b = RegisterType(to);
  if (from == to) return value;
  if (IsHalf(to)) {
    if (a == DType::kFloat64) {  // rounded once
      return WriteCall(scope, {LlvmCall::Kind::kCast, ScalarOp::kCast, a, to}, {value}, to);
    }
    LlvmValue real = a == DType::kFloat32 ? value : WriteCast(scope, value, a, DType::kFloat32);
    return WriteFromHalfBits(scope, WriteHalfBits(scope, real, to), to, value.lanes);
  }
  if (a == b) return value;
  Writer w(scope, a, value.lanes);
  auto as = [&](const char* how) { return LlvmValue{w.As(how, value.name, b), b, value.lanes}; };
  if (b == DType::kBool) {
    return w.Flag(w.Compare(IsReal(a) ? "une" : "ne", value.name, w.Number(0)));
  }
  if (IsReal(a) && IsReal(b)) return as(b == DType::kFloat64 ? "fpext" : "fptrunc");
  if (IsReal(b)) return as(IsSigned(a) ? "sitofp" : "uitofp");
  if (IsReal(a)) {
    if (b != DType::kUInt64) return WriteToInteger(scope, value, b);
    return WriteCall(scope, {LlvmCall::Kind::kCast, ScalarOp::kCast, a, b}, {value}, b);
  }
  if (a == DType::kBool) return as("zext");
  if (ItemSize(a) == ItemSize(b)) return {value.name, b, value.lanes};
  if (ItemSize(a) > ItemSize(b)) return as("trunc");
  return as(IsSigned(a) ? "sext" : "zext");
}

LlvmValue WriteUniformPow(LlvmScope& scope, const LlvmValue& x, const LlvmValue& y,
                          const double* constant) {
  Writer w(scope, x.type, x.lanes);
  if (constant && IsReal(x.type)) {
    double p = *constant;
    if (p == 1) return x;
    if (p == 2) return w.Give(w.Two("fmul", x.name, x.name));
    if (p == 3) return w.Give(w.Two("fmul", w.Two("fmul", x.name, x.name), x.name));
    if (p == -1) return w.Give(w.Two("fdiv", w.Number(1), x.name));
    if (p == 0.5) {
      std::string root = w.Two("fadd", w.Intrinsic("sqrt", x.name), w.Number(0));
      std::string low = w.Compare("oeq", x.name, w.Number(-__builtin_inf()));
      return w.Give(w.Select(low, w.Number(__builtin_inf()), root));
    }
  }
  LlvmCall call{LlvmCall::Kind::kUniformPow, ScalarOp::kPow, x.type, x.type};
  return WriteCall(scope, call, {x, scope.Splat(y, x.lanes)}, x.type);
}

LlvmValue WriteScalar(LlvmScope& scope, const ScalarNode& node, const std::vector<LlvmValue>& args,
                      DType operand) {
  int lanes = args[0].lanes;
  Writer w(scope, operand, lanes);
  LlvmValue result;
  if (node.op == ScalarOp::kSelect) {
    return w.Give(w.Select(args[0].name, args[1].name, args[2].name));
  }
  if (const char* how = Comparison(node.op, operand)) {
    return w.Flag(w.Compare(how, args[0].name, args[1].name));
  }
  bool written;
  if (IsReal(operand)) {
    written = WriteReal(w, scope, node.op, args, &result) ||
              (operand == DType::kFloat32 && WriteFunction(scope, node.op, args[0], &result));
  } else if (operand == DType::kBool) {
    written = WriteBool(w, node.op, args, &result);
  } else {
    written = WriteInteger(w, node.op, operand, args, &result);
  }
  if (written) return result;
  LlvmCall call{LlvmCall::Kind::kOp, node.op, operand, RegisterType(node.dtype)};
  return WriteCall(scope, call, args, RegisterType(node.dtype));
}

}  // namespace ms::cpu
