// The index beside a MindRecord file: an SQLite database (FILE.db) with a line for each row, which
// says where the row lies and what its indexed fields hold.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dataset/mindrecord/header.h"
#include "dataset/mindrecord/row_table.h"

struct sqlite3;
struct sqlite3_stmt;

namespace ms {

struct CloseDatabase {
  void operator()(sqlite3* database) const;
};
struct FinishStatement {
  void operator()(sqlite3_stmt* statement) const;
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, FinishStatement>;

// Writes a new database, in the tables of MindSpore 2.10.
class IndexWriter {
 public:
  // An empty path keeps it in memory, to be queried by the RecordIndex that is made of it.
  IndexWriter(const std::string& path, const RecordHeader& header, const std::string& shard_name);

  void Add(uint64_t row, uint64_t group, const RecordPlace& place, const RecordRow& values);
  void Finish();
  Database Release() && { return std::move(database_); }

 private:
  std::string path_;
  const RecordSchema* schema_;
  std::vector<size_t> indexed_;  // places of fields in the schema
  Database database_;
  Statement insert_;
};

class RecordIndex {
 public:
  // `path` is opened for reading, as a file that nobody changes: no lock, no file beside it.
  RecordIndex(const std::string& path, const RecordHeader& header);
  RecordIndex(Database database, const std::string& path, const RecordHeader& header);

  // The places of all rows, without sums; at most `limit`.
  std::vector<RecordPlace> Places(uint64_t limit) const;
  // The rows for which an SQL condition over the indexed fields holds, in their order.
  std::vector<uint64_t> Select(const std::string& where, const std::function<void()>& poll) const;

 private:
  [[noreturn]] void Fail(const std::string& what) const;
  Statement Prepare(const std::string& sql) const;
  void Guard();

  std::string path_;
  std::vector<std::string> fields_;
  Database database_;
};

}  // namespace ms
