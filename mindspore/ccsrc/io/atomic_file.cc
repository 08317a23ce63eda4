#include "io/atomic_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <random>

#include "base/error.h"
#include "io/fault.h"

namespace ms {
namespace {

constexpr char kPrefix[] =
    ".mstmp-";  // independent of the target's name, which may be as long as a name can be
constexpr size_t kBufferBytes = 256 * 1024;
constexpr size_t kBlockBytes = 8 * 1024 * 1024;  // between two polls

std::string RandomName() {
  std::random_device source;
  return fmt::format("{}{:08x}{:08x}", kPrefix, source(), source());
}

// A temporary file is locked while its writer lives, so an unlocked one is an orphan. Best effort:
// a directory that cannot be read, or a file system without locks, only keeps its orphans.
void SweepOrphans(const std::string& directory) {
  DIR* dir = opendir(directory.c_str());
  if (dir == nullptr) return;
  while (const dirent* entry = readdir(dir)) {
    if (std::strncmp(entry->d_name, kPrefix, sizeof(kPrefix) - 1) != 0) continue;
    int fd = openat(dirfd(dir), entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) continue;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) unlinkat(dirfd(dir), entry->d_name, 0);
    close(fd);
  }
  closedir(dir);
}

// Follows symbolic links, so that a link stays a link and the file it names is replaced.
std::string Resolve(const std::string& path) {
  char* real = realpath(path.c_str(), nullptr);
  if (real == nullptr) return path;
  std::string result(real);
  std::free(real);
  return result;
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(Resolve(path)) {
  size_t slash = path_.rfind('/');
  directory_ = slash == std::string::npos ? "." : (slash == 0 ? "/" : path_.substr(0, slash));
  if (path_.size() - (slash == std::string::npos ? 0 : slash + 1) > NAME_MAX)
    Fail("name", ENAMETOOLONG);
  struct stat target{};
  bool exists = stat(path_.c_str(), &target) == 0;
  if (exists && S_ISDIR(target.st_mode)) Fail("write", EISDIR);
  if (exists && !S_ISREG(target.st_mode)) {
    Throw(ErrorKind::kOs, "Cannot write '{}': it exists and is not a regular file.", path_);
  }
  SweepOrphans(directory_);
  OpenTemporary();
  if (exists) fchmod(fd_, target.st_mode & 0777);
  buffer_.reserve(kBufferBytes);
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void AtomicFile::OpenTemporary() {
  for (int attempt = 0; attempt < 100; ++attempt) {
    temporary_ = directory_ + "/" + RandomName();
    fd_ = NextFault() == Fault::kError
              ? -1
              : open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0) {
      int error = errno;
      temporary_.clear();
      if (error == EEXIST || error == EINTR) continue;
      Fail("create a temporary file beside", error);
    }
    // A sweeper may have taken the new file for an orphan: this waits until it has removed it.
    while (flock(fd_, LOCK_EX) != 0 && errno == EINTR) {
    }
    struct stat state{};
    if (fstat(fd_, &state) == 0 && state.st_nlink > 0) return;
    close(fd_);
    fd_ = -1;
  }
  Fail("create a temporary file beside", EEXIST);
}

void AtomicFile::Write(std::span<const std::byte> bytes) {
  size_ += bytes.size();
  if (buffer_.size() + bytes.size() <= kBufferBytes) {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    return;
  }
  Flush();
  if (bytes.size() <= kBufferBytes) {
    buffer_.assign(bytes.begin(), bytes.end());
  } else {
    WriteThrough(bytes);
  }
}

void AtomicFile::Flush() {
  WriteThrough(buffer_);
  buffer_.clear();
}

void AtomicFile::WriteThrough(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (poll_) poll_();
    size_t want = std::min(bytes.size(), kBlockBytes);
    Fault fault = NextFault();
    if (fault == Fault::kShort) want = (want + 1) / 2;
    ssize_t wrote = fault == Fault::kError ? -1 : write(fd_, bytes.data(), want);
    if (wrote < 0) {
      if (errno == EINTR) continue;
      Fail("write", errno);
    }
    bytes = bytes.subspan(static_cast<size_t>(wrote));
  }
}

void AtomicFile::Commit() {
  Flush();
  if (NextFault() == Fault::kError || fsync(fd_) != 0) Fail("sync", errno);
  // The rename comes before the close: the lock must hold until the temporary name is gone.
  if (NextFault() == Fault::kError || rename(temporary_.c_str(), path_.c_str()) != 0) {
    Fail("replace", errno);
  }
  temporary_.clear();
  int fd = std::exchange(fd_, -1);
  bool close_fault = NextFault() == Fault::kError;
  int close_error = errno;
  if (close(fd) != 0 && !close_fault) {
    close_fault = errno != EINTR;
    close_error = errno;
  }
  if (close_fault) Fail("close", close_error);
  int dir = open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (dir < 0)
    return;  // a directory we may write but not read: the rename stands, its sync is the system's
  int failed = NextFault() == Fault::kError || fsync(dir) != 0 ? errno : 0;
  close(dir);
  if (failed != 0 && failed != EINVAL) Fail("sync the directory of", failed);
}

void AtomicFile::Fail(const char* action, int error) const {
  Throw(ErrorKind::kOs, "Cannot {} '{}': {} (errno {}).", action, path_, std::strerror(error),
        error);
}

}  // namespace ms
