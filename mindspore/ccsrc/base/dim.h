// Dim: a size that is an integer, or a polynomial of symbols whose values a call brings. Sizes are
// at least 1, so many comparisons have an answer for all values; the others are answered by the
// sizes of the call that is being compiled, and the answer becomes a guard (DimScope).
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace ms {

class Dim {
 public:
  constexpr Dim() = default;
  template <std::integral T>
  constexpr Dim(T value) : code_(static_cast<int64_t>(value)) {}  // NOLINT: an integer is a size
  static Dim Symbol(int index);
  // A size as attributes and shapes keep it: the integer itself, or a number of a band that no
  // size lies in. Equal expressions have equal codes.
  static constexpr Dim FromCode(int64_t code) { return Dim(code); }
  constexpr int64_t code() const { return code_; }

  constexpr bool symbolic() const { return IsSymbolicCode(code_); }
  int64_t value() const {  // refuses a symbolic size
    if (symbolic()) Refuse();
    return code_;
  }
  constexpr bool Is(int64_t value) const { return code_ == value; }      // surely so
  constexpr bool Same(Dim other) const { return code_ == other.code_; }  // surely equal
  int64_t Evaluate(std::span<const int64_t> symbols) const;
  // A number that the size is never below, if one is known.
  std::optional<int64_t> LowerBound() const;
  std::string ToString() const;  // "3", "s0", "2*s0*s1 + 1"

  static constexpr bool IsSymbolicCode(int64_t code) {
    return code >= kFirst && code < kFirst + kBand;
  }
  // What code that only knows integers says to a symbolic size: the compile then specialises.
  [[noreturn]] static void Refuse();

  friend Dim operator+(Dim a, Dim b);
  friend Dim operator-(Dim a, Dim b);
  friend Dim operator*(Dim a, Dim b);
  friend Dim operator/(Dim a, Dim b);  // rounds down, as Python's //
  friend Dim operator%(Dim a, Dim b);  // has the sign of b
  Dim& operator+=(Dim other) { return *this = *this + other; }
  Dim& operator*=(Dim other) { return *this = *this * other; }

  // Decisions: true for all sizes, false for all sizes, or a guard.
  friend bool operator==(Dim a, Dim b);
  friend bool operator<(Dim a, Dim b);
  friend bool operator>(Dim a, Dim b) { return b < a; }
  friend bool operator<=(Dim a, Dim b) { return !(b < a); }
  friend bool operator>=(Dim a, Dim b) { return !(a < b); }

 private:
  static constexpr int64_t kBand = int64_t{1} << 32;
  static constexpr int64_t kFirst = -(int64_t{1} << 62) - kBand;
  friend struct DimTable;
  int64_t code_ = 0;
};
using Dims = std::vector<Dim>;

Dims DimsFromCodes(std::span<const int64_t> codes);
std::vector<int64_t> CodesOf(const Dims& dims);

// What one compile knows and assumes about its symbols. While one is in use on a thread, questions
// that have no answer for all sizes are answered by `hints`, and remembered.
class DimScope {
 public:
  struct Guard {
    Dim difference;
    bool equality = false;  // the question: difference == 0; else difference > 0
    bool answer = false;
    bool operator==(const Guard& o) const {
      return difference.Same(o.difference) && equality == o.equality && answer == o.answer;
    }
  };

  std::vector<int64_t> hints;  // by symbol
  std::vector<Guard> guards;

  bool Decide(Dim difference, bool equality);
  // Whether all answers stay the same for these sizes.
  bool Holds(std::span<const int64_t> symbols) const;

  static DimScope* Current();
  class Use {
   public:
    explicit Use(DimScope* scope);
    ~Use();
    Use(const Use&) = delete;

   private:
    DimScope* outer_;
  };
};

}  // namespace ms

template <>
struct fmt::formatter<ms::Dim> : fmt::formatter<std::string> {
  template <class Context>
  auto format(ms::Dim dim, Context& context) const {
    return fmt::formatter<std::string>::format(dim.ToString(), context);
  }
};
