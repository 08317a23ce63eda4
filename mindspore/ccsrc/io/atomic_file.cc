#include "io/atomic_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <random>

#include "base/error.h"
#include "io/crc32c.h"
#include "io/fault.h"
#include "io/os_error.h"

namespace ms {
namespace {

constexpr char kPrefix[] =
    ".mstmp-";  // independent of the target's name, which may be as long as a name can be
constexpr size_t kBufferBytes = 256 * 1024;
constexpr size_t kBlockBytes = 8 * 1024 * 1024;  // between two polls
constexpr size_t kSumBytes = 1024 * 1024;        // stays in the cache between sum and write
constexpr int kMaxLinks = 40;                    // as Linux has it
constexpr char kAccessList[] = "system.posix_acl_access";

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

std::string FolderOf(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

// Follows symbolic links, so that a link stays a link and the file it names is replaced, or made
// where the link dangles.
std::string Resolve(std::string path) {
  for (int links = 0; links < kMaxLinks; ++links) {
    if (char* real = realpath(path.c_str(), nullptr)) {
      std::string result(real);
      std::free(real);
      return result;
    }
    char target[PATH_MAX];
    ssize_t length = readlink(path.c_str(), target, sizeof(target));
    if (length < 0) return path;
    std::string name(target, static_cast<size_t>(length));
    path = name.starts_with('/') ? name : FolderOf(path) + "/" + name;
  }
  throw OsError(ELOOP, fmt::format("Cannot write '{}'", path));
}

// Gives the new file the access list of the old one, if that has one; false where it cannot.
bool KeepAccessList(const std::string& old_path, int fd) {
  char list[4096];
  ssize_t size = getxattr(old_path.c_str(), kAccessList, list, sizeof(list));
  if (size >= 0) return fsetxattr(fd, kAccessList, list, static_cast<size_t>(size), 0) == 0;
  if (errno == ERANGE) return false;
  fremovexattr(fd, kAccessList);  // which it may have inherited from its folder
  return true;
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(Resolve(path)) {
  directory_ = FolderOf(path_);
  if (path_.size() - (path_.rfind('/') + 1) > NAME_MAX) Fail("name", ENAMETOOLONG);
  struct stat target{};
  if (stat(path_.c_str(), &target) == 0) target_ = target;
  if (target_ && S_ISDIR(target.st_mode)) Fail("write", EISDIR);
  if (target_ && !S_ISREG(target.st_mode)) {
    Throw(ErrorKind::kOs, "Cannot write '{}': it exists and is not a regular file.", path_);
  }
  SweepOrphans(directory_);
  // What replaces a file that others may not read is never theirs to read, not for a moment.
  OpenTemporary(target_ ? 0600 : 0666);
  buffer_.reserve(kBufferBytes);
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void AtomicFile::OpenTemporary(unsigned mode) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    temporary_ = directory_ + "/" + RandomName();
    fd_ = NextFault() == Fault::kError
              ? -1
              : open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
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

uint32_t AtomicFile::WriteSummed(std::span<const std::byte> bytes, uint32_t crc) {
  while (!bytes.empty()) {
    auto block = bytes.first(std::min(bytes.size(), kSumBytes));
    crc = Crc32c(crc, block);
    Write(block);
    bytes = bytes.subspan(block.size());
  }
  return crc;
}

void AtomicFile::Patch(uint64_t offset, std::span<const std::byte> bytes) {
  MS_ASSERT(offset + bytes.size() <= size_);
  WriteAt(offset, bytes);
}

void AtomicFile::WriteAt(uint64_t offset, std::span<const std::byte> bytes) {
  Flush();
  position_ = offset;
  WriteThrough(bytes);
  position_ = size_ = std::max(size_, offset + bytes.size());
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
    ssize_t wrote = fault == Fault::kError
                        ? -1
                        : pwrite(fd_, bytes.data(), want, static_cast<off_t>(position_));
    if (wrote < 0) {
      if (errno == EINTR) continue;
      Fail("write", errno);
    }
    position_ += static_cast<uint64_t>(wrote);
    bytes = bytes.subspan(static_cast<size_t>(wrote));
  }
}

// Best effort, as a file system may know neither owners nor modes; but where group or access list
// are lost, the new file must not be open to more people than the old one.
void AtomicFile::KeepAccess() {
  bool same = fchown(fd_, target_->st_uid, target_->st_gid) == 0 ||
              fchown(fd_, static_cast<uid_t>(-1), target_->st_gid) == 0;
  if (!KeepAccessList(path_, fd_)) same = false;
  mode_t mode = target_->st_mode & 0777;
  if (!same) mode &= 0707 | (mode & 0007) << 3;  // the group gets what everybody has
  fchmod(fd_, mode);
}

void AtomicFile::Sync() {
  Flush();
  if (NextFault() == Fault::kError || fsync(fd_) != 0) Fail("sync", errno);
}

void AtomicFile::Commit() {
  Flush();
  if (target_) KeepAccess();
  Sync();
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
  throw OsError(error, fmt::format("Cannot {} '{}'", action, path_));
}

}  // namespace ms
