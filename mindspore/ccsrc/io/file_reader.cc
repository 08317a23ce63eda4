#include "io/file_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <string_view>

#include "io/crc32c.h"
#include "io/os_error.h"

namespace ms {
namespace {

constexpr size_t kWindowBytes = 64 * 1024;
constexpr size_t kBlockBytes = 1024 * 1024;  // stays in the cache between read and sum

// Whether the text is UTF-8: no stray or missing continuation bytes, no overlong forms, no
// surrogates.
bool IsUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    auto lead = static_cast<uint8_t>(text[i++]);
    int more = lead < 0x80 ? 0 : lead >= 0xC2 && lead < 0xE0 ? 1 : lead >> 4 == 0xE ? 2 : 3;
    if (more == 3 && (lead < 0xF0 || lead > 0xF4)) return false;
    uint32_t code = more == 0 ? lead : lead & (0x3F >> more);
    for (int k = 0; k < more; ++k, ++i) {
      if (i == text.size() || (static_cast<uint8_t>(text[i]) & 0xC0) != 0x80) return false;
      code = (code << 6) | (static_cast<uint8_t>(text[i]) & 0x3F);
    }
    constexpr uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
    if (code < kLeast[more] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return false;
  }
  return true;
}

}  // namespace

FileReader::FileReader(const std::string& path, const char* what) : path_(path), what_(what) {
  // Non-blocking: opening a pipe that nobody writes must not hang before it is refused below.
  fd_ = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd_ < 0) {
    int error = errno;
    throw OsError(error, fmt::format("Cannot open the {} '{}'", what, path));
  }
  struct stat state{};
  if (fstat(fd_, &state) != 0 || !S_ISREG(state.st_mode)) {
    close(fd_);
    Throw(ErrorKind::kValue, "The {} '{}' is {}, not a regular file.", what, path,
          S_ISDIR(state.st_mode) ? "a folder" : "a device or a pipe");
  }
  size_ = static_cast<uint64_t>(state.st_size);
}

FileReader::~FileReader() { close(fd_); }

void FileReader::FailText(const std::string& text) const {
  throw Error(ErrorKind::kValue,
              fmt::format("The {} '{}' is damaged at byte {}: {}", what_, path_, offset_, text));
}

void FileReader::Need(uint64_t bytes, const char* what) {
  if (bytes > remaining()) {
    Fail("{} needs {} bytes, but {} are left; the file may be cut short.", what, bytes,
         remaining());
  }
}

void FileReader::ReadFile(std::span<std::byte> out) {
  while (!out.empty()) {
    if (poll_) poll_();
    ssize_t got = pread(fd_, out.data(), std::min(out.size(), kBlockBytes),
                        static_cast<off_t>(file_position_));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      int error = errno;
      throw OsError(
          error, fmt::format("Cannot read the {} '{}' at byte {}", what_, path_, file_position_));
    }
    if (got == 0) Fail("the file became shorter while it was read.");
    file_position_ += static_cast<uint64_t>(got);
    out = out.subspan(static_cast<size_t>(got));
  }
}

void FileReader::Fill() {
  crc();  // sums what the window still owes
  window_.resize(std::min<uint64_t>(kWindowBytes, size_ - file_position_));
  position_ = summed_ = 0;
  ReadFile(window_);
}

std::byte FileReader::Next() {
  if (position_ == window_.size()) {
    Need(1, "the next field");
    Fill();
  }
  ++offset_;
  return window_[position_++];
}

void FileReader::Copy(std::span<std::byte> out) {
  while (!out.empty()) {
    if (position_ == window_.size()) Fill();
    size_t n = std::min(out.size(), window_.size() - position_);
    std::memcpy(out.data(), window_.data() + position_, n);
    position_ += n;
    offset_ += n;
    out = out.subspan(n);
  }
}

uint64_t FileReader::Varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    auto byte = static_cast<uint64_t>(Next());
    if (shift == 63 && byte > 1) break;
    value |= (byte & 0x7F) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  Fail("a number is longer than 64 bits.");
}

uint32_t FileReader::Fixed32() {
  uint32_t value;
  Need(sizeof(value), "a checksum");
  Copy(std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

uint64_t FileReader::Fixed64() {
  uint64_t value;
  Need(sizeof(value), "a size");
  Copy(std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

std::string FileReader::Bytes(uint64_t length) {
  Need(length, "a text");
  std::string text(length, '\0');
  Copy(std::as_writable_bytes(std::span(text)));
  return text;
}

std::string FileReader::String(uint64_t length, uint64_t limit) {
  Need(length, "a name");
  if (length > limit) Fail("a name has {} bytes; at most {} are allowed.", length, limit);
  std::string text = Bytes(length);
  if (!IsUtf8(text)) Fail("a name is not valid UTF-8.");
  return text;
}

uint32_t FileReader::ReadContent(std::span<std::byte> out, uint32_t sum) {
  Need(out.size(), "the content");
  crc();
  while (!out.empty()) {
    auto block = out.first(std::min(out.size(), kBlockBytes));
    ReadBlock(block);
    sum = Crc32c(sum, block);
    if (sum_zlib_) zlib_crc_ = Crc32Zlib(zlib_crc_, block);
    out = out.subspan(block.size());
  }
  return sum;
}

// What is left of the window comes first.
void FileReader::ReadBlock(std::span<std::byte> out) {
  size_t n = std::min(out.size(), window_.size() - position_);
  std::memcpy(out.data(), window_.data() + position_, n);
  position_ += n;
  summed_ = position_;
  if (n < out.size()) ReadFile(out.subspan(n));
  offset_ += out.size();
}

uint32_t FileReader::ReadElements(DType dtype, std::byte* out, uint64_t bytes, uint32_t sum,
                                  const std::string& name) {
  Need(bytes, "the content");
  if (out == nullptr) scratch_.resize(std::min(bytes, kBlockBytes));
  while (bytes > 0) {
    auto block = std::span(out == nullptr ? scratch_.data() : out, std::min(bytes, kBlockBytes));
    sum = ReadContent(block, sum);
    auto beyond_a_bit = [](std::byte seen, std::byte b) { return seen | (b & ~std::byte{1}); };
    if (IsBool(dtype) &&
        std::accumulate(block.begin(), block.end(), std::byte{}, beyond_a_bit) != std::byte{}) {
      Fail("'{:.200}' of type Bool has an element that is neither 0 nor 1.", name);
    }
    bytes -= block.size();
    if (out != nullptr) out += block.size();
  }
  return sum;
}

uint32_t FileReader::crc() {
  auto fresh = std::span(window_).subspan(summed_, position_ - summed_);
  crc_ = Crc32c(crc_, fresh);
  if (sum_zlib_) zlib_crc_ = Crc32Zlib(zlib_crc_, fresh);
  summed_ = position_;
  return crc_;
}

uint32_t FileReader::zlib_crc() {
  crc();
  return zlib_crc_;
}

std::string FileReader::Tail(uint64_t bytes) const {
  std::string text(std::min(bytes, size_), '\0');
  ssize_t got = pread(fd_, text.data(), text.size(), static_cast<off_t>(size_ - text.size()));
  text.resize(got < 0 ? 0 : static_cast<size_t>(got));
  return text;
}

}  // namespace ms
