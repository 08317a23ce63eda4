#include "dataset/mindrecord/record_index.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>

#include <algorithm>
#include <exception>

#include "base/error.h"

namespace ms {
namespace {

constexpr char kPlaceColumns[] =
    "ROW_ID, PAGE_ID_RAW, PAGE_OFFSET_RAW, PAGE_OFFSET_RAW_END, ROW_GROUP_ID, PAGE_ID_BLOB, "
    "PAGE_OFFSET_BLOB, PAGE_OFFSET_BLOB_END";
constexpr int kPlaceCount = 8;

// "label" of the first (and only) schema.
std::string Column(const std::string& field) { return field + "_0"; }

const char* SqlType(RecordType type) {
  switch (type) {
    case RecordType::kInt32:
    case RecordType::kInt64:
      return "INTEGER";
    case RecordType::kFloat32:
    case RecordType::kFloat64:
      return "REAL";
    default:
      return "TEXT";
  }
}

[[noreturn]] void FailOn(const std::string& path, sqlite3* database) {
  int code = database == nullptr ? SQLITE_NOMEM : sqlite3_errcode(database);
  const char* text = database == nullptr ? "no memory" : sqlite3_errmsg(database);
  ErrorKind kind = code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_ERROR
                       ? ErrorKind::kValue
                       : ErrorKind::kOs;
  Throw(kind, "The MindRecord index '{}' cannot be used: {}.", path, text);
}

void Run(sqlite3* database, const std::string& path, const std::string& sql) {
  if (sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    FailOn(path, database);
}

Statement PrepareOn(sqlite3* database, const std::string& path, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK)
    FailOn(path, database);
  return Statement(statement);
}

// As a URI: what has a meaning there is written as its number.
std::string Uri(const std::string& path) {
  std::string uri = "file:";
  if (!path.starts_with('/')) uri += "./";
  for (unsigned char c : path) {
    if (std::isalnum(c) || c == '/' || c == '.' || c == '-' || c == '_')
      uri.push_back(static_cast<char>(c));
    else
      uri += fmt::format("%{:02X}", c);
  }
  return uri + "?immutable=1";
}

// Conditions read the index and compute; they do nothing else.
int Authorize(void*, int action, const char*, const char* name, const char*, const char*) {
  if (action == SQLITE_SELECT || action == SQLITE_READ) return SQLITE_OK;
  if (action == SQLITE_FUNCTION && std::string_view(name) != "load_extension") return SQLITE_OK;
  return SQLITE_DENY;
}

// A poll that throws inside of SQLite waits until SQLite has returned.
struct Poll {
  const std::function<void()>& poll;
  std::exception_ptr thrown;

  static int Call(void* data) {
    auto* self = static_cast<Poll*>(data);
    try {
      if (self->poll) self->poll();
    } catch (...) {
      self->thrown = std::current_exception();
    }
    return self->thrown ? 1 : 0;
  }
};

void BindText(sqlite3_stmt* statement, int column, std::string_view text) {
  sqlite3_bind_text64(statement, column, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

}  // namespace

void CloseDatabase::operator()(sqlite3* database) const { sqlite3_close_v2(database); }
void FinishStatement::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

IndexWriter::IndexWriter(const std::string& path, const RecordHeader& header,
                         const std::string& shard_name)
    : path_(path), schema_(&header.schema) {
  sqlite3* opened = nullptr;
  // The file is ours alone and is given its name when it is whole: no locks, no journal.
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  int code = path.empty() ? sqlite3_open_v2(":memory:", &opened, flags, nullptr)
                          : sqlite3_open_v2(path.c_str(), &opened, flags, "unix-none");
  database_.reset(opened);
  if (code != SQLITE_OK) FailOn(path_, opened);
  std::string columns;
  std::string keys = "ROW_ID";
  std::string marks = "?";
  for (int i = 1; i < kPlaceCount; ++i) marks += ",?";
  for (size_t i = 0; i < header.index_fields.size(); ++i) {
    size_t place = header.schema.Find(header.index_fields[i]);
    indexed_.push_back(place);
    columns += fmt::format("INC_{} INT, {} {},", i, Column(header.index_fields[i]),
                           SqlType(header.schema.fields[place].type));
    keys += fmt::format(",INC_{}", i);
    marks += ",0,?";
  }
  Run(opened, path_, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN");
  Run(opened, path_,
      fmt::format("CREATE TABLE INDEXES(ROW_ID INT NOT NULL, PAGE_ID_RAW INT NOT NULL, "
                  "PAGE_OFFSET_RAW INT NOT NULL, PAGE_OFFSET_RAW_END INT NOT NULL, "
                  "ROW_GROUP_ID INT NOT NULL, PAGE_ID_BLOB INT NOT NULL, PAGE_OFFSET_BLOB INT NOT "
                  "NULL, PAGE_OFFSET_BLOB_END INT NOT NULL, {} PRIMARY KEY({}))",
                  columns, keys));
  Run(opened, path_, "CREATE TABLE SHARD_NAME(NAME TEXT NOT NULL)");
  Statement name = PrepareOn(opened, path_, "INSERT INTO SHARD_NAME VALUES(?)");
  BindText(name.get(), 1, shard_name);
  if (sqlite3_step(name.get()) != SQLITE_DONE) FailOn(path_, opened);
  insert_ = PrepareOn(opened, path_, fmt::format("INSERT INTO INDEXES VALUES({})", marks));
}

void IndexWriter::Add(uint64_t row, uint64_t group, const RecordPlace& place,
                      const RecordRow& values) {
  sqlite3_stmt* insert = insert_.get();
  const RecordPiece& raw = place.raw;
  const RecordPiece& blob = place.blob;
  const uint64_t numbers[kPlaceCount] = {
      row,   raw.page,  raw.start,  uint64_t{raw.start} + raw.size,
      group, blob.page, blob.start, uint64_t{blob.start} + blob.size};
  for (int i = 0; i < kPlaceCount; ++i)
    sqlite3_bind_int64(insert, i + 1, static_cast<sqlite3_int64>(numbers[i]));
  int column = kPlaceCount;
  for (size_t field : indexed_) {
    const RecordValue& value = values[field];
    RecordType type = schema_->fields[field].type;
    ++column;
    if (type == RecordType::kString)
      BindText(insert, column, value.view());
    else if (schema_->fields[field].integer())
      sqlite3_bind_int64(insert, column, value.integer);
    else
      sqlite3_bind_double(insert, column, value.real);
  }
  if (sqlite3_step(insert) != SQLITE_DONE) FailOn(path_, database_.get());
  sqlite3_reset(insert);
}

void IndexWriter::Finish() {
  insert_.reset();
  Run(database_.get(), path_, "COMMIT");
}

RecordIndex::RecordIndex(const std::string& path, const RecordHeader& header)
    : path_(path), fields_(header.index_fields) {
  sqlite3* opened = nullptr;
  int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
  int code = sqlite3_open_v2(Uri(path).c_str(), &opened, flags, nullptr);
  database_.reset(opened);
  if (code != SQLITE_OK) FailOn(path_, opened);
  Guard();
}

RecordIndex::RecordIndex(Database database, const std::string& path, const RecordHeader& header)
    : path_(path), fields_(header.index_fields), database_(std::move(database)) {
  Guard();
}

// A file may be anybody's: its own views and functions are not trusted.
void RecordIndex::Guard() {
  sqlite3* database = database_.get();
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_exec(database, "PRAGMA cell_size_check=ON", nullptr, nullptr, nullptr);
  sqlite3_set_authorizer(database, &Authorize, nullptr);
}

void RecordIndex::Fail(const std::string& what) const {
  Throw(ErrorKind::kValue, "The MindRecord index '{}' is damaged: {}.", path_, what);
}

Statement RecordIndex::Prepare(const std::string& sql) const {
  return PrepareOn(database_.get(), path_, sql);
}

std::vector<RecordPlace> RecordIndex::Places(uint64_t limit) const {
  Statement select = Prepare(fmt::format("SELECT {} FROM INDEXES ORDER BY ROW_ID", kPlaceColumns));
  std::vector<RecordPlace> places;
  uint32_t numbers[kPlaceCount];
  int code;
  while ((code = sqlite3_step(select.get())) == SQLITE_ROW) {
    for (int i = 0; i < kPlaceCount; ++i) {
      sqlite3_int64 number = sqlite3_column_int64(select.get(), i);
      if (sqlite3_column_type(select.get(), i) != SQLITE_INTEGER || number < 0 ||
          number > UINT32_MAX)
        Fail(fmt::format("line {} has a number out of range", places.size()));
      numbers[i] = static_cast<uint32_t>(number);
    }
    if (numbers[0] != places.size() || places.size() >= limit)
      Fail(fmt::format("row {} is missing, there twice, or more than the file can hold",
                       places.size()));
    if (numbers[3] < numbers[2] || numbers[7] < numbers[6])
      Fail(fmt::format("row {} ends before it starts", places.size()));
    places.push_back({{numbers[1], numbers[2], numbers[3] - numbers[2], 0},
                      {numbers[5], numbers[6], numbers[7] - numbers[6], 0}});
  }
  if (code != SQLITE_DONE) FailOn(path_, database_.get());
  return places;
}

std::vector<uint64_t> RecordIndex::Select(const std::string& where,
                                          const std::function<void()>& poll) const {
  std::string columns = "ROW_ID";
  for (const std::string& field : fields_)
    columns += fmt::format(", {} AS \"{}\"", Column(field), field);
  std::string sql = fmt::format("SELECT ROW_ID FROM (SELECT {} FROM INDEXES) WHERE ({}\n) LIMIT -1",
                                columns, where);
  sqlite3_stmt* prepared = nullptr;
  const char* rest = nullptr;
  int code = sqlite3_prepare_v2(database_.get(), sql.c_str(), -1, &prepared, &rest);
  Statement select(prepared);
  if (code != SQLITE_OK || prepared == nullptr || *rest != '\0' ||
      where.find('\0') != std::string::npos) {
    Throw(ErrorKind::kValue,
          "For 'where', the text must be an SQL condition over the indexed fields [{}], but got "
          "{:.200}: {}.",
          fmt::join(fields_, ", "), where,
          code == SQLITE_OK ? "it is more than a condition" : sqlite3_errmsg(database_.get()));
  }
  constexpr int kSteps = 100000;  // of SQLite's machine, some milliseconds
  Poll state{poll, nullptr};
  sqlite3_progress_handler(database_.get(), kSteps, &Poll::Call, &state);
  std::vector<uint64_t> rows;
  while ((code = sqlite3_step(select.get())) == SQLITE_ROW)
    rows.push_back(static_cast<uint64_t>(sqlite3_column_int64(select.get(), 0)));
  sqlite3_progress_handler(database_.get(), 0, nullptr, nullptr);
  if (state.thrown) std::rethrow_exception(state.thrown);
  if (code != SQLITE_DONE) FailOn(path_, database_.get());
  // Asked for in order, SQLite would look up each row of the table by its number.
  std::sort(rows.begin(), rows.end());
  return rows;
}

}  // namespace ms
