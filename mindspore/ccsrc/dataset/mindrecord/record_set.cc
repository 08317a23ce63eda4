#include "dataset/mindrecord/record_set.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/error.h"

namespace ms {
namespace {

std::string Folder(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

// The paths of all shards of a set. A file of its own may have been given another name.
std::vector<std::string> ShardPaths(const RecordFile& file) {
  const std::vector<std::string>& names = file.header().shard_names;
  if (names.size() == 1) return {file.path()};
  std::string folder = Folder(file.path());
  std::vector<std::string> paths;
  for (const std::string& name : names) {
    // Older files have whole paths here, of where they were written.
    std::string base = name.substr(name.rfind('/') + 1);
    if (base.empty() || base == "." || base == "..")
      Throw(ErrorKind::kValue, "The head of the MindRecord file '{}' has a shard without a name.",
            file.path());
    paths.push_back(folder + base);
  }
  if (paths[file.header().shard_id] != file.path()) {
    Throw(ErrorKind::kValue,
          "The MindRecord file '{}' is one of {} shards, which must keep their names; this one was "
          "'{}'.",
          file.path(), paths.size(), paths[file.header().shard_id]);
  }
  return paths;
}

}  // namespace

RecordSet::RecordSet(const std::vector<std::string>& paths, bool whole) {
  if (paths.empty()) Throw(ErrorKind::kValue, "There must be a MindRecord file, but got none.");
  if (!whole || paths.size() > 1) {
    for (const std::string& path : paths) Add(std::make_unique<RecordFile>(path));
    return;
  }
  auto given = std::make_unique<RecordFile>(paths[0]);
  for (const std::string& path : ShardPaths(*given)) {
    bool same = given != nullptr && path == given->path();
    Add(same ? std::move(given) : std::make_unique<RecordFile>(path));
  }
}

void RecordSet::Add(std::unique_ptr<RecordFile> file) {
  if (!files_.empty()) CheckTogether(*file);
  uint64_t first = rows_;
  rows_ += file->rows();
  files_.push_back({std::move(file), first});
}

void RecordSet::CheckTogether(const RecordFile& file) const {
  if (file.header().schema.fields != schema().fields ||
      file.header().index_fields != index_fields()) {
    Throw(ErrorKind::kValue,
          "The MindRecord files '{}' and '{}' must have the same schema and index fields.",
          files_[0].file->path(), file.path());
  }
  for (const Part& part : files_) {
    const RecordFile& other = *part.file;
    if (other.summed() && file.summed() && other.commit() != file.commit() &&
        Folder(other.path()) == Folder(file.path()) &&
        other.header().shard_names == file.header().shard_names) {
      Throw(ErrorKind::kValue,
            "The MindRecord files '{}' and '{}' are shards that were not written together: a write "
            "of them was interrupted.",
            other.path(), file.path());
    }
  }
}

std::vector<std::string> RecordSet::Paths() const {
  std::vector<std::string> paths;
  for (const Part& part : files_) paths.push_back(part.file->path());
  return paths;
}

std::vector<uint64_t> RecordSet::Counts() const {
  std::vector<uint64_t> counts;
  for (const Part& part : files_) counts.push_back(part.file->rows());
  return counts;
}

void RecordSet::Read(std::span<const int64_t> rows, const std::vector<bool>& wanted,
                     const Take& take) {
  if (wanted.size() != schema().fields.size())
    Throw(ErrorKind::kValue, "There must be a flag for each of {} fields.", schema().fields.size());
  std::unique_ptr<Reading> reading = TakeReading();
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] < 0 || static_cast<uint64_t>(rows[i]) >= rows_)
      Throw(ErrorKind::kIndex, "A row must be in [0, {}), but got {}.", rows_, rows[i]);
    auto row = static_cast<uint64_t>(rows[i]);
    auto behind = std::upper_bound(files_.begin(), files_.end(), row,
                                   [](uint64_t r, const Part& part) { return r < part.first; });
    auto part = std::prev(behind);
    if (std::exchange(reading->file, part->file.get()) != part->file.get()) reading->cursor.Leave();
    part->file->Read(row - part->first, wanted, reading->cursor, reading->values);
    take(i, reading->values);
  }
  std::lock_guard lock(mutex_);
  idle_.push_back(std::move(reading));
}

std::unique_ptr<RecordSet::Reading> RecordSet::TakeReading() {
  std::lock_guard lock(mutex_);
  if (idle_.empty()) return std::make_unique<Reading>();
  std::unique_ptr<Reading> taken = std::move(idle_.back());
  idle_.pop_back();
  return taken;
}

std::vector<uint64_t> RecordSet::Select(const std::string& where, const std::function<void()>& poll,
                                        std::vector<std::string>* rebuilt) const {
  std::vector<uint64_t> result;
  for (const Part& part : files_) {
    bool anew = false;
    for (uint64_t row : part.file->Select(where, poll, &anew)) result.push_back(part.first + row);
    if (anew) rebuilt->push_back(part.file->path());
  }
  return result;
}

}  // namespace ms
