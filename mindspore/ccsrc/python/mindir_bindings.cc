// mindspore._core.mindir: the messages of MindIR files as dicts, and the graph that the front end
// made of a network as plain values. What ops mean there is known in Python (train/_mindir).
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <set>
#include <unordered_map>

#include "driver/evaluate.h"
#include "driver/lower.h"
#include "io/mindir.h"
#include "passes/pipeline.h"
#include "python/convert.h"
#include "python/dtype_object.h"
#include "python/files.h"
#include "python/module.h"
#include "python/tensor_object.h"
#include "python/trace.h"
#include "tensor/exposure.h"

namespace ms::python {
namespace {

namespace py = pybind11;

// ---- messages
py::object ObjectOf(ProtoMessage& message);

py::object ObjectOf(const FieldDef& field, ProtoValue& value) {
  if (auto* integer = std::get_if<int64_t>(&value)) return py::int_(*integer);
  if (auto* number = std::get_if<double>(&value)) return py::float_(*number);
  if (auto* tensor = std::get_if<std::unique_ptr<Tensor>>(&value))
    return py::reinterpret_steal<py::object>(NewTensor(std::move(**tensor)));
  if (auto* inner = std::get_if<std::unique_ptr<ProtoMessage>>(&value)) {
    py::object object = ObjectOf(**inner);
    inner->reset();
    return object;
  }
  const auto& text = std::get<std::string>(value);
  if (field.kind == FieldKind::kText) return py::str(text);
  return py::bytes(text);
}

// A repeated field is a list, any other its value; one that the file does not have is no key.
py::object ObjectOf(ProtoMessage& message) {
  py::dict dict;
  const FieldDef* last = nullptr;
  py::list list;
  for (auto& [field, value] : message.values) {
    py::str name(field->name.data(), field->name.size());
    if (!field->repeated) {
      dict[name] = ObjectOf(*field, value);
      continue;
    }
    if (field != last) {
      if (!dict.contains(name)) dict[name] = py::list();
      list = dict[name];
      last = field;
    }
    list.append(ObjectOf(*field, value));
  }
  return dict;
}

std::unique_ptr<ProtoMessage> MessageOf(const MessageKind& kind, const py::dict& dict);

ProtoValue ValueOf(const FieldDef& field, py::handle object) {
  switch (field.kind) {
    case FieldKind::kInteger:
      return object.cast<int64_t>();
    case FieldKind::kFloat:
    case FieldKind::kDouble:
      return object.cast<double>();
    case FieldKind::kMessage:
      return MessageOf(*field.message, object.cast<py::dict>());
    case FieldKind::kContent:
      return std::make_unique<Tensor>(HostValueOf(object.ptr(), "export"));
    default:
      return object.cast<std::string>();
  }
}

std::unique_ptr<ProtoMessage> MessageOf(const MessageKind& kind, const py::dict& dict) {
  auto message = std::make_unique<ProtoMessage>(ProtoMessage{&kind, {}});
  size_t known = 0;
  for (const FieldDef& field : kind.fields) {
    py::str name(field.name.data(), field.name.size());
    if (!dict.contains(name)) continue;
    ++known;
    py::object value = dict[name];
    if (!field.repeated) {
      message->values.emplace_back(&field, ValueOf(field, value));
      continue;
    }
    for (py::handle item : value) message->values.emplace_back(&field, ValueOf(field, item));
  }
  if (known != dict.size())
    Throw(ErrorKind::kInternal, "a {} has a field of unknown name", kind.name);
  return message;
}

void WriteModel(py::handle path, const py::dict& model) {
  std::unique_ptr<ProtoMessage> message = MessageOf(MindIrModel(), model);
  std::string target = SystemPath(path);
  py::gil_scoped_release release;
  WriteMindIr(target, *message, SignalPoll());
}

py::tuple ReadModel(py::handle path) {
  std::string source = SystemPath(path);
  MindIrFile file;
  {
    py::gil_scoped_release release;
    file = ReadMindIr(source, SignalPoll());
  }
  return py::make_tuple(ObjectOf(file.model), file.checked);
}

// ---- graphs
// Values are numbered: inputs of the graph first, captures before parameters, then the outputs of
// the nodes in their order.
class Description {
 public:
  explicit Description(const Graph& graph) : name_(graph.name()) {
    for (const Var& input : graph.inputs()) {
      Number(input.node);
      inputs_.append(TypeObject(input.type()));
    }
    for (const Node* node : graph.nodes()) {
      if (node->kind == NodeKind::kParameter) continue;
      Number(node);
      nodes_.append(node->kind == NodeKind::kConstant ? Constant(*node) : Apply(*node));
    }
    for (const Var& output : graph.outputs()) outputs_.append(At(output));
  }

  py::dict Result() {
    return py::dict(py::arg("name") = name_, py::arg("inputs") = inputs_, py::arg("nodes") = nodes_,
                    py::arg("outputs") = outputs_);
  }

 private:
  void Number(const Node* node) {
    first_.emplace(node, next_);
    next_ += node->outputs.size();
  }
  size_t At(const Var& v) const { return first_.at(v.node) + v.index; }

  static py::object Constant(const Node& node) {
    return py::reinterpret_steal<py::object>(NewTensor(node.value));
  }

  py::object Apply(const Node& node) const {
    py::list inputs, outputs;
    for (const Var& v : node.inputs) inputs.append(At(v));
    for (const Type& type : node.outputs) outputs.append(TypeObject(type));
    py::dict attrs;
    for (size_t i = 0; i < node.op->attributes.size(); ++i) {
      const Attr& attr = (*node.attrs)[i];
      auto* graph = std::get_if<Graph*>(&attr);
      attrs[py::str(node.op->attributes[i].name)] =
          graph ? py::str((*graph)->name()) : ObjectFromAttr(attr);
    }
    return py::make_tuple(node.op->name, inputs, attrs, outputs, ShortSpan(node.span));
  }

  static py::object TypeObject(const Type& type) {
    if (!type.is_tensor()) return py::none();
    auto dtype = py::reinterpret_borrow<py::object>(DTypeObject(type.dtype()));
    return py::make_tuple(dtype, type.shape().ToCodes());
  }

  std::string name_;
  std::unordered_map<const Node*, size_t> first_;
  size_t next_ = 0;
  py::list inputs_, nodes_, outputs_;
};

// The graphs of a trace, the main one first, with calls inlined and rules applied, in which ops
// that are not `known` are made of smaller ones. Takes the module over.
py::list Describe(Trace& trace, const std::set<std::string>& known) {
  auto module = trace.module();
  {
    py::gil_scoped_release release;
    PassOptions options;
    options.fast = false;
    options.evaluate = EvaluateOn(GetBackend(std::string(kHostDevice)));
    Optimize(*module, options);
    LowerUnless(*module, [&](const Node& node) { return known.contains(node.op->name); });
    Optimize(*module, options);
  }
  py::list graphs;
  graphs.append(Description(*module->main()).Result());
  for (const auto& graph : module->graphs()) {
    if (graph.get() != module->main()) graphs.append(Description(*graph).Result());
  }
  return graphs;
}

}  // namespace

void BindMindIr(py::module_& m) {
  py::module_ mindir = m.def_submodule("mindir", "MindIR files, and graphs that go into them.");
  mindir.def("write", &WriteModel, py::arg("path"), py::arg("model"),
             "Write a model, a dict; the file is replaced as a whole or stays as it was.");
  mindir.def("read", &ReadModel, py::arg("path"),
             "Read a file: its model as a dict, and whether a checksum covered it.");
  mindir.def(
      "describe", &Describe, py::arg("trace"), py::arg("known"),
      "The graphs of a trace, the main one first: name, types of inputs, nodes as Tensor (a "
      "constant) or (op, inputs, attributes, output types, place), and outputs. A graph among "
      "attributes is its name; a type is (dtype, sizes), None of a function.");
}

}  // namespace ms::python
