// Writing MindRecord files: one, or a set of shards that share the rows. Nothing has its name
// before Commit, which replaces each file as a whole.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dataset/mindrecord/header.h"
#include "dataset/mindrecord/row_table.h"

namespace ms {

class RecordShard;

class RecordWriter {
 public:
  // New files with the schema, sizes and index fields of `form`.
  RecordWriter(const std::vector<std::string>& paths, const RecordHeader& form);
  // Files that hold what is in them, for more rows behind.
  static std::unique_ptr<RecordWriter> Append(const std::vector<std::string>& paths,
                                              const std::function<void()>& poll);
  ~RecordWriter();

  const RecordHeader& form() const { return form_; }
  void set_poll(const std::function<void()>& poll);
  // Throws ValueError for a row that does not fit into a page. Write checks this, too, but what it
  // wrote before is lost then.
  void CheckSizes(const std::vector<RecordRow>& rows) const;
  // Rows in order, cut into one piece for each shard; with `parallel` the shards work at once.
  void Write(const std::vector<RecordRow>& rows, bool parallel);
  void Commit();

 private:
  RecordWriter() = default;
  // The first row of a shard's piece of `rows`.
  size_t Bound(size_t shard, size_t rows) const;

  RecordHeader form_;
  std::vector<std::unique_ptr<RecordShard>> shards_;
};

}  // namespace ms
