// LLVM text as it is written: instructions go to scopes, scopes nest as loops do, and what a loop
// does not change can still be written in front of it while its body is being written.
#pragma once

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "backends/cpu/isa/vector_table.h"

namespace ms::cpu {

// What the code is written for. The assembler picks the processor; these must be the same in the
// kernels that run before the code is ready.
struct LlvmTarget {
  int vector_bytes = 16;
  bool fma = false;  // eager kernels use fused multiplications
};

// The type that values of a dtype have in registers: half types are floats there.
DType RegisterType(DType type);
// "float", "<16 x float>"; one lane: a scalar. Bool is i1.
std::string LlvmType(DType type, int lanes);
std::string LlvmMemoryType(DType type, int lanes);
// A number of that type, all lanes the same.
std::string LlvmConstant(double value, DType type, int lanes);

struct LlvmValue {
  std::string name;
  DType type = DType::kFloat32;  // a register type
  int lanes = 1;
};

// A vector loop of the eager kernels that the code calls for what has no short text of its own.
struct LlvmCall {
  enum class Kind : uint8_t { kOp, kCast, kUniformPow };
  Kind kind;
  ScalarOp op;
  DType from;
  DType to;
  bool operator==(const LlvmCall&) const = default;
  VectorFn Find(const VectorTable& table) const;
  std::string Name() const;
};

// One module: names, declarations, the functions that are called.
class LlvmModule {
 public:
  LlvmModule(const LlvmTarget& target, const VectorTable& table) : target(target), table(table) {}

  std::string NewName(const char* prefix) { return fmt::format("%{}{}", prefix, ++names_); }
  std::string NewLabel(const char* prefix) { return fmt::format("{}{}", prefix, ++names_); }
  // The intrinsic's name, declared at the end.
  std::string Intrinsic(const std::string& name, const std::string& result,
                        const std::string& arguments);
  // The index of a call among the functions that the kernel is given; -1 if there is no such loop.
  int Call(const LlvmCall& call);
  std::string Declarations() const;

  const LlvmTarget& target;
  const VectorTable& table;
  std::vector<LlvmCall> calls;
  std::string allocas;  // of the function being written
  std::string refusal;  // the first thing that cannot be written

 private:
  int names_ = 0;
  std::map<std::string, std::string> intrinsics_;
};

// A place in a function where instructions are appended.
class LlvmScope {
 public:
  explicit LlvmScope(LlvmModule& module) : module(module) {}

  LlvmValue Let(DType type, int lanes, const std::string& instruction);
  std::string Let(const std::string& instruction);  // of no dtype: pointers and indices
  void Do(const std::string& instruction) { code += "  " + instruction + "\n"; }
  // Memory in the function's frame.
  std::string Reserve(const std::string& type);
  LlvmValue Splat(const LlvmValue& value, int lanes);

  LlvmModule& module;
  std::string code;
  std::unordered_map<int, LlvmValue> known;  // values of the nest that have been written here
};

// for (index = begin; index < end; index += step): `body` is written between Open and Close.
class LlvmLoop {
 public:
  LlvmLoop(LlvmScope& outer, std::string begin, std::string end, std::string step);
  LlvmScope body;
  std::string index;  // an i64
  // Appends the loop to the outer scope.
  void Close();
  // The index at the end, for code after Close.
  std::string Last();

 private:
  LlvmScope& outer_;
  std::string begin_, end_, step_, variable_, head_, enter_, leave_;
};

// if (condition) { body }.
class LlvmIf {
 public:
  LlvmIf(LlvmScope& outer, std::string condition);
  LlvmScope body;
  void Close();

 private:
  LlvmScope& outer_;
  std::string condition_;
};

// Between registers and memory, where Bool is a byte and half types are halves.
LlvmValue FromMemory(LlvmScope& scope, const std::string& loaded, DType type, int lanes);
std::string ToMemory(LlvmScope& scope, const LlvmValue& value, DType type);

// The result of a scalar op on values of one number of lanes; refuses through the module.
LlvmValue WriteScalar(LlvmScope& scope, const ScalarNode& node, const std::vector<LlvmValue>& args,
                      DType operand);
// From one dtype to another as the eager casts do; `from` may be a half type held as a float.
LlvmValue WriteCast(LlvmScope& scope, const LlvmValue& value, DType from, DType to);
// x^y for one y, a number or a value.
LlvmValue WriteUniformPow(LlvmScope& scope, const LlvmValue& x, const LlvmValue& y,
                          const double* constant);
// Float32 functions that loops/math_functions.h has; false if it has not.
bool WriteFunction(LlvmScope& scope, ScalarOp op, const LlvmValue& x, LlvmValue* result);

}  // namespace ms::cpu
