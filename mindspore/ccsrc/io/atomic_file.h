// The one way this code base writes a file. The bytes go to a temporary file in the same directory,
// which is synced and renamed over the target: whatever happens (a kill, a full disk), the old or
// the new file is there. A file that is replaced keeps its mode, group and owner as far as we may
// set them.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ms {

class AtomicFile {
 public:
  // Creates the temporary file and removes those that dead writers left in the directory.
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();  // Without Commit the temporary file is removed and the target stays as it was.
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // Called between blocks of a long write; may throw (the user pressed Ctrl-C).
  void set_poll(std::function<void()> poll) { poll_ = std::move(poll); }

  void Write(std::span<const std::byte> bytes);
  // Writes and returns Crc32c(crc, bytes), each block summed while it is in the processor's cache.
  uint32_t WriteSummed(std::span<const std::byte> bytes, uint32_t crc);
  // Replaces bytes that were written before.
  void Patch(uint64_t offset, std::span<const std::byte> bytes);
  // Writes at any place. Behind the end it leaves a hole, which reads as zeros.
  void WriteAt(uint64_t offset, std::span<const std::byte> bytes);
  // All that was written is on the disk: what is left of Commit takes no time and no room.
  void Sync();
  void Commit();
  uint64_t size() const { return size_; }
  // For a library that writes by itself; it must have closed the file before Commit.
  const std::string& temporary_path() const { return temporary_; }

 private:
  void OpenTemporary(unsigned mode);
  void KeepAccess();
  void Flush();
  void WriteThrough(std::span<const std::byte> bytes);
  [[noreturn]] void Fail(const char* action, int error) const;

  std::string path_;  // where the user wanted it, symbolic links resolved
  std::string directory_;
  std::string temporary_;
  std::optional<struct stat> target_;  // the file that is replaced
  int fd_ = -1;
  uint64_t size_ = 0;      // of what was handed to Write
  uint64_t position_ = 0;  // of the next byte that goes to the file
  std::vector<std::byte> buffer_;
  std::function<void()> poll_;
};

}  // namespace ms
