// Parsing the IR's text; see text.h. Two rounds: the headers of all graphs, so that they may refer
// to each other, then the bodies. Types of nodes are inferred, as for nodes that an emitter makes.
#include <charconv>
#include <cstring>
#include <unordered_map>

#include "ir/op.h"
#include "ir/text.h"
#include "ir/text_cursor.h"
#include "ir/text_detail.h"

namespace ms {
namespace {

constexpr int kMaxTypeDepth =
    64;  // of functions inside function types: text must not overflow our stack

class Parser {
 public:
  Parser(std::string_view text, const TensorTable* large)
      : cursor_(text), large_(large), module_(std::make_unique<Module>()) {}

  std::unique_ptr<Module> Run() {
    try {
      while (!cursor_.AtEnd()) ParseHeader();
      for (Pending& pending : pending_) ParseBody(pending);
    } catch (const Error& error) {
      throw Error(error.kind(),
                  fmt::format("IR text, line {}: {}", cursor_.line(), error.message()));
    }
    return std::move(module_);
  }

 private:
  // A graph whose header is known: where its loop and updates clauses and its body are.
  struct Pending {
    Graph* graph;
    size_t position;
    int line;
    std::unordered_map<std::string_view, Var> inputs;
  };

  // ---- headers ----
  void ParseHeader() {
    cursor_.Expect("graph");
    std::string name = cursor_.NameOrQuoted();
    if (graphs_.contains(name)) Throw(ErrorKind::kValue, "the graph '{}' is defined twice", name);
    Graph* graph = module_->NewGraph(name);
    if (graph->name() != name)
      Throw(ErrorKind::kValue, "the graph '{}' clashes with an earlier name", name);
    graphs_[name] = graph;
    if (!module_->main()) module_->set_main(graph);
    Pending& pending = pending_.emplace_back(Pending{graph, 0, 0, {}});
    if (cursor_.Peek() == '[') ParseInputs(pending, '[', ']', true);
    ParseInputs(pending, '(', ')', false);
    cursor_.Expect("->");
    graph->DeclareOutputTypes(ParseTypes(0));
    pending.position = cursor_.position();
    pending.line = cursor_.line();
    SkipBody();
  }

  void ParseInputs(Pending& pending, char open, char close, bool capture) {
    cursor_.List(open, close, [&] {
      std::string_view symbol = cursor_.Symbol();
      std::string name = symbol[0] == '%' ? cursor_.Quoted() : std::string(symbol);
      cursor_.Expect(":");
      Node* node = pending.graph->AddParameter(ParseType(0), name, capture);
      if (!pending.inputs.emplace(symbol, Var{node, 0}).second) {
        Throw(ErrorKind::kValue, "the parameter '{}' is defined twice", symbol);
      }
    });
  }

  void SkipBody() {
    while (cursor_.Peek() != '{') SkipToken();
    while (cursor_.Peek() != '}') SkipToken();
    cursor_.Expect("}");
  }
  void SkipToken() {
    if (cursor_.AtEnd()) cursor_.Fail("a body that ends in '}' is expected");
    if (cursor_.Peek() == '"')
      cursor_.Quoted();
    else
      cursor_.TryChar(cursor_.Peek());
  }

  // ---- types ----
  Type ParseType(int depth) {
    if (depth > kMaxTypeDepth) Throw(ErrorKind::kValue, "the types are nested too deeply");
    if (cursor_.Peek() == '(') {
      Types parameters = ParseTypes(depth);
      cursor_.Expect("->");
      return Type::Function(std::move(parameters), ParseTypes(depth));
    }
    if (cursor_.TryWord("Box")) return Type::Box();
    bool weak = cursor_.TryWord("weak");
    std::string_view name = cursor_.Name();
    DType dtype;
    if (!DTypeFromName(name, &dtype)) Throw(ErrorKind::kType, "there is no type '{}'", name);
    Ints dims;
    cursor_.List('[', ']', [&] { dims.push_back(cursor_.Integer()); });
    return Type(dtype, Shape(dims), weak);
  }
  Types ParseTypes(int depth) {
    Types types;
    cursor_.List('(', ')', [&] { types.push_back(ParseType(depth + 1)); });
    return types;
  }

  // ---- values of attributes and constants ----
  template <class T>
  void ParseElement(T* out) {
    if constexpr (std::is_same_v<T, bool>) {
      *out = cursor_.TryWord("true");
      if (!*out && !cursor_.TryWord("false")) cursor_.Fail("true or false is expected");
    } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      *out = T(cursor_.Parsed<float>(cursor_.Number()));
    } else if constexpr (std::is_arithmetic_v<T>) {
      *out = cursor_.Parsed<T>(cursor_.Number());
    } else {
      Throw(ErrorKind::kValue, "complex elements are written in base64");
    }
  }

  void ParseElements(const Type& type, Tensor* tensor) {
    if (type.shape().size() > text::kInlineElements) {
      Throw(ErrorKind::kValue, "a tensor of {} elements is written in base64", type.shape().size());
    }
    *tensor = Tensor(type.dtype(), type.shape());
    int64_t count = 0;
    VisitDType(type.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      cursor_.List('[', ']', [&] {
        T value{};
        ParseElement(&value);
        if (count < tensor->size()) tensor->data<T>()[count] = value;
        ++count;
      });
    });
    if (count != tensor->size())
      Throw(ErrorKind::kValue, "{} needs {} elements, but got {}", type, tensor->size(), count);
  }

  Tensor ParseTensor(Type* type) {
    *type = ParseType(0);
    if (!type->is_tensor()) Throw(ErrorKind::kType, "a constant is a tensor, but got {}", *type);
    Tensor tensor;
    if (cursor_.TryWord("digest")) {
      std::string name = cursor_.Quoted();
      auto it = large_ ? large_->find(name) : TensorTable::const_iterator{};
      if (!large_ || it == large_->end())
        Throw(ErrorKind::kValue, "the tensor with digest '{}' is missing", name);
      tensor = it->second;
      if (tensor.dtype() != type->dtype() || !(tensor.shape() == type->shape())) {
        Throw(ErrorKind::kValue, "the tensor with digest '{}' is not {}, but {}", name, *type,
              tensor.ToString());
      }
    } else if (cursor_.TryWord("base64")) {
      std::string bytes;
      if (!text::FromBase64(cursor_.Quoted(), &bytes))
        Throw(ErrorKind::kValue, "the base64 text is damaged");
      if (bytes.size() != type->bytes()) {
        Throw(ErrorKind::kValue, "{} needs {} bytes, but got {}", *type, type->bytes(),
              bytes.size());
      }
      tensor = Tensor(type->dtype(), type->shape());
      if (!bytes.empty()) std::memcpy(tensor.raw(), bytes.data(), bytes.size());
    } else {
      ParseElements(*type, &tensor);
    }
    return tensor;
  }

  double ParseDouble() {
    if (cursor_.TryWord("nan")) {
      cursor_.Expect("(");
      std::string_view hex = cursor_.Number();
      uint64_t bits = 0;
      auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), bits, 16);
      if (error != std::errc() || end != hex.data() + hex.size())
        cursor_.Fail("the bits of a nan are expected");
      cursor_.Expect(")");
      double value;
      std::memcpy(&value, &bits, sizeof value);
      return value;
    }
    return cursor_.Parsed<double>(cursor_.Number());
  }

  Attr ParseNumber() {
    size_t position = cursor_.position();
    int line = cursor_.line();
    std::string_view digits = cursor_.Number();
    if (digits.find_first_not_of("-0123456789") == std::string_view::npos)
      return cursor_.Parsed<int64_t>(digits);
    cursor_.Seek(position, line);
    return ParseDouble();
  }

  Attr ParseAttr() {
    char c = cursor_.Peek();
    if (c == '"') return cursor_.Quoted();
    if (c == '@') return FindGraph();
    if (c == '[') {
      Ints list;
      cursor_.List('[', ']', [&] { list.push_back(cursor_.Integer()); });
      return list;
    }
    if (cursor_.TryWord("none")) return {};
    if (cursor_.TryWord("true")) return true;
    if (cursor_.TryWord("false")) return false;
    if (cursor_.TryWord("Tensor")) {
      cursor_.Expect("(");
      Type type;
      Tensor tensor = cursor_.Peek() == ')' ? Tensor() : ParseTensor(&type);
      cursor_.Expect(")");
      return tensor;
    }
    if (cursor_.TryWord("doubles")) {
      std::vector<double> list;
      cursor_.List('[', ']', [&] { list.push_back(ParseDouble()); });
      return list;
    }
    if (c >= 'A' && c <= 'Z') {
      std::string_view name = cursor_.Name();
      DType dtype;
      if (!DTypeFromName(name, &dtype)) Throw(ErrorKind::kValue, "there is no type '{}'", name);
      return dtype;
    }
    return ParseNumber();
  }

  Graph* FindGraph() {
    cursor_.Expect("@");
    std::string name = cursor_.NameOrQuoted();
    auto it = graphs_.find(name);
    if (it == graphs_.end()) Throw(ErrorKind::kValue, "there is no graph '{}'", name);
    return it->second;
  }

  // ---- bodies ----
  void ParseBody(Pending& pending) {
    graph_ = pending.graph;
    values_ = std::move(pending.inputs);
    cursor_.Seek(pending.position, pending.line);
    ParseClauses();
    cursor_.Expect("{");
    while (cursor_.Peek() != '}') {
      if (graph_->finished()) cursor_.Fail("'}' is expected after return");
      if (cursor_.TryWord("return"))
        ParseReturn();
      else
        ParseStatement();
    }
    CheckUpdates();
  }

  void ParseClauses() {
    if (cursor_.TryWord("loop")) {
      cursor_.Expect("(");
      cursor_.Expect("body=");
      graph_->loop.body = FindGraph();
      cursor_.Expect(",");
      cursor_.Expect("done=");
      graph_->loop.done = FindGraph();
      cursor_.Expect(",");
      cursor_.Expect("trip_count=");
      graph_->loop.trip_count = cursor_.Integer();
      cursor_.Expect(")");
    }
    if (!cursor_.TryWord("updates")) return;
    cursor_.List('(', ')', [&] {
      int64_t output = cursor_.Integer();
      cursor_.Expect("=");
      int64_t input = cursor_.Integer();
      bool small = output >= 0 && input >= 0 && output < INT32_MAX && input < INT32_MAX;
      if (!small)
        Throw(ErrorKind::kValue, "updates are pairs of positions, but got {}={}", output, input);
      graph_->updates.emplace_back(static_cast<int>(output), static_cast<int>(input));
    });
  }

  void CheckUpdates() {
    for (auto [output, input] : graph_->updates) {
      size_t inputs = graph_->captures().size() + graph_->parameters().size();
      if (static_cast<size_t>(output) >= graph_->OutputTypes().size() ||
          static_cast<size_t>(input) >= inputs) {
        Throw(ErrorKind::kValue, "the update {}={} names no output or no input", output, input);
      }
    }
  }

  Var Operand() {
    std::string_view symbol = cursor_.Symbol();
    auto it = values_.find(symbol);
    if (it == values_.end())
      Throw(ErrorKind::kValue, "the value '{}' is not defined before its use", symbol);
    return it->second;
  }

  void ParseReturn() {
    Types declared = graph_->OutputTypes();
    Vars outputs;
    if (cursor_.Peek() != '}') {
      do outputs.push_back(Operand());
      while (cursor_.TryChar(','));
    }
    graph_->SetOutputs(std::move(outputs));
    if (Types got = graph_->OutputTypes(); !(got == declared)) {
      Throw(ErrorKind::kType, "the graph '{}' must return {}, but returns {}", graph_->name(),
            ToString(declared), ToString(got));
    }
  }

  void ParseStatement() {
    std::vector<std::string_view> results;
    if (cursor_.Peek() == '%') {
      do results.push_back(cursor_.Symbol());
      while (cursor_.TryChar(','));
      cursor_.Expect("=");
    }
    Node* node = cursor_.TryWord("Constant") ? ParseConstant() : ParseApply();
    if (node->outputs.size() != results.size()) {
      Throw(ErrorKind::kType, "the op returns {} values, but {} are named", node->outputs.size(),
            results.size());
    }
    for (uint32_t i = 0; i < results.size(); ++i) {
      if (!values_.try_emplace(results[i], Var{node, i}).second) {
        Throw(ErrorKind::kValue, "a value is defined twice");
      }
    }
  }

  Node* ParseConstant() {
    cursor_.Expect("(");
    Type type;
    Tensor tensor = ParseTensor(&type);
    cursor_.Expect(")");
    return graph_->AddConstant(std::move(tensor), type.weak());
  }

  Node* ParseApply() {
    std::string_view name = cursor_.Name();
    const OpDef* op = Ops().Find(name);
    if (!op) Throw(ErrorKind::kValue, "there is no op '{}'", name);
    Vars inputs;
    Attrs attrs(op->attributes.size());
    std::vector<bool> given(attrs.size());
    cursor_.List('(', ')', [&] {
      size_t position = cursor_.position();
      int line = cursor_.line();
      if (cursor_.Peek() != '%') {
        std::string_view word = cursor_.Name();
        if (cursor_.TryChar('=')) return ParseNamed(*op, word, attrs, given);
        cursor_.Seek(position, line);
      }
      inputs.push_back(Operand());
    });
    for (size_t i = 0; i < attrs.size(); ++i) {
      if (given[i]) continue;
      if (op->attributes[i].required) {
        Throw(ErrorKind::kValue, "the attribute '{}' of '{}' is missing", op->attributes[i].name,
              op->name);
      }
      attrs[i] = op->attributes[i].fallback;
    }
    Types types;
    for (const Var& v : inputs) types.push_back(v.type());
    Types outputs = Infer(*op, types, attrs);
    AttrsRef shared = attrs.empty() ? nullptr : std::make_shared<const Attrs>(std::move(attrs));
    return graph_->AddApply(*op, std::move(inputs), std::move(shared), std::move(outputs), 0);
  }

  void ParseNamed(const OpDef& op, std::string_view name, Attrs& attrs, std::vector<bool>& given) {
    int index = op.AttrIndex(name);
    if (index < 0) Throw(ErrorKind::kValue, "'{}' has no attribute '{}'", op.name, name);
    if (given[index]) Throw(ErrorKind::kValue, "the attribute '{}' is given twice", name);
    given[index] = true;
    attrs[index] = ParseAttr();
    const AttrDef& def = op.attributes[index];
    bool fits = attrs[index].index() == def.kind || def.kind == 0 ||
                (def.optional && attrs[index].index() == 0);
    if (!fits)
      Throw(ErrorKind::kType, "the attribute '{}' of '{}' is of another kind", name, op.name);
  }

  text::Cursor cursor_;
  const TensorTable* large_;
  std::unique_ptr<Module> module_;
  std::unordered_map<std::string, Graph*> graphs_;
  std::vector<Pending> pending_;
  Graph* graph_ = nullptr;                            // whose body is being parsed
  std::unordered_map<std::string_view, Var> values_;  // names are pieces of the text
};

}  // namespace

std::unique_ptr<Module> Parse(std::string_view text, const TensorTable* large) {
  return Parser(text, large).Run();
}

}  // namespace ms
