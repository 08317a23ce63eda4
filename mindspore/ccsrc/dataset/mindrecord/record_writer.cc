#include "dataset/mindrecord/record_writer.h"

#include <cmath>
#include <exception>
#include <random>
#include <span>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "dataset/mindrecord/record_file.h"
#include "dataset/mindrecord/record_index.h"
#include "dataset/mindrecord/record_set.h"
#include "dataset/mindrecord/row_codec.h"
#include "io/atomic_file.h"
#include "io/crc32c.h"
#include "io/file_reader.h"

namespace ms {
namespace {

constexpr size_t kPendingBytes = 1 << 20;
constexpr size_t kPollRows = 4096;
constexpr uint64_t kFrame = 512;  // more than a frame that saves nothing adds

std::span<const std::byte> Bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The page of a kind that is being filled; its last bytes wait to be written together.
struct OpenPage {
  bool open = false;
  uint32_t page = 0;
  std::string pending;
};

}  // namespace

class RecordShard {
 public:
  RecordShard(const std::string& path, const RecordHeader& form)
      : file_(path), index_file_(path + ".db"), header_(form), path_(path) {
    header_.pages.clear();
    header_.saved_bytes = 0;
    header_.table.reset();
    index_ = std::make_unique<IndexWriter>(index_file_.temporary_path(), header_, BaseName(path));
  }

  void set_poll(const std::function<void()>& poll) {
    poll_ = poll;
    file_.set_poll(poll);
  }

  // Takes over what a file has. Its index is made anew, so each raw half is read and checked.
  void Adopt(const RecordFile& old) {
    header_ = old.header();
    header_.table.reset();
    for (size_t i = 0; i < header_.pages.size(); ++i) {
      old.CopyPage(i, [this](uint64_t offset, std::string_view bytes) {
        file_.WriteAt(offset, Bytes(bytes));
      });
      OpenPage& kind = header_.pages[i].blob ? blob_ : raw_;
      kind = {true, static_cast<uint32_t>(i), ""};
    }
    RecordFile::Cursor cursor;
    RecordRow values;
    std::vector<bool> all(header_.schema.fields.size(), true);
    table_.places.reserve(old.rows());
    for (uint64_t row = 0; row < old.rows(); ++row) {
      if (poll_ && row % kPollRows == 0) poll_();
      old.Read(row, all, cursor, values);
      RecordPlace place = old.SummedPlace(row, cursor);
      index_->Add(row, header_.pages[place.blob.page].type_id, place, values);
      table_.places.push_back(place);
    }
  }

  // Encodes only rows that might be too large.
  void CheckSize(const RecordRow& row, size_t number) {
    uint64_t largest = LargestSize(header_.schema, row);
    if (header_.packed) largest += largest / 128 + kFrame;
    if (largest > header_.page_size) Encode(row, number);
  }

  // `number` of the row in the list it came with.
  void Add(const RecordRow& row, size_t number) {
    int64_t saved = Encode(row, number);
    bool raw_full = Full(raw_, raw_bytes_);
    if (raw_full || Full(blob_, blob_bytes_)) NewPage(blob_, true);
    if (raw_full) NewPage(raw_, false);
    RecordPage& blob_page = header_.pages[blob_.page];
    RecordPage& raw_page = header_.pages[raw_.page];
    // A blob page is a row group: the raw page says where its first row starts.
    if (blob_page.size == 0) raw_page.groups.emplace_back(blob_page.type_id, raw_page.size);
    RecordPlace place{Put(raw_, raw_bytes_), Put(blob_, blob_bytes_)};
    index_->Add(table_.places.size(), blob_page.type_id, place, row);
    table_.places.push_back(place);
    blob_page.end_row = table_.places.size();
    header_.saved_bytes += saved;
  }

  // Both files are whole and on the disk, under names of their own.
  void Finish(const std::vector<std::string>& names, uint64_t shard, uint64_t commit) {
    Flush(raw_);
    Flush(blob_);
    index_->Finish();
    index_.reset();
    index_file_.Sync();
    SumIndex();
    header_.shard_names = names;
    header_.shard_id = shard;
    header_.table = {header_.End(), RowTable::Bytes(table_.places.size())};
    std::string head = PrintRecordHeader(header_);
    CheckHead(head.size());
    table_.commit = commit;
    table_.head_sum = Crc32c(0, Bytes(head));
    file_.WriteAt(header_.table->first, Bytes(PrintRowTable(table_)));
    file_.WriteAt(0, Bytes(head));
    file_.Sync();
  }

  // The index first: whoever finds an index that is newer than the file makes its own.
  void Commit() {
    index_file_.Commit();
    file_.Commit();
  }

 private:
  int64_t Encode(const RecordRow& row, size_t number) {
    raw_bytes_.clear();
    blob_bytes_.clear();
    EncodeRaw(header_.schema, row, raw_bytes_);
    int64_t saved = EncodeBlob(header_.schema, row, blob_bytes_);
    CheckFits(raw_bytes_, "fields that are no blobs", number);
    CheckFits(blob_bytes_, "blobs", number);
    if (header_.packed) {
      blob_bytes_ = PackBlob(blob_bytes_);
      CheckFits(blob_bytes_, "compressed blobs", number);
    }
    return saved;
  }
  void CheckFits(const std::string& bytes, const char* what, size_t row) const {
    if (bytes.size() <= header_.page_size) return;
    Throw(ErrorKind::kValue,
          "For 'write_raw_data', row {}: its {} must fit into a page of {} bytes, but got {}; "
          "set_page_size makes pages larger, up to {}.",
          row, what, header_.page_size, bytes.size(), RecordHeader::kMaxPage);
  }
  void CheckHead(uint64_t size) const {
    if (size <= header_.header_size) return;
    Throw(ErrorKind::kValue,
          "The head of the MindRecord file '{}' must fit into {} bytes, but has {} with {} pages; "
          "set_header_size makes it larger, up to {}, and set_page_size makes fewer pages.",
          path_, header_.header_size, size, header_.pages.size(), RecordHeader::kMaxHeader);
  }
  bool Full(const OpenPage& kind, const std::string& bytes) const {
    return !kind.open || header_.pages[kind.page].size + bytes.size() > header_.page_size;
  }
  void NewPage(OpenPage& kind, bool blob) {
    constexpr uint64_t kLeastOfPage = 150;  // characters that a page takes in the head
    CheckHead(header_.pages.size() * kLeastOfPage);
    Flush(kind);
    RecordPage page;
    page.blob = blob;
    if (blob) {
      page.type_id = groups();
      page.start_row = page.end_row = table_.places.size();
      page.groups.emplace_back(0, 0);
    } else if (kind.open) {
      page.type_id = kind.page + 1;
    }
    kind.page = static_cast<uint32_t>(header_.pages.size());
    kind.open = true;
    header_.pages.push_back(page);
  }
  uint64_t groups() const { return blob_.open ? header_.pages[blob_.page].type_id + 1 : 0; }
  RecordPiece Put(OpenPage& kind, const std::string& bytes) {
    RecordPage& page = header_.pages[kind.page];
    RecordPiece piece{kind.page, static_cast<uint32_t>(page.size),
                      static_cast<uint32_t>(bytes.size()), Crc32c(0, Bytes(bytes))};
    page.size += bytes.size();
    kind.pending += bytes;
    if (kind.pending.size() >= kPendingBytes) Flush(kind);
    return piece;
  }
  void Flush(OpenPage& kind) {
    if (kind.pending.empty()) return;
    uint64_t end = header_.PageOffset(kind.page) + header_.pages[kind.page].size;
    file_.WriteAt(end - kind.pending.size(), Bytes(kind.pending));
    kind.pending.clear();
  }
  void SumIndex() {
    FileReader in(index_file_.temporary_path(), "MindRecord index");
    table_.index_size = in.size();
    std::vector<std::byte> block(kPendingBytes);
    while (in.remaining() > 0) {
      auto piece = std::span(block).first(std::min<uint64_t>(block.size(), in.remaining()));
      table_.index_sum = in.ReadContent(piece, table_.index_sum);
    }
  }

  AtomicFile file_;
  AtomicFile index_file_;
  RecordHeader header_;
  std::string path_;
  std::unique_ptr<IndexWriter> index_;
  RowTable table_;
  OpenPage raw_;
  OpenPage blob_;
  std::string raw_bytes_;
  std::string blob_bytes_;
  std::function<void()> poll_;
};

RecordWriter::RecordWriter(const std::vector<std::string>& paths, const RecordHeader& form)
    : form_(form) {
  form_.shard_names.clear();
  for (const std::string& path : paths) {
    form_.shard_names.push_back(BaseName(path));
    shards_.push_back(std::make_unique<RecordShard>(path, form));
  }
}

RecordWriter::~RecordWriter() = default;

std::unique_ptr<RecordWriter> RecordWriter::Append(const std::vector<std::string>& paths,
                                                   const std::function<void()>& poll) {
  std::unique_ptr<RecordWriter> writer(new RecordWriter());
  RecordSet old(paths, false);  // shards of one set, or it throws
  writer->form_ = old.file(0).header();
  for (size_t i = 0; i < paths.size(); ++i) {
    auto shard = std::make_unique<RecordShard>(paths[i], old.file(i).header());
    shard->set_poll(poll);
    shard->Adopt(old.file(i));
    writer->shards_.push_back(std::move(shard));
  }
  writer->form_.shard_names.clear();
  for (const std::string& path : paths) writer->form_.shard_names.push_back(BaseName(path));
  return writer;
}

void RecordWriter::set_poll(const std::function<void()>& poll) {
  for (auto& shard : shards_) shard->set_poll(poll);
}

size_t RecordWriter::Bound(size_t shard, size_t rows) const {
  double place =
      static_cast<double>(rows) * static_cast<double>(shard) / static_cast<double>(shards_.size());
  return static_cast<size_t>(std::nearbyint(place));
}

void RecordWriter::CheckSizes(const std::vector<RecordRow>& rows) const {
  for (size_t shard = 0; shard < shards_.size(); ++shard) {
    size_t end = Bound(shard + 1, rows.size());
    for (size_t i = Bound(shard, rows.size()); i < end; ++i) shards_[shard]->CheckSize(rows[i], i);
  }
}

void RecordWriter::Write(const std::vector<RecordRow>& rows, bool parallel) {
  auto piece = [&](size_t shard) {
    size_t end = Bound(shard + 1, rows.size());
    for (size_t i = Bound(shard, rows.size()); i < end; ++i) shards_[shard]->Add(rows[i], i);
  };
  if (!parallel || shards_.size() == 1) {
    for (size_t shard = 0; shard < shards_.size(); ++shard) piece(shard);
    return;
  }
  std::vector<std::exception_ptr> thrown(shards_.size());
  size_t workers =
      std::min<size_t>(shards_.size(), std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  auto work = [&](size_t worker) {
    for (size_t shard = worker; shard < shards_.size(); shard += workers) {
      try {
        piece(shard);
      } catch (...) {
        thrown[shard] = std::current_exception();
      }
    }
  };
  size_t started = 0;
  try {
    for (; started < workers - 1; ++started) threads.emplace_back(work, started);
  } catch (const std::system_error&) {
    // The system has no more threads: what is left is done here.
  }
  for (size_t worker = started; worker < workers; ++worker) work(worker);
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : thrown)
    if (error) std::rethrow_exception(error);
}

// All that may fail for want of room comes before the first file gets its name.
void RecordWriter::Commit() {
  std::random_device source;
  uint64_t commit = uint64_t{source()} << 32 | source();
  for (size_t i = 0; i < shards_.size(); ++i) shards_[i]->Finish(form_.shard_names, i, commit);
  for (auto& shard : shards_) shard->Commit();
}

}  // namespace ms
