// Polynomials with integer coefficients over atoms: symbols, and quotients and remainders that do
// not divide evenly. All are interned, so that equal ones are one number; the table only grows, by
// what programs differ in their expressions, since all compiles share the symbols s0, s1, ...
#include "base/dim.h"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>

#include "base/mutex.h"

namespace ms {
namespace {

using Monomial = std::vector<uint32_t>;  // atoms in order, repeated for powers
struct GradedOrder {                     // by degree, then lexicographic: multiplication keeps it
  bool operator()(const Monomial& a, const Monomial& b) const {
    return a.size() != b.size() ? a.size() < b.size() : b < a;
  }
};
using Polynomial = std::map<Monomial, int64_t, GradedOrder>;  // no zero coefficients

struct Atom {
  enum class Kind : uint8_t { kSymbol, kQuotient, kRemainder };
  Kind kind = Kind::kSymbol;
  int64_t a = 0;  // the symbol's index, or the code of the dividend
  int64_t b = 0;  // the code of the divisor
  auto operator<=>(const Atom&) const = default;
};

constexpr size_t kMaxTerms = 64;  // what is longer is not worth carrying: the compile specialises
constexpr size_t kMaxDegree = 12;

int64_t Multiply(int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_mul_overflow(a, b, &result)) {
    Throw(ErrorKind::kValue, "the sizes must not overflow, but got the product of {} and {}", a, b);
  }
  return result;
}
int64_t Add(int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_add_overflow(a, b, &result)) {
    Throw(ErrorKind::kValue, "the sizes must not overflow, but got the sum of {} and {}", a, b);
  }
  return result;
}
int64_t FloorDivide(int64_t a, int64_t b) {
  if (b == 0) Throw(ErrorKind::kZeroDivision, "a size must not be divided by zero");
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

void AddTo(Polynomial& p, const Monomial& m, int64_t coefficient) {
  auto [it, fresh] = p.try_emplace(m, coefficient);
  if (!fresh) it->second = Add(it->second, coefficient);
  if (it->second == 0) p.erase(it);
}

Monomial Product(const Monomial& a, const Monomial& b) {
  Monomial result(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), result.begin());
  if (result.size() > kMaxDegree) Dim::Refuse();
  return result;
}

Polynomial Product(const Polynomial& a, const Polynomial& b) {
  Polynomial result;
  for (const auto& [m, c] : a) {
    for (const auto& [n, d] : b) AddTo(result, Product(m, n), Multiply(c, d));
  }
  return result;
}

// The quotient where nothing remains.
std::optional<Polynomial> ExactQuotient(Polynomial a, const Polynomial& b) {
  Polynomial quotient;
  const auto& [lead, coefficient] = *b.rbegin();
  while (!a.empty()) {
    const auto& [m, c] = *a.rbegin();
    if (c % coefficient != 0 || !std::includes(m.begin(), m.end(), lead.begin(), lead.end()))
      return std::nullopt;
    Monomial rest;
    std::set_difference(m.begin(), m.end(), lead.begin(), lead.end(), std::back_inserter(rest));
    int64_t factor = c / coefficient;
    AddTo(quotient, rest, factor);
    for (const auto& [n, d] : b) AddTo(a, Product(n, rest), Multiply(-factor, d));
  }
  return quotient;
}

}  // namespace

struct DimTable {
  static DimTable& Get() {
    static auto* table = new DimTable;
    return *table;
  }

  uint32_t AtomIndex(const Atom& atom) {
    std::lock_guard lock(mutex);
    auto [it, fresh] = atom_index.try_emplace(atom, static_cast<uint32_t>(atoms.size()));
    if (fresh) atoms.push_back(atom);
    return it->second;
  }
  Atom AtomAt(uint32_t index) {
    std::lock_guard lock(mutex);
    return atoms[index];
  }

  Dim DimOf(const Polynomial& p) {
    if (p.empty()) return 0;
    if (p.size() == 1 && p.begin()->first.empty()) {
      if (Dim::IsSymbolicCode(p.begin()->second)) Dim::Refuse();
      return p.begin()->second;
    }
    if (p.size() > kMaxTerms) Dim::Refuse();
    std::lock_guard lock(mutex);
    auto [it, fresh] = index.try_emplace(p, static_cast<int64_t>(polynomials.size()));
    if (fresh) polynomials.push_back(&it->first);
    return Dim::FromCode(Dim::kFirst + it->second);
  }
  Polynomial PolynomialOf(Dim dim) {
    if (dim.Is(0)) return {};
    if (!dim.symbolic()) return {{{}, dim.code()}};
    std::lock_guard lock(mutex);
    return *polynomials.at(static_cast<size_t>(dim.code() - Dim::kFirst));
  }

  Mutex mutex;
  std::deque<Atom> atoms;
  std::map<Atom, uint32_t> atom_index;
  std::map<Polynomial, int64_t> index;
  std::deque<const Polynomial*> polynomials;  // keys of `index`
};

namespace {

DimTable& Table() { return DimTable::Get(); }
Polynomial Read(Dim dim) { return Table().PolynomialOf(dim); }

Dim OfAtom(Atom::Kind kind, Dim a, Dim b) {
  return Table().DimOf({{{Table().AtomIndex({kind, a.code(), b.code()})}, 1}});
}

std::optional<int64_t> LowerBoundOf(const Atom& atom) {
  if (atom.kind == Atom::Kind::kSymbol) return 1;
  auto divisor = Dim::FromCode(atom.b).LowerBound();
  if (!divisor || *divisor < 1) return std::nullopt;
  if (atom.kind == Atom::Kind::kRemainder) return 0;
  auto dividend = Dim::FromCode(atom.a).LowerBound();
  if (!dividend || *dividend < 0) return std::nullopt;
  return 0;
}

int64_t ValueOf(uint32_t index, std::span<const int64_t> symbols) {
  Atom atom = Table().AtomAt(index);
  if (atom.kind == Atom::Kind::kSymbol) {
    MS_ASSERT(static_cast<size_t>(atom.a) < symbols.size());
    return symbols[static_cast<size_t>(atom.a)];
  }
  int64_t a = Dim::FromCode(atom.a).Evaluate(symbols);
  int64_t b = Dim::FromCode(atom.b).Evaluate(symbols);
  int64_t quotient = FloorDivide(a, b);
  return atom.kind == Atom::Kind::kQuotient ? quotient : a - quotient * b;
}

// A sum stands in parentheses where an operator follows.
std::string OperandText(int64_t code) {
  std::string text = Dim::FromCode(code).ToString();
  return text.find(' ') == std::string::npos || text.front() == '(' ? text
                                                                    : fmt::format("({})", text);
}

std::string TextOf(uint32_t index) {
  Atom atom = Table().AtomAt(index);
  if (atom.kind == Atom::Kind::kSymbol) return fmt::format("s{}", atom.a);
  return fmt::format("({} {} {})", OperandText(atom.a),
                     atom.kind == Atom::Kind::kQuotient ? "//" : "%", OperandText(atom.b));
}

// a == 0 for no integers: the coefficients have a common divisor that the constant lacks.
bool NeverZero(const Polynomial& p) {
  int64_t divisor = 0, constant = 0;
  for (const auto& [m, c] : p) {
    if (m.empty())
      constant = c;
    else
      divisor = std::gcd(divisor, c);
  }
  return divisor > 1 && constant % divisor != 0;
}

}  // namespace

void Dim::Refuse() {
  Throw(ErrorKind::kSymbolic, "its sizes must be known when it is compiled, but got a dynamic one");
}

Dim Dim::Symbol(int index) {
  return Table().DimOf({{{Table().AtomIndex({Atom::Kind::kSymbol, index, 0})}, 1}});
}

Dim operator+(Dim a, Dim b) {
  if (!a.symbolic() && !b.symbolic()) return Add(a.code_, b.code_);
  Polynomial sum = Read(a);
  for (const auto& [m, c] : Read(b)) AddTo(sum, m, c);
  return Table().DimOf(sum);
}

Dim operator*(Dim a, Dim b) {
  if (!a.symbolic() && !b.symbolic()) return Multiply(a.code_, b.code_);
  return Table().DimOf(Product(Read(a), Read(b)));
}

Dim operator-(Dim a, Dim b) { return a + b * -1; }

Dim operator/(Dim a, Dim b) {
  if (!a.symbolic() && !b.symbolic()) return FloorDivide(a.code_, b.code_);
  if (b == 0) Throw(ErrorKind::kZeroDivision, "a size must not be divided by zero");
  Polynomial divisor = Read(b);
  if (auto exact = ExactQuotient(Read(a), divisor)) return Table().DimOf(*exact);
  if (b.symbolic()) return OfAtom(Atom::Kind::kQuotient, a, b);
  // Multiples of a constant divisor leave the quotient.
  Polynomial whole, rest;
  for (const auto& [m, c] : Read(a)) {
    int64_t quotient = FloorDivide(c, b.code_);
    if (quotient != 0) AddTo(whole, m, quotient);
    if (c != quotient * b.code_) AddTo(rest, m, c - quotient * b.code_);
  }
  Dim remaining = Table().DimOf(rest);
  if (!remaining.symbolic()) return Table().DimOf(whole) + FloorDivide(remaining.code_, b.code_);
  return Table().DimOf(whole) + OfAtom(Atom::Kind::kQuotient, remaining, b);
}

Dim operator%(Dim a, Dim b) {
  if (!a.symbolic() && !b.symbolic()) return a.code_ - FloorDivide(a.code_, b.code_) * b.code_;
  if (b == 0) Throw(ErrorKind::kZeroDivision, "a size must not be divided by zero");
  if (ExactQuotient(Read(a), Read(b))) return 0;
  if (b.symbolic()) return OfAtom(Atom::Kind::kRemainder, a, b);
  Polynomial rest;
  for (const auto& [m, c] : Read(a)) {
    int64_t remainder = c - FloorDivide(c, b.code_) * b.code_;
    if (remainder != 0) AddTo(rest, m, remainder);
  }
  Dim remaining = Table().DimOf(rest);
  if (!remaining.symbolic()) return remaining % b;
  return OfAtom(Atom::Kind::kRemainder, remaining, b);
}

std::optional<int64_t> Dim::LowerBound() const {
  if (!symbolic()) return code_;
  // With every atom written as its bound plus something that is not negative, no coefficient but
  // the constant may be negative; the constant is the bound then.
  Polynomial shifted;
  for (const auto& [m, c] : Read(*this)) {
    Polynomial part{{{}, c}};
    for (uint32_t atom : m) {
      auto bound = LowerBoundOf(Table().AtomAt(atom));
      if (!bound) return std::nullopt;
      Polynomial factor{{{atom}, 1}};
      if (*bound != 0) factor[{}] = *bound;
      part = Product(part, factor);
    }
    for (const auto& [n, d] : part) AddTo(shifted, n, d);
  }
  int64_t constant = 0;
  for (const auto& [m, c] : shifted) {
    if (m.empty())
      constant = c;
    else if (c < 0)
      return std::nullopt;
  }
  return constant;
}

int64_t Dim::Evaluate(std::span<const int64_t> symbols) const {
  if (!symbolic()) return code_;
  int64_t sum = 0;
  for (const auto& [m, c] : Read(*this)) {
    int64_t product = c;
    for (uint32_t atom : m) product = Multiply(product, ValueOf(atom, symbols));
    sum = Add(sum, product);
  }
  return sum;
}

std::string Dim::ToString() const {
  if (!symbolic()) return fmt::format("{}", code_);
  std::string text;
  Polynomial p = Read(*this);
  for (auto it = p.rbegin(); it != p.rend(); ++it) {
    const auto& [m, c] = *it;
    int64_t size = c;
    if (!text.empty()) {
      text += c < 0 ? " - " : " + ";
      size = c < 0 ? -c : c;
    }
    std::vector<std::string> factors;
    if (size == -1 && !m.empty()) text += "-";
    if (m.empty() || (size != 1 && size != -1)) factors.push_back(fmt::format("{}", size));
    for (uint32_t atom : m) factors.push_back(TextOf(atom));
    text += fmt::format("{}", fmt::join(factors, "*"));
  }
  return text;
}

// ---- decisions ----------------------------------------------------------------------------------
namespace {

thread_local DimScope* current_scope = nullptr;

bool Ask(Dim difference, bool equality) {
  if (!current_scope) Dim::Refuse();
  return current_scope->Decide(difference, equality);
}

bool AtLeast(Dim dim, int64_t limit) {
  auto bound = dim.LowerBound();
  return bound && *bound >= limit;
}

}  // namespace

bool operator==(Dim a, Dim b) {
  if (a.code_ == b.code_) return true;
  if (!a.symbolic() && !b.symbolic()) return false;
  Dim difference = a - b;
  if (AtLeast(difference, 1) || AtLeast(difference * -1, 1)) return false;
  if (NeverZero(Read(difference))) return false;
  return Ask(difference, true);
}

bool operator<(Dim a, Dim b) {
  if (!a.symbolic() && !b.symbolic()) return a.code_ < b.code_;
  Dim difference = b - a;
  if (AtLeast(difference, 1)) return true;
  if (AtLeast(difference * -1, 0)) return false;
  return Ask(difference, false);
}

bool DimScope::Decide(Dim difference, bool equality) {
  int64_t value = difference.Evaluate(hints);
  Guard guard{difference, equality, equality ? value == 0 : value > 0};
  if (std::find(guards.begin(), guards.end(), guard) == guards.end()) guards.push_back(guard);
  return guard.answer;
}

bool DimScope::Holds(std::span<const int64_t> symbols) const {
  return std::all_of(guards.begin(), guards.end(), [&](const Guard& g) {
    int64_t value = g.difference.Evaluate(symbols);
    return (g.equality ? value == 0 : value > 0) == g.answer;
  });
}

DimScope* DimScope::Current() { return current_scope; }
DimScope::Use::Use(DimScope* scope) : outer_(current_scope) { current_scope = scope; }
DimScope::Use::~Use() { current_scope = outer_; }

Dims DimsFromCodes(std::span<const int64_t> codes) {
  Dims dims;
  dims.reserve(codes.size());
  for (int64_t code : codes) dims.push_back(Dim::FromCode(code));
  return dims;
}

std::vector<int64_t> CodesOf(const Dims& dims) {
  std::vector<int64_t> codes;
  codes.reserve(dims.size());
  for (Dim dim : dims) codes.push_back(dim.code());
  return codes;
}

}  // namespace ms
