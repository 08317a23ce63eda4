// Printing the IR; see text.h.
#include <cmath>
#include <cstring>
#include <iterator>
#include <unordered_set>

#include "ir/op.h"
#include "ir/text.h"
#include "ir/text_detail.h"

namespace ms {
namespace text {

bool IsName(std::string_view text) {
  if (text.empty() || !IsNameStart(text[0])) return false;
  for (char c : text) {
    if (!IsNamePart(c)) return false;
  }
  return true;
}

std::string Quote(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      quoted += {'\\', c};
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string NameOrQuoted(std::string_view text) {
  return IsName(text) ? std::string(text) : Quote(text);
}

namespace {
constexpr char kBase64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
}  // namespace

std::string ToBase64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (size_t k = 0; k < 4; ++k) {
      bool padding = i + k > bytes.size();
      text += padding ? '=' : kBase64[group >> (18 - 6 * k) & 63];
    }
  }
  return text;
}

bool FromBase64(std::string_view text, std::string* bytes) {
  if (text.size() % 4 != 0) return false;
  bytes->clear();
  bytes->reserve(text.size() / 4 * 3);
  for (size_t i = 0; i < text.size(); i += 4) {
    uint32_t group = 0;
    int padding = 0;
    for (size_t k = 0; k < 4; ++k) {
      char c = text[i + k];
      const char* at = c == '\0' ? nullptr : std::strchr(kBase64, c);
      if (c == '=' && k >= 2 && i + 4 == text.size()) {
        ++padding;
      } else if (!at || padding > 0) {
        return false;
      }
      group = group << 6 | (at ? static_cast<uint32_t>(at - kBase64) : 0u);
    }
    for (int k = 0; k < 3 - padding; ++k)
      bytes->push_back(static_cast<char>(group >> (16 - 8 * k)));
  }
  return true;
}

}  // namespace text

namespace {

using text::NameOrQuoted;
using text::Quote;

// Shortest decimals that read back to the same value; ".0" tells them from integers.
template <class T>
std::string FloatText(T value) {
  std::string digits = fmt::format("{}", value);
  bool integral = digits.find_first_not_of("-0123456789") == std::string::npos;
  return integral ? digits + ".0" : digits;
}

// Whether decimals say all: not of complex numbers, and not of nans, which differ in their bits.
bool PrintsInline(const Tensor& tensor) {
  if (tensor.size() > text::kInlineElements || IsComplex(tensor.dtype())) return false;
  return VisitDType(tensor.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_convertible_v<T, float> && !std::is_integral_v<T>) {
      for (int64_t i = 0; i < tensor.size(); ++i) {
        if (std::isnan(static_cast<double>(tensor.data<T>()[i]))) return false;
      }
    }
    return true;
  });
}

template <class T>
std::string ElementText(T value) {
  if constexpr (std::is_same_v<T, bool>)
    return value ? "true" : "false";
  else if constexpr (std::is_integral_v<T>)
    return fmt::format("{}", value);
  else if constexpr (std::is_same_v<T, double>)
    return FloatText(value);
  else if constexpr (std::is_convertible_v<T, float>)
    return FloatText(static_cast<float>(value));
  else
    return "";
}

std::string Digest(const Tensor& tensor) {
  uint64_t hash = 1469598103934665603u;
  const auto* bytes = static_cast<const unsigned char*>(tensor.raw());
  for (size_t i = 0; i < tensor.bytes(); ++i) hash = (hash ^ bytes[i]) * 1099511628211u;
  return fmt::format("{:016x}", hash);
}

std::string TableEntry(const Tensor& tensor, TensorTable& table) {
  std::string name = Digest(tensor);
  while (true) {
    auto [it, fresh] = table.try_emplace(name, tensor);
    if (fresh || Equal(Attr(it->second), Attr(tensor))) return name;
    name += "0";  // two tensors with one digest
  }
}

std::string TensorText(const Tensor& tensor, bool weak, const PrintOptions& options) {
  std::string text = Type(tensor.dtype(), tensor.shape(), weak).ToString() + " ";
  if (!PrintsInline(tensor)) {
    if (options.large) return text + "digest " + Quote(TableEntry(tensor, *options.large));
    return text + "base64 " +
           Quote(text::ToBase64({static_cast<const char*>(tensor.raw()), tensor.bytes()}));
  }
  VisitDType(tensor.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    text += "[";
    for (int64_t i = 0; i < tensor.size(); ++i) {
      if (i > 0) text += ", ";
      text += ElementText(tensor.data<T>()[i]);
    }
    text += "]";
  });
  return text;
}

std::string AttrText(const Attr& attr, const PrintOptions& options) {
  if (const auto* s = std::get_if<std::string>(&attr)) return Quote(*s);
  if (const auto* t = std::get_if<Tensor>(&attr)) {
    return t->defined() ? fmt::format("Tensor({})", TensorText(*t, false, options)) : "Tensor()";
  }
  if (const auto* g = std::get_if<Graph*>(&attr))
    return *g ? "@" + NameOrQuoted((*g)->name()) : "@\"\"";
  if (const auto* d = std::get_if<double>(&attr); d && std::isnan(*d)) {
    uint64_t bits;
    std::memcpy(&bits, d, sizeof bits);
    return fmt::format("nan({:016x})", bits);
  }
  if (const auto* list = std::get_if<std::vector<double>>(&attr)) {
    std::string text = "doubles[";
    for (double v : *list) text += (text.back() == '[' ? "" : ", ") + AttrText(v, options);
    return text + "]";
  }
  return ToString(attr);
}

class GraphPrinter {
 public:
  GraphPrinter(const Graph& graph, const PrintOptions& options, fmt::memory_buffer& out)
      : graph_(graph), options_(options), out_(out), first_value_(graph.nodes().size()) {}

  void Print() {
    NameInputs();
    Header();
    for (const Node* node : graph_.nodes()) {
      if (node->kind != NodeKind::kParameter) Statement(*node);
    }
    if (graph_.finished()) {
      Append("  return ");
      Operands(graph_.outputs());
      Append("\n");
    }
    Append("}\n");
  }

 private:
  void Append(std::string_view text) { out_.append(text.data(), text.data() + text.size()); }
  template <class... Args>
  void Format(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  // A parameter is called by its name where that is one and nobody else's; else by number.
  void NameInputs() {
    std::unordered_set<std::string_view> taken;
    for (const Var& v : graph_.inputs()) {
      const Node& p = *v.node;
      bool named = text::IsName(p.name) && taken.insert(p.name).second;
      if (named)
        named_.insert(&p);
      else
        first_value_[p.id] = next_++;
    }
  }

  void Declare(const std::vector<Node*>& parameters) {
    for (size_t i = 0; i < parameters.size(); ++i) {
      const Node& p = *parameters[i];
      if (i > 0) Append(", ");
      Operand({parameters[i], 0});
      if (!named_.contains(&p)) Format(" {}", Quote(p.name));
      Format(": {}", p.outputs[0]);
    }
  }

  void Header() {
    Format("graph {}", NameOrQuoted(graph_.name()));
    if (!graph_.captures().empty()) {
      Append("[");
      Declare(graph_.captures());
      Append("]");
    }
    Append("(");
    Declare(graph_.parameters());
    Format(") -> {}", ToString(graph_.OutputTypes()));
    if (const LoopTag& loop = graph_.loop; loop.body) {
      Format(" loop(body=@{}, done=@{}, trip_count={})", NameOrQuoted(loop.body->name()),
             NameOrQuoted(loop.done->name()), loop.trip_count);
    }
    if (!graph_.updates.empty()) {
      Append(" updates(");
      for (size_t i = 0; i < graph_.updates.size(); ++i) {
        Format("{}{}={}", i > 0 ? ", " : "", graph_.updates[i].first, graph_.updates[i].second);
      }
      Append(")");
    }
    Append(" {\n");
  }

  void Operand(const Var& v) {
    if (!v || v.node->graph != &graph_)
      Append("<not of this graph>");  // the verifier prints such graphs
    else if (named_.contains(v.node))
      Append(v.node->name);
    else
      Format("%{}", first_value_[v.node->id] + v.index);
  }

  void Operands(const Vars& vars) {
    for (size_t i = 0; i < vars.size(); ++i) {
      if (i > 0) Append(", ");
      Operand(vars[i]);
    }
  }

  void Statement(const Node& node) {
    Append("  ");
    first_value_[node.id] = next_;
    for (size_t i = 0; i < node.outputs.size(); ++i) Format("{}%{}", i > 0 ? ", " : "", next_ + i);
    next_ += node.outputs.size();
    if (!node.outputs.empty()) Append(" = ");
    if (node.kind == NodeKind::kConstant) {
      Format("Constant({})", TensorText(node.value, node.outputs[0].weak(), options_));
    } else {
      Format("{}(", node.op->name);
      Operands(node.inputs);
      if (node.attrs) AttributesOf(node);
      Append(")");
    }
    std::string span = options_.spans ? ShortSpan(node.span) : "";
    if (options_.types || !span.empty()) Append("  #");
    if (options_.types) Format(" {}", fmt::join(node.outputs, ", "));
    if (!span.empty()) Format(" {}", span);
    Append("\n");
  }

  // Attributes at their defaults are left out.
  void AttributesOf(const Node& node) {
    bool first = node.inputs.empty();
    const auto& defs = node.op->attributes;
    for (size_t i = 0; i < node.attrs->size() && i < defs.size(); ++i) {
      const Attr& value = (*node.attrs)[i];
      if (!defs[i].required && Equal(value, defs[i].fallback)) continue;
      Format("{}{}={}", first ? "" : ", ", defs[i].name, AttrText(value, options_));
      first = false;
    }
  }

  const Graph& graph_;
  const PrintOptions& options_;
  fmt::memory_buffer& out_;
  std::vector<uint64_t> first_value_;  // by node id: the number of output 0
  std::unordered_set<const Node*> named_;
  uint64_t next_ = 0;
};

}  // namespace

std::string Print(const Graph& graph, const PrintOptions& options) {
  fmt::memory_buffer out;
  GraphPrinter(graph, options, out).Print();
  return fmt::to_string(out);
}

std::string Print(const Module& module, const PrintOptions& options) {
  fmt::memory_buffer out;
  if (module.main()) GraphPrinter(*module.main(), options, out).Print();
  for (const auto& graph : module.graphs()) {
    if (graph.get() != module.main()) GraphPrinter(*graph, options, out).Print();
  }
  return fmt::to_string(out);
}

}  // namespace ms
