#include "dataset/mindrecord/row_table.h"

#include <cstring>
#include <span>

#include "base/error.h"
#include "dataset/mindrecord/row_codec.h"
#include "io/crc32c.h"
#include "io/wire.h"

namespace ms {
namespace {

constexpr std::string_view kMagic("MSROWS\0\1", 8);
constexpr size_t kHeadBytes = 8 + 3 * sizeof(uint64_t) + 2 * sizeof(uint32_t);
constexpr size_t kSumBytes = sizeof(uint32_t);
static_assert(sizeof(RecordPlace) == 32);  // places are written as they lie

uint32_t Sum(std::string_view bytes) {
  return Crc32c(0, std::as_bytes(std::span(bytes.data(), bytes.size())));
}

template <class T>
T Take(std::string_view& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  bytes.remove_prefix(sizeof(T));
  return value;
}

// Follows the rows through the pages of one kind.
class Walk {
 public:
  Walk(const RecordHeader& header, bool blob, const std::string& path)
      : header_(header), blob_(blob), path_(path), used_(header.pages.size(), 0) {}

  void Step(const RecordPiece& piece, size_t row) {
    if (piece.page >= header_.pages.size() || header_.pages[piece.page].blob != blob_)
      Fail(row, "is in page {}, which is none of its kind", piece.page);
    uint64_t& used = used_[piece.page];
    if (piece.start != used || piece.size < kRowSizeBytes ||
        piece.size > header_.pages[piece.page].size - used) {
      Fail(row, "has {} bytes at {} of page {}, which has them from {} to {}", piece.size,
           piece.start, piece.page, used, header_.pages[piece.page].size);
    }
    used += piece.size;
  }
  void End(size_t rows) const {
    for (size_t i = 0; i < used_.size(); ++i) {
      if (header_.pages[i].blob == blob_ && used_[i] != header_.pages[i].size)
        Fail(rows, "is missing in page {}, after {} of {} bytes", i, used_[i],
             header_.pages[i].size);
    }
  }

 private:
  template <class... Args>
  [[noreturn]] void Fail(size_t row, fmt::format_string<Args...> format, Args&&... args) const {
    Throw(ErrorKind::kValue, "The MindRecord file '{}' is damaged: the {} half of row {} {}.",
          path_, blob_ ? "blob" : "raw", row, fmt::format(format, std::forward<Args>(args)...));
  }

  const RecordHeader& header_;
  bool blob_;
  const std::string& path_;
  std::vector<uint64_t> used_;
};

}  // namespace

uint64_t RowTable::Bytes(uint64_t rows) {
  return kHeadBytes + rows * sizeof(RecordPlace) + kSumBytes;
}

std::string PrintRowTable(const RowTable& table) {
  std::string out(kMagic);
  out.reserve(RowTable::Bytes(table.places.size()));
  PutFixed(out, uint64_t{table.places.size()});
  PutFixed(out, table.commit);
  PutFixed(out, table.index_size);
  PutFixed(out, table.index_sum);
  PutFixed(out, table.head_sum);
  out.append(reinterpret_cast<const char*>(table.places.data()),
             table.places.size() * sizeof(RecordPlace));
  PutFixed(out, Sum(out));
  return out;
}

RowTable ParseRowTable(std::string_view bytes, const std::string& path) {
  auto fail = [&path](const char* what) {
    Throw(ErrorKind::kValue, "The MindRecord file '{}' is damaged: its row table {}.", path, what);
  };
  if (bytes.size() < kHeadBytes + kSumBytes || !bytes.starts_with(kMagic)) fail("is not there");
  std::string_view summed = bytes.substr(0, bytes.size() - kSumBytes);
  std::string_view tail = bytes.substr(summed.size());
  if (Take<uint32_t>(tail) != Sum(summed)) fail("has another checksum");
  bytes.remove_prefix(kMagic.size());
  auto rows = Take<uint64_t>(bytes);
  if (rows != (summed.size() - kHeadBytes) / sizeof(RecordPlace) ||
      summed.size() != kHeadBytes + rows * sizeof(RecordPlace))
    fail("has another length than its rows take");
  RowTable table;
  table.commit = Take<uint64_t>(bytes);
  table.index_size = Take<uint64_t>(bytes);
  table.index_sum = Take<uint32_t>(bytes);
  table.head_sum = Take<uint32_t>(bytes);
  table.places.resize(rows);
  if (rows > 0) std::memcpy(table.places.data(), bytes.data(), rows * sizeof(RecordPlace));
  return table;
}

void CheckPlaces(const RecordHeader& header, const std::vector<RecordPlace>& places,
                 const std::string& path) {
  Walk raw(header, false, path);
  Walk blob(header, true, path);
  for (size_t row = 0; row < places.size(); ++row) {
    raw.Step(places[row].raw, row);
    blob.Step(places[row].blob, row);
  }
  raw.End(places.size());
  blob.End(places.size());
}

}  // namespace ms
