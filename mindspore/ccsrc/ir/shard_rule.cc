#include "ir/shard_rule.h"

#include <algorithm>
#include <numeric>

namespace ms {
namespace {

constexpr std::string_view kMarkNames[] = {"",    "whole", "sum",     "max",
                                           "min", "mean",  "indexed", "halo"};

using Words = std::vector<std::string>;

bool IsSpace(char c) { return c == ' '; }

Words SplitWords(std::string_view text) {
  Words words;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && !IsSpace(text[end])) ++end;
    if (end > i) words.emplace_back(text.substr(i, end - i));
    i = end + 1;
  }
  return words;
}

// The parts between separators; none of a text of spaces.
Words SplitAt(std::string_view text, char separator) {
  Words parts;
  if (std::all_of(text.begin(), text.end(), IsSpace)) return parts;
  for (size_t i = 0; i <= text.size();) {
    size_t end = std::min(text.find(separator, i), text.size());
    parts.emplace_back(text.substr(i, end - i));
    i = end + 1;
  }
  return parts;
}

bool IsFactorName(std::string_view word) {
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  auto inner = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  return !word.empty() && letter(word[0]) && std::all_of(word.begin(), word.end(), inner);
}

ShardMark MarkOf(std::string_view word) {
  for (size_t i = 1; i < std::size(kMarkNames); ++i) {
    if (kMarkNames[i] == word) return static_cast<ShardMark>(i);
  }
  return ShardMark::kNone;
}

bool Holds(const ShardOperand& operand, int factor) {
  return std::any_of(operand.begin(), operand.end(), [&](const ShardDim& dim) {
    return std::find(dim.begin(), dim.end(), factor) != dim.end();
  });
}

// Reads one rule against the types that it is for.
class Parser {
 public:
  Parser(const OpDef& op, const std::string& text, const Types& inputs, const Types& outputs)
      : op_(op), text_(text), inputs_(inputs), outputs_(outputs) {}

  ShardRule Parse() {
    std::string_view all = text_;
    size_t arrow = all.find("->"), semicolon = std::min(all.find(';'), all.size());
    Check(arrow < semicolon && all.find("->", arrow + 2) == std::string::npos,
          "must have one '->' between operands and results");
    Sides operands = ReadSides(all.substr(0, arrow), inputs_, "operand");
    Sides results = ReadSides(all.substr(arrow + 2, semicolon - arrow - 2), outputs_, "result");
    MakeEllipsis(operands, results);
    for (const Side& side : operands) rule_.operands.push_back(Bind(side));
    for (const Side& side : results) rule_.results.push_back(Bind(side));
    FindSizes(operands, results);
    if (semicolon < all.size()) {
      for (const std::string& clause : SplitAt(all.substr(semicolon + 1), ',')) ReadClause(clause);
    }
    for (const Side& side : operands) CheckSizes(side, rule_.operands[side.index]);
    for (const Side& side : results) CheckSizes(side, rule_.results[side.index]);
    CheckContractions();
    return std::move(rule_);
  }

 private:
  // One operand or result as it is written.
  struct Side {
    const char* kind;
    size_t index;
    const Shape* shape;
    Words words;
    int ellipsis;  // how many dimensions `...` stands for; -1: there is none
  };
  using Sides = std::vector<Side>;

  template <class... Args>
  void Check(bool ok, fmt::format_string<Args...> format, Args&&... args) const {
    if (ok) return;
    Throw(ErrorKind::kInternal, "For '{}', the sharding rule '{}' {}.", op_.name, text_,
          fmt::format(format, std::forward<Args>(args)...));
  }

  Sides ReadSides(std::string_view text, const Types& types, const char* kind) {
    Words parts = SplitAt(text, ',');
    if (parts.empty() && types.size() == 1) parts.emplace_back();  // one scalar
    Check(parts.size() == types.size(), "must have {} {}s, but has {}", types.size(), kind,
          parts.size());
    Sides sides;
    for (size_t i = 0; i < parts.size(); ++i) {
      Side side{kind, i, &types[i].shape(), SplitWords(parts[i]), -1};
      auto dots = std::count(side.words.begin(), side.words.end(), "...");
      Check(dots <= 1, "has '...' twice in {} {}", kind, i);
      int named = static_cast<int>(side.words.size()) - static_cast<int>(dots);
      int rank = side.shape->rank();
      Check(dots ? named <= rank : named == rank, "names {} dimensions of {} {}, but it has {}",
            named, kind, i, rank);
      if (dots) side.ellipsis = rank - named;
      sides.push_back(std::move(side));
    }
    return sides;
  }

  int Factor(const std::string& name) {
    for (size_t i = 0; i < rule_.factors.size(); ++i) {
      if (rule_.factors[i].name == name) return static_cast<int>(i);
    }
    rule_.factors.push_back({name, Dim(-1)});
    return static_cast<int>(rule_.factors.size()) - 1;
  }

  // The factors of `...`, as many as its widest use has, with the sizes that its uses broadcast to.
  void MakeEllipsis(const Sides& operands, const Sides& results) {
    for (const Sides* sides : {&operands, &results}) {
      for (const Side& side : *sides) ellipsis_ = std::max(ellipsis_, side.ellipsis);
    }
    for (int i = 0; i < ellipsis_; ++i) rule_.factors.push_back({fmt::format("...{}", i), 1});
    for (const Sides* sides : {&operands, &results}) {
      for (const Side& side : *sides) {
        for (int k = 0; k < side.ellipsis; ++k) {
          Dim size = side.shape->dim(DotsAt(side) + k);
          Dim& known = rule_.factors[static_cast<size_t>(ellipsis_ - side.ellipsis + k)].size;
          if (known.Is(1)) known = size;
        }
      }
    }
  }
  static int DotsAt(const Side& side) {
    return static_cast<int>(std::find(side.words.begin(), side.words.end(), "...") -
                            side.words.begin());
  }

  ShardDim ReadProduct(const std::string& word) {
    ShardDim dim;
    if (word == "1") return dim;
    for (const std::string& name : SplitAt(word, '*')) {
      Check(IsFactorName(name), "has '{}' where the name of a factor must stand", word);
      dim.push_back(Factor(name));
    }
    for (size_t i = 1; i < dim.size(); ++i)
      rule_.factors[static_cast<size_t>(dim[i])].leads = false;
    return dim;
  }

  ShardOperand Bind(const Side& side) {
    ShardOperand operand;
    for (const std::string& word : side.words) {
      if (word != "...") {
        ShardDim dim = ReadProduct(word);
        for (int f : dim) {
          Check(!Holds(operand, f), "has factor '{}' twice in {} {}",
                rule_.factors[static_cast<size_t>(f)].name, side.kind, side.index);
        }
        operand.push_back(std::move(dim));
        continue;
      }
      for (int k = 0; k < side.ellipsis; ++k) {
        int factor = ellipsis_ - side.ellipsis + k;
        Dim size = side.shape->dim(static_cast<int>(operand.size()));
        bool spreads = size.Is(1) && !rule_.factors[static_cast<size_t>(factor)].size.Is(1);
        operand.push_back(spreads ? ShardDim{} : ShardDim{factor});
      }
    }
    return operand;
  }

  // Sizes of factors that stand alone, then of those that are left of a product.
  void FindSizes(const Sides& operands, const Sides& results) {
    for (bool found = true; found;) {
      found = false;
      for (const Side& side : operands) found |= FindSizes(side, rule_.operands[side.index]);
      for (const Side& side : results) found |= FindSizes(side, rule_.results[side.index]);
    }
    for (const ShardFactor& f : rule_.factors)
      Check(!f.size.Is(-1), "does not say how large '{}' is", f.name);
  }
  bool FindSizes(const Side& side, const ShardOperand& operand) {
    bool found = false;
    for (size_t d = 0; d < operand.size(); ++d) {
      Dim known = 1;
      std::vector<int> unknown;
      for (int f : operand[d]) {
        Dim size = rule_.factors[static_cast<size_t>(f)].size;
        if (size.Is(-1))
          unknown.push_back(f);
        else
          known *= size;
      }
      if (unknown.size() != 1) continue;
      Dim whole = side.shape->dim(static_cast<int>(d));
      rule_.factors[static_cast<size_t>(unknown[0])].size = known.Is(0) ? Dim(0) : whole / known;
      found = true;
    }
    return found;
  }
  void CheckSizes(const Side& side, const ShardOperand& operand) const {
    for (size_t d = 0; d < operand.size(); ++d) {
      Dim size = 1;
      bool halo = false;  // windows: the sizes of the two sides are not the same
      for (int f : operand[d]) {
        size *= rule_.factors[static_cast<size_t>(f)].size;
        halo |= rule_.factors[static_cast<size_t>(f)].mark == ShardMark::kHalo;
      }
      Dim actual = side.shape->dim(static_cast<int>(d));
      bool both_known = !size.symbolic() && !actual.symbolic();
      Check(halo || !both_known || size.Same(actual),
            "gives dimension {} of {} {} size {}, but it has {}", d, side.kind, side.index, size,
            actual);
    }
  }

  // ---- what follows the semicolon
  void ReadClause(const std::string& clause) {
    Words words = SplitWords(clause);
    Check(!words.empty(), "has an empty clause");
    if (words.size() == 1 && words[0] == "seeded") {
      rule_.seeded = true;
    } else if (words.size() >= 2 && words[1] == "=") {
      ReadSizes(words);
    } else {
      ReadMark(words);
    }
  }

  void ReadMark(Words words) {
    int by = -1;
    if (words.size() >= 4 && words[words.size() - 2] == "by") {
      const std::string& number = words.back();
      if (number.size() == 1 && number[0] >= '0' && number[0] <= '9') by = number[0] - '0';
      Check(by >= 0, "must have a number after 'by', but has '{}'", number);
      words.resize(words.size() - 2);
    }
    ShardMark mark = MarkOf(words.back());
    Check(mark != ShardMark::kNone, "has the unknown mark '{}'", words.back());
    bool indexed = mark == ShardMark::kIndexed;
    Check(by < 0 || indexed || mark == ShardMark::kMean,
          "has 'by' after '{}', which is for 'mean' and 'indexed'", words.back());
    Check(!indexed || (by >= 0 && static_cast<size_t>(by) < inputs_.size()),
          "must name the operand that 'indexed' goes by");
    Check(indexed || by < static_cast<int>(outputs_.size()),
          "must name the result that 'mean' goes by");
    words.pop_back();
    Check(!words.empty(), "has the mark '{}' of no factor", Name(mark));
    for (const std::string& word : words) {
      bool any = false;
      for (size_t i = 0; i < rule_.factors.size(); ++i) {
        bool is_dots = static_cast<int>(i) < ellipsis_;
        if (word == "..." ? !is_dots : rule_.factors[i].name != word) continue;
        any = true;
        ShardFactor& f = rule_.factors[i];
        Check(f.mark == ShardMark::kNone, "marks '{}' twice", word);
        f.mark = mark;
        f.by = by;
      }
      Check(any || word == "...", "marks '{}', which is no factor of it", word);
    }
  }

  void ReadSizes(const Words& words) {
    Check(op_.AttrIndex(words[0]) >= 0, "gives sizes to '{}', which is no attribute", words[0]);
    ShardSizes sizes{words[0], {}};
    for (size_t i = 2; i < words.size(); ++i) {
      if (words[i] == "_") {
        sizes.entries.emplace_back();
      } else if (words[i] == "...") {
        for (int k = 0; k < ellipsis_; ++k) sizes.entries.emplace_back(ShardDim{k});
      } else {
        size_t before = rule_.factors.size();
        ShardDim dim = ReadProduct(words[i]);
        Check(rule_.factors.size() == before, "has '{}' in '{}' and nowhere else", words[i],
              words[0]);
        sizes.entries.emplace_back(std::move(dim));
      }
    }
    rule_.sizes.push_back(std::move(sizes));
  }

  // A factor that a result lacks needs a word on how the parts join, unless nothing is in it.
  void CheckContractions() const {
    for (size_t i = 0; i < rule_.factors.size(); ++i) {
      const ShardFactor& f = rule_.factors[i];
      if (f.mark != ShardMark::kNone || !f.splits()) continue;
      for (size_t r = 0; r < rule_.results.size(); ++r) {
        const Shape& shape = outputs_[r].shape();
        bool empty = !shape.symbolic() && shape.empty();
        Check(empty || Holds(rule_.results[r], static_cast<int>(i)),
              "must mark factor '{}', which result {} lacks", f.name, r);
      }
    }
  }

  const OpDef& op_;
  const std::string& text_;
  const Types& inputs_;
  const Types& outputs_;
  ShardRule rule_;
  int ellipsis_ = 0;
};

// ---- views ----------------------------------------------------------------------------------
// The dimensions of two shapes of equally many elements as products of common factors. Where they
// do not divide each other, what is common comes first, and the rest of the group is whole.
class ViewRule {
 public:
  ViewRule(const Shape& from, const Shape& to) : from_(from), to_(to) {}

  ShardRule Make() {
    rule_.operands.resize(1);
    rule_.results.resize(1);
    bool known = !from_.symbolic() && !to_.symbolic() && !from_.empty();
    int same = 0;
    while (same < from_.rank() && same < to_.rank() && from_.dim(same).Same(to_.dim(same))) ++same;
    for (int i = 0; i < same; ++i) {
      int f = Add(from_.dim(i), ShardMark::kNone);
      rule_.operands[0].push_back({f});
      rule_.results[0].push_back({f});
    }
    if (known)
      Match(same);
    else
      Whole(same);
    return std::move(rule_);
  }

 private:
  int Add(Dim size, ShardMark mark) {
    rule_.factors.push_back({fmt::format("f{}", rule_.factors.size()), size, mark});
    return static_cast<int>(rule_.factors.size()) - 1;
  }
  void Place(ShardDim& dim, int factor) {
    if (!dim.empty()) rule_.factors[static_cast<size_t>(factor)].leads = false;
    dim.push_back(factor);
  }

  // Nothing is known of how the dimensions from `first` on match.
  void Whole(int first) {
    for (auto [shape, operand] :
         {std::pair(&from_, &rule_.operands[0]), {&to_, &rule_.results[0]}}) {
      for (int i = first; i < shape->rank(); ++i)
        operand->push_back({Add(shape->dim(i), ShardMark::kWhole)});
    }
  }

  void Match(int first) {
    ShardOperand &a = rule_.operands[0], &b = rule_.results[0];
    int i = first, j = first;
    int64_t x = 1, y = 1;  // what is left of the dimensions that are being matched
    auto next = [](const Shape& shape, int* at, int64_t* left, ShardOperand* operand) {
      while (*left == 1 && *at < shape.rank()) {
        *left = shape[(*at)++];
        operand->emplace_back();
      }
    };
    for (;;) {
      next(from_, &i, &x, &a);
      next(to_, &j, &y, &b);
      if (x == 1 && y == 1) break;
      int64_t common = std::gcd(x, y);
      bool divides = common == std::min(x, y);
      if (common > 1) {
        int f = Add(common, ShardMark::kNone);
        Place(a.back(), f);
        Place(b.back(), f);
        x /= common, y /= common;
      }
      if (!divides) Rest(&i, &x, &j, &y);
    }
  }

  // To the end of the group: as many dimensions as it takes until both sides are equally large.
  void Rest(int* i, int64_t* x, int* j, int64_t* y) {
    int64_t left = *x, right = *y;
    Place(rule_.operands[0].back(), Add(left, ShardMark::kWhole));
    Place(rule_.results[0].back(), Add(right, ShardMark::kWhole));
    while (left != right) {
      bool take_left = left < right;
      const Shape& shape = take_left ? from_ : to_;
      int64_t size = shape[take_left ? (*i)++ : (*j)++];
      (take_left ? rule_.operands : rule_.results)[0].push_back({Add(size, ShardMark::kWhole)});
      (take_left ? left : right) *= size;
    }
    *x = *y = 1;
  }

  const Shape& from_;
  const Shape& to_;
  ShardRule rule_;
};

ShardRule RuleOfView(const ShardContext& c) {
  ShardRule rule = ViewRule(c.shape(0), c.out(0)).Make();
  for (const AttrDef& attr : c.op().attributes) {
    if (!attr.sizes) continue;
    ShardSizes sizes{attr.name, {}};
    for (const ShardDim& dim : rule.results[0]) sizes.entries.emplace_back(dim);
    rule.sizes.push_back(std::move(sizes));
  }
  // Inputs that are only waited for.
  for (size_t i = 1; i < c.size(); ++i) {
    ShardOperand operand;
    for (int d = 0; d < c.rank(i); ++d) {
      rule.factors.push_back(
          {fmt::format("f{}", rule.factors.size()), c.dim(i, d), ShardMark::kWhole});
      operand.push_back({static_cast<int>(rule.factors.size()) - 1});
    }
    rule.operands.push_back(std::move(operand));
  }
  return rule;
}

}  // namespace

std::string_view Name(ShardMark mark) { return kMarkNames[static_cast<size_t>(mark)]; }

std::string ElementwiseShard(const ShardContext& c) {
  return fmt::format("{} -> {}", fmt::join(Words(c.size(), "..."), ", "),
                     fmt::join(Words(c.outputs().size(), "..."), ", "));
}

ShardRule ParseShardRule(const OpDef& op, const std::string& text, const Types& inputs,
                         const Types& outputs) {
  return Parser(op, text, inputs, outputs).Parse();
}

std::optional<ShardRule> ShardRuleOf(const OpDef& op, const Types& inputs, const Attrs& attrs) {
  if (!op.shard && !op.scalar && !op.view && !op.elementwise) return std::nullopt;
  Types outputs = Infer(op, inputs, attrs);
  ShardContext c(op, inputs, attrs, outputs);
  if (op.shard) return ParseShardRule(op, op.shard(c), inputs, outputs);
  if (op.view) return RuleOfView(c);
  return ParseShardRule(op, ElementwiseShard(c), inputs, outputs);
}

}  // namespace ms
