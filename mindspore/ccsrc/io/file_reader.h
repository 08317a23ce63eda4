// Bounded reading of a regular file. Every take is checked against the bytes that are left before
// memory is taken or read, and every failure names the file and the offset: damaged input ends in a
// ValueError.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/error.h"

namespace ms {

class FileReader {
 public:
  // `what` names the kind of file in messages, e.g. "checkpoint".
  FileReader(const std::string& path, const char* what);
  ~FileReader();
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  void set_poll(std::function<void()> poll) { poll_ = std::move(poll); }

  // Makes the last `bytes` of the file (its end mark) invisible; SumZlib also keeps zlib's CRC of
  // what is read.
  void HideTail(uint64_t bytes) { size_ -= bytes; }
  void SumZlib() { sum_zlib_ = true; }
  // Bytes at the end of the file, without moving; fewer than asked in a shorter file.
  std::string Tail(uint64_t bytes) const;

  uint64_t size() const { return size_; }
  uint64_t offset() const { return offset_; }
  uint64_t remaining() const { return size_ - offset_; }

  uint64_t Varint();  // at most 10 bytes, as protobuf has it
  uint32_t Fixed32();
  uint64_t Fixed64();
  std::string Bytes(uint64_t length);
  std::string String(uint64_t length, uint64_t limit);  // text in UTF-8
  // Reads into memory of the caller and returns Crc32c(sum, out), each block summed while it is in
  // the processor's cache. These bytes stay outside crc().
  uint32_t ReadContent(std::span<std::byte> out, uint32_t sum);
  // The elements of a tensor, read in the same way; where `out` is null they are only summed. Fails
  // for a Bool that is neither 0 nor 1.
  uint32_t ReadElements(DType dtype, std::byte* out, uint64_t bytes, uint32_t sum,
                        const std::string& name);

  uint32_t crc();       // CRC-32C of all that was read so far, contents excepted
  uint32_t zlib_crc();  // zlib's CRC of all that was read so far

  template <class... Args>
  [[noreturn]] void Fail(fmt::format_string<Args...> format, Args&&... args) const {
    FailText(fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  [[noreturn]] void FailText(const std::string& text) const;
  void Need(uint64_t bytes, const char* what);  // at least `bytes` are left in the file
  void Fill();                                  // the next window, when the current one is used up
  std::byte Next();
  void Copy(std::span<std::byte> out);
  void ReadBlock(std::span<std::byte> out);
  void ReadFile(std::span<std::byte> out);  // at the file position, past the window

  std::string path_;
  const char* what_;
  int fd_ = -1;
  uint64_t size_ = 0;
  uint64_t offset_ = 0;         // of the next byte to hand out
  uint64_t file_position_ = 0;  // of the next byte to read from the file
  std::vector<std::byte> window_;
  std::vector<std::byte> scratch_;  // elements that nobody wants
  size_t position_ = 0;
  size_t summed_ = 0;  // window bytes already in crc_
  uint32_t crc_ = 0;
  uint32_t zlib_crc_ = 0;
  bool sum_zlib_ = false;
  std::function<void()> poll_;
};

}  // namespace ms
