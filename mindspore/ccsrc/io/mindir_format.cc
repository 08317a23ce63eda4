// The messages of MindIR files, as MindSpore's own classes of them show their fields when they run.
#include "io/mindir_format.h"

namespace ms {
namespace {

constexpr FieldKind kInteger = FieldKind::kInteger;
constexpr FieldKind kFloat = FieldKind::kFloat;
constexpr FieldKind kDouble = FieldKind::kDouble;
constexpr FieldKind kText = FieldKind::kText;
constexpr FieldKind kBytes = FieldKind::kBytes;
constexpr FieldKind kMessage = FieldKind::kMessage;
constexpr FieldKind kContent = FieldKind::kContent;
constexpr bool kMany = true;

// Messages hold each other: all exist before their fields are filled in. What a file may have but a
// graph does not need (maps of tables, layouts of clusters, parts of data pipelines) stays bytes.
struct Kinds {
  MessageKind model{"ModelProto", {}}, graph{"GraphProto", {}}, node{"NodeProto", {}},
      attribute{"AttributeProto", {}}, sequence{"SeqInfoProto", {}}, value{"ValueInfoProto", {}},
      tensor{"TensorProto", {}}, external{"ExternalDataProto", {}}, primitive{"PrimitiveProto", {}};

  Kinds() {
    FillModel();
    FillAttribute();
    FillTensor();
  }

  void FillModel() {
    model.fields = {{1, "ir_version", kText},
                    {2, "producer_name", kText},
                    {3, "producer_version", kText},
                    {4, "domain", kText},
                    {5, "model_version", kText},
                    {6, "doc_string", kText},
                    {7, "graph", kMessage, false, &graph},
                    {8, "functions", kMessage, kMany, &graph},
                    {9, "preprocessor", kBytes},
                    {10, "little_endian", kInteger},
                    {11, "parallel", kBytes},
                    {12, "primitives", kMessage, kMany, &primitive},
                    {13, "mind_ir_version", kInteger},
                    {14, "user_info", kBytes, kMany}};
    graph.fields = {{1, "node", kMessage, kMany, &node},
                    {2, "name", kText},
                    {3, "parameter", kMessage, kMany, &tensor},
                    {4, "doc_string", kText},
                    {5, "input", kMessage, kMany, &value},
                    {6, "output", kMessage, kMany, &value},
                    {7, "bprop_hash", kText},
                    {8, "attribute", kMessage, kMany, &attribute},
                    {9, "bprop_filepath", kText},
                    {10, "map_parameter", kBytes, kMany}};
    node.fields = {{1, "input", kText, kMany},
                   {2, "output", kText, kMany},
                   {3, "name", kText},
                   {4, "op_type", kText},
                   {5, "attribute", kMessage, kMany, &attribute},
                   {6, "doc_string", kText},
                   {7, "domain", kText},
                   {8, "node_attr", kMessage, kMany, &attribute},
                   {9, "primal_attr", kMessage, kMany, &attribute}};
    value.fields = {{1, "name", kText},
                    {2, "tensor", kMessage, kMany, &tensor},
                    {3, "doc_string", kText},
                    {4, "denotation", kText},
                    {5, "attr_info", kMessage, false, &attribute}};
    primitive.fields = {{1, "name", kText},
                        {2, "op_type", kText},
                        {3, "attribute", kMessage, kMany, &attribute},
                        {4, "instance_name", kText},
                        {5, "prim_type", kInteger}};
  }

  void FillAttribute() {
    attribute.fields = {{1, "name", kText},
                        {2, "f", kFloat},
                        {3, "i", kInteger},
                        {4, "d", kDouble},
                        {5, "s", kBytes},
                        {6, "t", kMessage, false, &tensor},
                        {7, "g", kBytes},
                        {8, "floats", kFloat, kMany},
                        {9, "doubles", kDouble, kMany},
                        {10, "ints", kInteger, kMany},
                        {11, "strings", kBytes, kMany},
                        {12, "tensors", kMessage, kMany, &tensor},
                        {13, "graphs", kBytes, kMany},
                        {14, "doc_string", kText},
                        {15, "ref_attr_name", kText},
                        {16, "type", kInteger},
                        {17, "values", kMessage, kMany, &attribute},
                        {18, "seq_info", kMessage, false, &sequence},
                        {19, "functor", kBytes},
                        {20, "graph_holder", kBytes}};
    sequence.fields = {{1, "is_dyn_len", kInteger},
                       {2, "tuple_elem_item", kMessage, false, &attribute}};
  }

  void FillTensor() {
    tensor.fields = {{1, "dims", kInteger, kMany},
                     {2, "data_type", kInteger},
                     {3, "float_data", kFloat, kMany},
                     {4, "int32_data", kInteger, kMany},
                     {5, "string_data", kBytes, kMany},
                     {6, "int64_data", kInteger, kMany},
                     {7, "name", kText},
                     {8, "doc_string", kText},
                     {9, "raw_data", kContent},
                     {10, "double_data", kDouble, kMany},
                     {11, "uint64_data", kInteger, kMany},
                     {12, "external_data", kMessage, false, &external},
                     {13, "ref_key", kText},
                     {14, "min_dims", kInteger, kMany},
                     {15, "max_dims", kInteger, kMany},
                     {16, "compression_type", kInteger},
                     {17, "quant_params", kBytes, kMany}};
    external.fields = {{1, "location", kText}, {2, "offset", kInteger}, {3, "length", kInteger}};
  }
};

}  // namespace

const MessageKind& MindIrModel() {
  static const auto* kinds = new Kinds;  // its parts point to each other
  return kinds->model;
}

Wire WireOf(FieldKind kind) {
  switch (kind) {
    case FieldKind::kInteger:
      return Wire::kVarint;
    case FieldKind::kFloat:
      return Wire::kFixed32;
    case FieldKind::kDouble:
      return Wire::kFixed64;
    default:
      return Wire::kBytes;
  }
}

std::optional<DType> DTypeOfMindIr(int64_t number) {
  switch (number) {
    case 1:
      return DType::kFloat32;
    case 2:
      return DType::kUInt8;
    case 3:
      return DType::kInt8;
    case 4:
      return DType::kUInt16;
    case 5:
      return DType::kInt16;
    case 6:
      return DType::kInt32;
    case 7:
      return DType::kInt64;
    case 9:
      return DType::kBool;
    case 10:
      return DType::kFloat16;
    case 11:
    case 17:
      return DType::kFloat64;
    case 12:
      return DType::kUInt32;
    case 13:
      return DType::kUInt64;
    case 14:
      return DType::kComplex64;
    case 15:
      return DType::kComplex128;
    case 16:
      return DType::kBFloat16;
    default:
      return {};
  }
}

}  // namespace ms
