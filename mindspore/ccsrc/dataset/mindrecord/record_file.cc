#include "dataset/mindrecord/record_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "base/error.h"
#include "dataset/mindrecord/row_codec.h"
#include "dataset/mindrecord/zstd.h"
#include "io/crc32c.h"
#include "io/os_error.h"

namespace ms {
namespace {

constexpr uint64_t kWindowBytes = 256 * 1024;
constexpr size_t kPollRows = 4096;
// What a file may keep in memory: all of it, or at least what is no blob.
constexpr uint64_t kMostKept = 64 << 20;

uint32_t Sum(std::string_view bytes) {
  return Crc32c(0, std::as_bytes(std::span(bytes.data(), bytes.size())));
}

// The sum and the size of a whole file; false where it cannot be read.
bool SumFile(const std::string& path, uint64_t* size, uint32_t* sum) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return false;
  std::vector<std::byte> block(1 << 20);
  *size = 0;
  *sum = 0;
  ssize_t got = 0;
  struct stat state{};
  bool regular = fstat(fd, &state) == 0 && S_ISREG(state.st_mode);
  while (regular && (got = read(fd, block.data(), block.size())) > 0) {
    *sum = Crc32c(*sum, std::span(block).first(static_cast<size_t>(got)));
    *size += static_cast<uint64_t>(got);
  }
  close(fd);
  return regular && got == 0;
}

}  // namespace

RecordFile::RecordFile(const std::string& path) : path_(path), index_path_(path + ".db") {
  fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd_ < 0) throw OsError(errno, fmt::format("Cannot open the MindRecord file '{}'", path));
  try {
    struct stat state{};
    if (fstat(fd_, &state) != 0 || !S_ISREG(state.st_mode))
      Throw(ErrorKind::kValue, "The MindRecord file '{}' must be a regular file.", path);
    size_ = static_cast<uint64_t>(state.st_size);
    ReadHeader();
    if (header_.table)
      ReadTable();
    else
      ReadIndex();
    CheckPlaces(header_, table_.places, path_);
    ChooseKept();
  } catch (...) {
    close(fd_);
    throw;
  }
}

RecordFile::~RecordFile() { close(fd_); }

void RecordFile::Damaged(const std::string& what) const {
  Throw(ErrorKind::kValue, "The MindRecord file '{}' is damaged: {}.", path_, what);
}

std::string RecordFile::ReadAt(uint64_t offset, uint64_t size) const {
  std::string bytes;
  ReadInto(bytes, offset, size);
  return bytes;
}

void RecordFile::ReadInto(std::string& bytes, uint64_t offset, uint64_t size) const {
  std::string read = std::exchange(bytes, {});  // after a failure there are none
  read.resize(size);
  for (uint64_t done = 0; done < size;) {
    ssize_t got = pread(fd_, read.data() + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw OsError(errno, fmt::format("Cannot read the MindRecord file '{}'", path_));
    if (got == 0) {
      Damaged(fmt::format("it ends at {}, before the {} bytes at {} that it must have",
                          offset + done, size, offset));
    }
    done += static_cast<uint64_t>(got);
  }
  bytes = std::move(read);
}

void RecordFile::ReadHeader() {
  uint64_t length = 0;
  if (size_ < sizeof(length)) Damaged(fmt::format("it has {} bytes and no head", size_));
  std::string head = ReadAt(0, sizeof(length));
  std::memcpy(&length, head.data(), sizeof(length));
  if (length > size_ - sizeof(length) || length > RecordHeader::kMaxHeader - sizeof(length))
    Damaged(fmt::format("its head would have {} bytes of the file's {}", length, size_));
  head += ReadAt(sizeof(length), length);
  head_sum_ = Sum(head);
  header_ = ParseRecordHeader(std::string_view(head).substr(sizeof(length)), path_);
  if (header_.packed) Zstd::Get();  // what is missing is said at once
  if (head.size() > header_.header_size) Damaged("its head is longer than its header_size");
  if (!header_.pages.empty() && header_.End() > size_) {
    Damaged(fmt::format("it has {} bytes, but its pages end at {}: it was cut short", size_,
                        header_.End()));
  }
}

void RecordFile::ReadTable() {
  auto [offset, length] = *header_.table;
  if (offset > size_ || length > size_ - offset)
    Damaged(fmt::format("it has {} bytes, but its row table ends at {}: it was cut short", size_,
                        offset + length));
  table_ = ParseRowTable(ReadAt(offset, length), path_);
  if (table_.head_sum != head_sum_) Damaged("its head has another checksum");
}

// A file of others, which has no table: its index says where the rows are.
void RecordFile::ReadIndex() {
  if (access(index_path_.c_str(), R_OK) != 0)
    throw OsError(errno,
                  fmt::format("Cannot open '{}', the index of a MindRecord file", index_path_));
  uint64_t most = size_ / (2 * kRowSizeBytes) + 1;
  table_.places = RecordIndex(index_path_, header_).Places(most);
  uint64_t rows = 0;
  for (const RecordPage& page : header_.pages)
    if (page.blob) rows = std::max(rows, page.end_row);
  if (rows != this->rows())
    Damaged(fmt::format("its head tells of {} rows, its index of {}", rows, this->rows()));
}

void RecordFile::ChooseKept() {
  uint64_t sizes[] = {0, 0};
  for (const RecordPage& page : header_.pages) sizes[page.blob ? 1 : 0] += page.size;
  bool keeps[] = {sizes[0] <= kMostKept, sizes[0] + sizes[1] <= kMostKept};
  for (size_t i = 0; i < header_.pages.size(); ++i) {
    const RecordPage& page = header_.pages[i];
    if (keeps[page.blob ? 1 : 0])
      kept_.Keep(header_.PageOffset(i), page.size);
    else
      kept_.LeaveOut();
  }
}

void RecordFile::Cursor::Leave() {
  for (Window* window : {&raw, &blob}) {
    window->offset = 0;
    window->bytes.clear();
  }
}

std::string_view RecordFile::Half(uint64_t row, bool blob, Cursor& cursor) const {
  const RecordPlace& place = table_.places[row];
  const RecordPiece& piece = blob ? place.blob : place.raw;
  Window& window = blob ? cursor.blob : cursor.raw;
  uint64_t offset = header_.PageOffset(piece.page) + piece.start;
  uint64_t end = window.offset + window.bytes.size();
  std::string_view bytes;
  if (offset < window.offset || offset > end) {
    auto read = [this](uint64_t from, uint64_t size) { return ReadAt(from, size); };
    bytes = kept_.Get(piece.page, piece.start, piece.size, read);
    window.offset = offset + piece.size;
    if (bytes.empty()) {
      ReadInto(window.bytes, offset, piece.size);
      window.offset = offset;
    } else {
      window.bytes.clear();
    }
  } else if (offset + piece.size > end) {
    // Only who reads on where the window ended has a use for what follows.
    uint64_t rest = header_.pages[piece.page].size - piece.start;
    ReadInto(window.bytes, offset, std::min(rest, std::max<uint64_t>(piece.size, kWindowBytes)));
    window.offset = offset;
  }
  if (bytes.empty())
    bytes = std::string_view(window.bytes).substr(offset - window.offset, piece.size);
  if (summed() && Sum(bytes) != piece.sum)
    Damaged(fmt::format("the {} half of row {} has another checksum", blob ? "blob" : "raw", row));
  return bytes;
}

void RecordFile::Read(uint64_t row, const std::vector<bool>& wanted, Cursor& cursor,
                      RecordRow& values) const {
  if (row >= rows())
    Throw(ErrorKind::kIndex, "The MindRecord file '{}' has {} rows, but got {}.", path_, rows(),
          row);
  bool raw = false;
  bool blob = false;
  const RecordSchema& schema = header_.schema;
  for (size_t i = 0; i < wanted.size(); ++i) (schema.fields[i].blob() ? blob : raw) |= wanted[i];
  values.resize(schema.fields.size());
  std::string wrong;
  if (raw) wrong = DecodeRaw(schema, Half(row, false, cursor), wanted, values);
  if (blob && wrong.empty()) {
    std::string_view half = Half(row, true, cursor);
    if (header_.packed) half = cursor.unpacked = UnpackBlob(half, header_.page_size);
    wrong = half.empty() ? "its blobs are no frame of Zstandard"
                         : DecodeBlob(schema, half, wanted, values);
  }
  if (!wrong.empty()) Damaged(fmt::format("row {}: {}", row, wrong));
}

RecordPlace RecordFile::SummedPlace(uint64_t row, Cursor& cursor) const {
  RecordPlace place = table_.places[row];
  if (summed()) return place;
  place.raw.sum = Sum(Half(row, false, cursor));
  place.blob.sum = Sum(Half(row, true, cursor));
  return place;
}

void RecordFile::CopyPage(size_t page,
                          const std::function<void(uint64_t, std::string_view)>& put) const {
  constexpr uint64_t kBlock = 1 << 20;
  uint64_t offset = header_.PageOffset(page);
  for (uint64_t left = header_.pages[page].size; left > 0;) {
    uint64_t size = std::min(left, kBlock);
    put(offset, ReadAt(offset, size));
    offset += size;
    left -= size;
  }
}

bool RecordFile::IndexFits() const {
  uint64_t size = 0;
  uint32_t sum = 0;
  return SumFile(index_path_, &size, &sum) && size == table_.index_size && sum == table_.index_sum;
}

RecordIndex RecordFile::MakeIndex(const std::function<void()>& poll) const {
  IndexWriter writer("", header_, path_);
  std::vector<bool> wanted(header_.schema.fields.size(), false);
  for (const std::string& name : header_.index_fields) wanted[header_.schema.Find(name)] = true;
  Cursor cursor;
  RecordRow values;
  for (uint64_t row = 0; row < rows(); ++row) {
    if (poll && row % kPollRows == 0) poll();
    Read(row, wanted, cursor, values);
    writer.Add(row, 0, table_.places[row], values);
  }
  writer.Finish();
  return RecordIndex(std::move(writer).Release(), path_, header_);
}

std::vector<uint64_t> RecordFile::Select(const std::string& where,
                                         const std::function<void()>& poll, bool* rebuilt) const {
  *rebuilt = summed() && !IndexFits();
  std::vector<uint64_t> selected = *rebuilt ? MakeIndex(poll).Select(where, poll)
                                            : RecordIndex(index_path_, header_).Select(where, poll);
  for (uint64_t row : selected) {
    if (row >= rows())
      Throw(ErrorKind::kValue, "The MindRecord index '{}' is damaged: it has a row {}.",
            index_path_, row);
  }
  return selected;
}

}  // namespace ms
