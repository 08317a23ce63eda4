#include "dataset/mindrecord/header.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "io/wire.h"

namespace ms {
namespace {

using Json = nlohmann::ordered_json;

// The words of the format.
constexpr char kBlobPage[] = "BLOB_DATA";
constexpr char kRawPage[] = "RAW_DATA";
constexpr char kVersion[] = "3.0";
constexpr char kPackedVersion[] = "3.0-zstd";  // ours: others must not take frames for blobs
constexpr char kTable[] = "mindspore_rows";    // ours; others leave it out when they write the head
constexpr uint64_t kMaxRank = 64;

bool IsName(std::string_view name) {
  auto fits = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  return !name.empty() && std::all_of(name.begin(), name.end(), fits);
}

// A value of JSON with the way to it, so that each complaint says where it is.
class At {
 public:
  At(const Json& value, std::string where) : value_(value), where_(std::move(where)) {}

  template <class... Args>
  [[noreturn]] void Fail(fmt::format_string<Args...> format, Args&&... args) const {
    Throw(ErrorKind::kValue, "{} {}.", where_, fmt::format(format, std::forward<Args>(args)...));
  }
  At operator[](const char* key) const {
    if (!value_.is_object() || !value_.contains(key)) Fail("has no '{}'", key);
    return At(value_[key], fmt::format("{}: '{}'", where_, key));
  }
  std::optional<At> Find(const char* key) const {
    if (!value_.is_object() || !value_.contains(key)) return std::nullopt;
    return (*this)[key];
  }
  uint64_t Number(uint64_t limit) const {
    if (!value_.is_number_unsigned() || value_.get<uint64_t>() > limit)
      Fail("must be an integer in [0, {}], but got {:.60}", limit, Text());
    return value_.get<uint64_t>();
  }
  int64_t Signed() const {
    if (!value_.is_number_integer()) Fail("must be an integer, but got {:.60}", Text());
    return value_.get<int64_t>();
  }
  std::string String() const {
    if (!value_.is_string()) Fail("must be a text, but got {:.60}", Text());
    return value_.get<std::string>();
  }
  template <class F>
  void Each(F&& each) const {
    if (!value_.is_array()) Fail("must be a list, but got {:.60}", Text());
    for (size_t i = 0; i < value_.size(); ++i)
      each(At(value_[i], fmt::format("{}[{}]", where_, i)));
  }
  const Json& value() const { return value_; }
  const std::string& where() const { return where_; }

 private:
  std::string Text() const { return value_.dump(-1, ' ', false, Json::error_handler_t::replace); }

  const Json& value_;
  std::string where_;
};

std::vector<int64_t> Dims(const At& shape) {
  std::vector<int64_t> dims;
  int unknown = 0;
  shape.Each([&](const At& item) {
    int64_t dim = item.Signed();
    if (dim < -1 || dim == 0 || dim > INT32_MAX)
      item.Fail("must be -1 or positive, but got {}", dim);
    unknown += dim == -1;
    dims.push_back(dim);
  });
  if (unknown > 1) shape.Fail("must have at most one -1");
  if (dims.size() > kMaxRank) shape.Fail("must have at most {} dimensions", kMaxRank);
  return dims;
}

RecordField Field(const std::string& name, const At& at) {
  if (!IsName(name))
    at.Fail("must have a name of letters, digits and '_', but got {:.80}", Json(name).dump());
  if (!at.value().is_object()) at.Fail("must be a dict with a 'type'");
  RecordField field{name, RecordType::kBytes, std::nullopt};
  std::string type = at["type"].String();
  if (!RecordTypeFromName(type, &field.type)) {
    at["type"].Fail("must be int32, int64, float32, float64, string or bytes, but got '{:.60}'",
                    type);
  }
  for (auto& [key, value] : at.value().items())
    if (key != "type" && key != "shape")
      at.Fail("must have 'type' and 'shape' alone, but got '{:.60}'", key);
  if (auto shape = at.Find("shape")) {
    if (field.type == RecordType::kString || field.type == RecordType::kBytes)
      shape->Fail("is for numbers; {} has none", type);
    field.shape = Dims(*shape);
  }
  return field;
}

std::vector<RecordField> Fields(const At& at) {
  if (!at.value().is_object()) at.Fail("must be a dict of fields");
  if (at.value().empty()) at.Fail("must have a field");
  std::vector<RecordField> fields;
  for (auto& [name, value] : at.value().items())
    fields.push_back(Field(name, At(value, fmt::format("{}: field '{:.80}'", at.where(), name))));
  std::sort(fields.begin(), fields.end(), [](auto& a, auto& b) { return a.name < b.name; });
  for (size_t i = 1; i < fields.size(); ++i)
    if (fields[i].name == fields[i - 1].name) at.Fail("has '{}' twice", fields[i].name);
  return fields;
}

Json Print(const RecordSchema& schema) {
  Json result = Json::object();
  for (const RecordField& field : schema.fields) {
    Json entry = Json::object();
    if (field.shape) entry["shape"] = *field.shape;
    entry["type"] = RecordTypeName(field.type);
    result[field.name] = entry;
  }
  return result;
}

Json Print(const RecordPage& page, size_t number, uint64_t shard) {
  Json groups = Json::array();
  for (auto [id, offset] : page.groups) groups.push_back({{"id", id}, {"offset", offset}});
  return {{"end_row_id", page.end_row},
          {"page_id", number},
          {"page_size", page.size},
          {"page_type", page.blob ? kBlobPage : kRawPage},
          {"page_type_id", page.type_id},
          {"row_group_ids", groups},
          {"shard_id", shard},
          {"start_row_id", page.start_row}};
}

RecordPage Page(const At& at, const RecordHeader& header) {
  constexpr uint64_t kRows = UINT32_MAX;
  if (at["page_id"].Number(UINT32_MAX) != header.pages.size())
    at["page_id"].Fail("must be {}", header.pages.size());
  RecordPage page;
  std::string type = at["page_type"].String();
  if (type != kBlobPage && type != kRawPage) at["page_type"].Fail("is unknown");
  page.blob = type == kBlobPage;
  page.size = at["page_size"].Number(header.page_size);
  page.type_id = at["page_type_id"].Number(UINT32_MAX);
  page.start_row = at["start_row_id"].Number(kRows);
  page.end_row = at["end_row_id"].Number(kRows);
  at["row_group_ids"].Each([&](const At& group) {
    page.groups.emplace_back(group["id"].Number(kRows), group["offset"].Number(header.page_size));
  });
  return page;
}

void CheckSize(const At& at, uint64_t size, uint64_t low, uint64_t high) {
  if (size < low || size > high || size % 4 != 0)
    at.Fail("must be a multiple of 4 in [{}, {}], but got {}", low, high, size);
}

void ParseSchema(const At& root, RecordHeader& header) {
  std::vector<std::string> blobs;
  size_t count = 0;
  root["schema"].Each([&](const At& at) {
    if (count++ > 0) at.Fail("is a second schema, and there may be one");
    if (auto text = at.Find("desc")) header.schema.description = text->String();
    header.schema.fields = Fields(at["schema"]);
    at["blob_fields"].Each([&](const At& name) { blobs.push_back(name.String()); });
  });
  if (count == 0) root["schema"].Fail("has no schema");
  std::vector<std::string> expected;
  for (const RecordField& field : header.schema.fields)
    if (field.blob()) expected.push_back(field.name);
  if (blobs != expected) root["schema"].Fail("does not have the blob_fields that its types give");
  if (root["index_fields"].value().is_null()) return;
  root["index_fields"].Each([&](const At& at) {
    std::string name = at["index_field"].String();
    size_t place = header.schema.Find(name);
    if (place == header.schema.fields.size() || header.schema.fields[place].blob())
      at.Fail("must name a field that is no blob, but got '{:.80}'", name);
    header.index_fields.push_back(name);
  });
  std::set<std::string> once(header.index_fields.begin(), header.index_fields.end());
  if (once.size() != header.index_fields.size()) root["index_fields"].Fail("has a field twice");
}

Json ParseJson(std::string_view text, const std::string& where) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) Throw(ErrorKind::kValue, "{} is not valid JSON.", where);
  return json;
}

// JSON of bounded depth: the parser and destructor of the library recurse nowhere, but dump does.
void CheckDepth(std::string_view text, const std::string& where) {
  constexpr int kMaxDepth = 32;
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '{' || c == '[')) {
      if (++depth > kMaxDepth) Throw(ErrorKind::kValue, "{} is nested too deeply.", where);
    } else if (!quoted && (c == '}' || c == ']')) {
      --depth;
    }
  }
}

}  // namespace

uint64_t RecordHeader::End() const {
  uint64_t end = header_size;
  for (size_t i = 0; i < pages.size(); ++i) end = std::max(end, PageOffset(i) + pages[i].size);
  return end;
}

std::string PrintRecordHeader(const RecordHeader& header) {
  Json index;
  for (const std::string& name : header.index_fields)
    index.push_back({{"index_field", name}, {"schema_id", 0}});
  Json pages = Json::array();
  for (size_t i = 0; i < header.pages.size(); ++i)
    pages.push_back(Print(header.pages[i], i, header.shard_id));
  Json blobs = Json::array();
  for (const RecordField& field : header.schema.fields)
    if (field.blob()) blobs.push_back(field.name);
  Json schema = {{"blob_fields", blobs},
                 {"desc", header.schema.description},
                 {"schema", Print(header.schema)}};
  Json json = {{"header_size", header.header_size},
               {"index_fields", index},
               {"page", pages},
               {"page_size", header.page_size},
               {"compression_size", std::max<int64_t>(header.saved_bytes, 0)},
               {"schema", Json::array({schema})},
               {"shard_addresses", header.shard_names},
               {"shard_id", header.shard_id},
               {"statistics", nullptr},
               {"version", header.packed ? kPackedVersion : kVersion}};
  if (header.table)
    json[kTable] = {{"offset", header.table->first}, {"size", header.table->second}};
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string result;
  PutFixed(result, uint64_t{text.size()});
  return result + text;
}

RecordHeader ParseRecordHeader(std::string_view text, const std::string& path) {
  std::string where = fmt::format("The head of the MindRecord file '{}'", path);
  CheckDepth(text, where);
  Json json = ParseJson(text, where);
  At root(json, where);
  RecordHeader header;
  std::string version = root["version"].String();
  header.packed = version == kPackedVersion;
  if (version != kVersion && !header.packed) {
    root["version"].Fail("must be '{}' or '{}', but got '{:.40}'", kVersion, kPackedVersion,
                         version);
  }
  header.header_size = root["header_size"].Number(RecordHeader::kMaxHeader);
  header.page_size = root["page_size"].Number(RecordHeader::kMaxPage);
  CheckSize(root["header_size"], header.header_size, RecordHeader::kMinHeader,
            RecordHeader::kMaxHeader);
  CheckSize(root["page_size"], header.page_size, RecordHeader::kMinPage, RecordHeader::kMaxPage);
  if (auto saved = root.Find("compression_size")) header.saved_bytes = saved->Signed();
  ParseSchema(root, header);
  root["shard_addresses"].Each([&](const At& at) { header.shard_names.push_back(at.String()); });
  header.shard_id = root["shard_id"].Number(UINT32_MAX);
  if (header.shard_id >= header.shard_names.size())
    root["shard_id"].Fail("must be below {}, but got {}", header.shard_names.size(),
                          header.shard_id);
  if (!root["page"].value().is_null())
    root["page"].Each([&](const At& at) { header.pages.push_back(Page(at, header)); });
  auto table = root.Find(kTable);
  // Nobody but us writes such a file, and without the sums in the table wrong bytes would pass.
  if (header.packed && !table) root.Fail("has the version '{}', but no '{}'", version, kTable);
  if (table) {
    constexpr uint64_t kLimit = uint64_t{1} << 62;
    header.table = {(*table)["offset"].Number(kLimit), (*table)["size"].Number(kLimit)};
  }
  return header;
}

std::string PrintRecordSchema(const RecordSchema& schema) { return Print(schema).dump(); }

RecordSchema ParseRecordSchema(std::string_view text, const std::string& where) {
  CheckDepth(text, where);
  Json json = ParseJson(text, where);
  return RecordSchema{"", Fields(At(json, where))};
}

}  // namespace ms
