#include "ir/rewrite.h"

#include <algorithm>
#include <charconv>

namespace ms {

// ---- Rewriter
Rewriter::Rewriter(Graph* graph)
    : graph_(graph),
      emitter_(graph),
      count_(graph->nodes().size()),
      emitted_(graph->nodes().size()) {}

void Rewriter::Begin() {
  if (begun_) return;
  begun_ = true;
  const auto& nodes = graph_->nodes();
  first_.reserve(count_);
  uint32_t outputs = 0;
  for (size_t i = 0; i < count_; ++i) {
    first_.push_back(outputs);
    outputs += static_cast<uint32_t>(nodes[i]->outputs.size());
  }
  replacement_.resize(outputs);
  dropped_.resize(count_);
  order_.reserve(nodes.size());
  order_.assign(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(at_));
}

Var Rewriter::Current(const Var& v) const {
  if (v.node->id >= first_.size()) return v;  // made by this walk, or nothing is replaced yet
  const Var& to = replacement_[first_[v.node->id] + v.index];
  return to ? to : v;
}

void Rewriter::Replace(const Var& from, const Var& to) {
  if (from == to) return;
  Begin();
  replacement_[first_[from.node->id] + from.index] = to;
  any_replaced_ = changed_ = true;
}

void Rewriter::Enter(Node& node) {
  if (any_replaced_) {
    for (Var& v : node.inputs) v = Current(v);
  }
  emitter_.span = node.span;
}

void Rewriter::Leave(Node& node) {
  const auto& nodes = graph_->nodes();
  if (emitted_ < nodes.size()) Begin();
  for (; emitted_ < nodes.size(); ++emitted_) {
    order_.push_back(nodes[emitted_]);
    changed_ = true;
  }
  if (begun_ && !dropped_[node.id]) order_.push_back(&node);
}

void Rewriter::Finish() {
  if (!changed_) return;
  Vars outputs = graph_->outputs();
  for (Var& v : outputs) v = Current(v);
  if (graph_->finished()) graph_->SetOutputs(std::move(outputs));
  size_t kept = order_.size();
  if (any_dropped_) {
    for (size_t i = 0; i < dropped_.size(); ++i) {
      if (dropped_[i]) order_.push_back(graph_->nodes()[i]);
    }
  }
  graph_->Reorder(std::move(order_));
  if (!any_dropped_) return;
  std::vector<bool> keep(graph_->nodes().size(), true);
  std::fill(keep.begin() + static_cast<std::ptrdiff_t>(kept), keep.end(), false);
  graph_->Sweep(keep);
}

// ---- patterns
namespace {

class PatternParser {
 public:
  explicit PatternParser(std::string_view text) : text_(text) {}

  Pattern Run() {
    Pattern pattern = Term();
    if (Peek() != '\0') Fail();
    return pattern;
  }

  std::vector<Statement> Statements() {
    std::vector<Statement> found;
    auto ends = [&] { return Peek() == '\0' || Peek() == ';' || Peek() == '\n'; };
    while (Peek() != '\0') {
      Statement& statement = found.emplace_back();
      do {
        statement.results.push_back(Word());
      } while (Try(','));
      if (!Try('=')) Fail();
      statement.value = Term();
      if (statement.value.kind != Pattern::Kind::kApply || !ends()) Fail();
      while (Try(';') || Try('\n')) {
      }
    }
    if (found.empty()) Fail();
    return found;
  }

 private:
  [[noreturn]] void Fail() {
    Throw(ErrorKind::kInternal, "the rule '{}' is wrong at position {}", text_, at_);
  }
  char Peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Try(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }

  Pattern Term() {
    Pattern pattern;
    char c = Peek();
    if (c == '"') return Text();
    if (c == '-' || (c >= '0' && c <= '9')) {
      pattern.kind = Pattern::Kind::kNumber;
      auto [end, error] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), pattern.number);
      if (error != std::errc()) Fail();
      at_ = static_cast<size_t>(end - text_.data());
      return pattern;
    }
    pattern.name = Word();
    pattern.repeat = Try('*');
    pattern.either = Try('{');
    if (!pattern.either && !Try('(')) {
      if (pattern.repeat) Fail();
      return pattern;
    }
    pattern.kind = Pattern::Kind::kApply;
    char end = pattern.either ? '}' : ')';
    while (!Try(end)) {
      Argument(pattern);
      if (Peek() != end && !Try(',')) Fail();
    }
    if (pattern.either && pattern.arguments.size() != 2) Fail();
    if (pattern.repeat && pattern.arguments.size() != 1) Fail();
    return pattern;
  }

  Pattern Text() {
    size_t end = text_.find('"', ++at_);
    if (end == std::string_view::npos) Fail();
    Pattern pattern;
    pattern.kind = Pattern::Kind::kText;
    pattern.name = text_.substr(at_, end - at_);
    at_ = end + 1;
    return pattern;
  }

  void Argument(Pattern& pattern) {
    size_t start = at_;
    if (char c = Peek(); (c >= 'a' && c <= 'z') || c == '_') {
      std::string word = Word();
      if (Try('=')) {
        pattern.attributes.push_back({std::move(word), Term()});
        return;
      }
      at_ = start;
    }
    pattern.arguments.push_back(Term());
  }

  std::string Word() {
    Peek();
    size_t start = at_;
    auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    while (at_ < text_.size() && part(text_[at_])) ++at_;
    if (at_ == start) Fail();
    return std::string(text_.substr(start, at_ - start));
  }

  std::string_view text_;
  size_t at_ = 0;
};

bool AllElementsAre(const Tensor& tensor, double number) {
  return VisitDType(tensor.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_convertible_v<T, double>) {
      const T* data = tensor.data<T>();
      return std::all_of(data, data + tensor.size(),
                         [&](const T& x) { return static_cast<double>(x) == number; });
    } else {
      const T* data = tensor.data<T>();
      auto value = static_cast<typename T::value_type>(number);
      return std::all_of(data, data + tensor.size(), [&](const T& x) { return x == T(value); });
    }
  });
}

const Attr& AttrAt(const Node& node, int index) {
  return (*node.attrs)[static_cast<size_t>(index)];
}

bool AttrIs(const Attr& attr, double number) {
  if (const auto* i = std::get_if<int64_t>(&attr)) return static_cast<double>(*i) == number;
  if (const auto* d = std::get_if<double>(&attr)) return *d == number;
  if (const auto* b = std::get_if<bool>(&attr)) return *b == (number != 0);
  return false;
}

// A number of a rule's text in the kind that the attribute has.
Attr NumberAs(const OpDef& op, std::string_view attr, double number) {
  int index = op.AttrIndex(attr);
  if (index < 0) ThrowBadAttr(op, attr);
  size_t kind = op.attributes[static_cast<size_t>(index)].kind;
  if (kind == Attr(true).index()) return number != 0;
  if (kind == Attr(int64_t{0}).index()) return static_cast<int64_t>(number);
  return number;
}

}  // namespace

Pattern ParsePattern(std::string_view text) { return PatternParser(text).Run(); }
std::vector<Statement> ParseStatements(std::string_view text) {
  return PatternParser(text).Statements();
}

std::vector<Pattern> OrdersOf(const Pattern& pattern) {
  std::vector<Pattern> orders{pattern};
  for (size_t i = 0; i < pattern.arguments.size(); ++i) {
    std::vector<Pattern> of_argument = OrdersOf(pattern.arguments[i]), more;
    for (const Pattern& order : orders) {
      for (const Pattern& argument : of_argument) {
        more.push_back(order);
        more.back().arguments[i] = argument;
      }
    }
    orders = std::move(more);
  }
  for (size_t i = 0, count = orders.size(); pattern.either && i < count; ++i) {
    orders[i].either = false;
    orders.push_back(orders[i]);
    std::swap(orders.back().arguments[0], orders.back().arguments[1]);
  }
  return orders;
}

bool IsSplat(const Var& v, double number) {
  static const OpDef* const fill = Ops().Find("Fill");
  const Node& node = *v.node;
  if (node.kind == NodeKind::kConstant)
    return node.value.size() > 0 && AllElementsAre(node.value, number);
  if (!fill || node.op != fill) return false;
  int index = fill->AttrIndex("value");
  return index >= 0 && AttrIs((*node.attrs)[static_cast<size_t>(index)], number);
}

// ---- Match
const Var& Match::operator[](std::string_view name) const {
  for (const auto& [bound, v] : vars_) {
    if (bound == name) return v;
  }
  Throw(ErrorKind::kInternal, "a rule has no value '{}'", name);
}

const Attr& Match::attr(std::string_view name) const {
  for (const auto& [bound, value] : attrs_) {
    if (bound == name) return *value;
  }
  Throw(ErrorKind::kInternal, "a rule has no attribute '{}'", name);
}

bool Match::Bind(std::string_view name, const Var& v) {
  for (const auto& [bound, value] : vars_) {
    if (bound == name) return value == v;
  }
  vars_.emplace_back(name, v);
  return true;
}

// ---- RuleAttributes
bool RuleAttributes::Match(const Pattern& pattern, const Node& node, ms::Match& match) {
  auto fits = [&](const Pattern& wanted, const Attr& attr) {
    if (wanted.kind == Pattern::Kind::kNumber) return AttrIs(attr, wanted.number);
    if (wanted.kind == Pattern::Kind::kText) return Equal(attr, Attr(wanted.name));
    for (const auto& [name, bound] : match.attrs_) {
      if (name == wanted.name) return Equal(*bound, attr);
    }
    match.attrs_.emplace_back(wanted.name, &attr);
    return true;
  };
  return std::all_of(
      pattern.attributes.begin(), pattern.attributes.end(), [&](const auto& attribute) {
        int index = node.op->AttrIndex(attribute.name);
        return index >= 0 && node.attrs && fits(attribute.value, AttrAt(node, index));
      });
}

AttrsRef RuleAttributes::Make(const OpDef& op, const Pattern& pattern,
                              const ms::Match& match) const {
  NamedAttrs attrs;
  for (const auto& [name, value] : pattern.attributes) {
    attrs.emplace_back(name, value.kind == Pattern::Kind::kNumber ? NumberAs(op, name, value.number)
                                                                  : Value(value, match));
  }
  return MakeAttrs(op, attrs);
}

Attr RuleAttributes::Value(const Pattern& pattern, const ms::Match& match) const {
  if (pattern.kind == Pattern::Kind::kText) return pattern.name;
  if (pattern.kind == Pattern::Kind::kVar) return match.attr(pattern.name);
  std::vector<Attr> arguments;
  for (const Pattern& argument : pattern.arguments) arguments.push_back(Value(argument, match));
  return functions_.at(pattern.name)(arguments);
}

// ---- RuleTable
RuleTable::RuleTable(std::initializer_list<Rule> rules, AttrFunctions functions)
    : attributes_(std::move(functions)) {
  for (const Rule& rule : rules) {
    for (Pattern& order : OrdersOf(rule.pattern)) {
      rules_.push_back(rule);
      rules_.back().pattern = std::move(order);
    }
  }
}

void RuleTable::Index() const {
  indexed_.Do([this] {
    for (const Rule& rule : rules_) {
      MS_ASSERT(rule.pattern.kind == Pattern::Kind::kApply);
      if (const OpDef* op = Ops().Find(rule.pattern.name)) by_root_[op].push_back(&rule);
    }
  });
}

std::vector<std::string> RuleTable::UnknownOps() const {
  std::vector<std::string> unknown;
  std::vector<const Pattern*> pending;
  for (const Rule& rule : rules_) pending.insert(pending.end(), {&rule.pattern, &rule.result});
  while (!pending.empty()) {
    const Pattern& pattern = *pending.back();
    pending.pop_back();
    if (pattern.kind == Pattern::Kind::kApply && !Ops().Find(pattern.name))
      unknown.push_back(pattern.name);
    for (const Pattern& argument : pattern.arguments) pending.push_back(&argument);
  }
  return unknown;
}

Var RuleTable::Apply(const Node& node, Emitter& emitter) const {
  Index();
  auto found = by_root_.find(node.op);
  if (found == by_root_.end()) return {};
  for (const Rule* rule : found->second) {
    Match match;
    match.root_ = &node;
    if (!MatchesNode(rule->pattern, node, match)) continue;
    if (rule->condition && !rule->condition(match)) continue;
    if (KeepsType(rule->result, match)) return Build(rule->result, match, emitter);
  }
  return {};
}

bool RuleTable::Matches(const Pattern& pattern, const Var& v, Match& match) const {
  switch (pattern.kind) {
    case Pattern::Kind::kNumber:
      return IsSplat(v, pattern.number);
    case Pattern::Kind::kApply:
      return v.index == 0 && v.node->op && v.node->op->name == pattern.name &&
             MatchesNode(pattern, *v.node, match);
    default:
      return match.Bind(pattern.name, v);
  }
}

bool RuleTable::MatchesNode(const Pattern& pattern, const Node& node, Match& match) const {
  if (pattern.arguments.size() != node.inputs.size()) return false;
  if (!RuleAttributes::Match(pattern, node, match)) return false;
  for (size_t i = 0; i < pattern.arguments.size(); ++i) {
    if (!Matches(pattern.arguments[i], node.inputs[i], match)) return false;
  }
  return true;
}

// Asked before anything is built: a rule that does not apply leaves no trace.
bool RuleTable::KeepsType(const Pattern& pattern, const Match& match) const {
  try {
    return TypeOf(pattern, match) == match.root().outputs[0];
  } catch (const Error&) {
    return false;  // the op of the result refuses these types
  }
}

Type RuleTable::TypeOf(const Pattern& pattern, const Match& match) const {
  static const Attrs kNone;
  if (pattern.kind == Pattern::Kind::kVar) return match[pattern.name].type();
  if (pattern.kind == Pattern::Kind::kNumber) return match.root().outputs[0].Strong();
  const OpDef& op = Ops().Get(pattern.name);
  Types inputs;
  for (const Pattern& argument : pattern.arguments) inputs.push_back(TypeOf(argument, match));
  AttrsRef attrs = attributes_.Make(op, pattern, match);
  return Infer(op, inputs, attrs ? *attrs : kNone).at(0);
}

Var RuleTable::Build(const Pattern& pattern, const Match& match, Emitter& emitter) const {
  if (pattern.kind == Pattern::Kind::kVar) return match[pattern.name];
  if (pattern.kind == Pattern::Kind::kNumber)
    return emitter.Full(pattern.number, match.root().outputs[0]).var;
  const OpDef& op = Ops().Get(pattern.name);
  Vars inputs;
  for (const Pattern& argument : pattern.arguments)
    inputs.push_back(Build(argument, match, emitter));
  return emitter.Emit(op, inputs, attributes_.Make(op, pattern, match))[0];
}

}  // namespace ms
