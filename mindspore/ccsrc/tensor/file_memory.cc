// What does not fit into the host's memory, in a file without a name. Its "addresses" are places in
// the file, high above all that a process maps.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>

#include "base/error.h"
#include "base/mutex.h"
#include "tensor/memory.h"

namespace ms {
namespace {

constexpr uintptr_t kBase = uintptr_t{1} << 62;
constexpr size_t kBlock = 4096;
constexpr char kAnotherFolder[] = ". MS_SPILL_PATH names another folder";

off_t PlaceOf(const void* address) {
  return static_cast<off_t>(reinterpret_cast<uintptr_t>(address) - kBase);
}

size_t WholeBlocks(size_t bytes) { return (bytes + kBlock - 1) / kBlock * kBlock; }

std::string Folder() {
  for (const char* name : {"MS_SPILL_PATH", "TMPDIR"}) {
    if (const char* value = std::getenv(name); value && *value) return value;
  }
  return "/tmp";
}

class FileMemory : public Memory {
 public:
  std::string_view device() const override { return "a file"; }

  void* Allocate(size_t bytes) override {
    size_t whole = WholeBlocks(std::max<size_t>(bytes, 1));
    std::lock_guard lock(mutex_);
    auto it = pieces_.begin();
    while (it != pieces_.end() && (!it->second.free || it->second.bytes < whole)) ++it;
    size_t place = it == pieces_.end() ? end_ : it->first;
    Reserve(place, whole);
    if (it == pieces_.end()) {
      pieces_[place] = {whole, false};
      end_ += whole;
    } else {
      if (size_t rest = it->second.bytes - whole) pieces_[place + whole] = {rest, true};
      it->second = {whole, false};
    }
    return reinterpret_cast<void*>(kBase + place);
  }

  void Free(void* data, size_t) noexcept override {
    std::lock_guard lock(mutex_);
    auto it = pieces_.find(static_cast<size_t>(PlaceOf(data)));
    it->second.free = true;
    if (owner_ == getpid()) {
      fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, PlaceOf(data),
                static_cast<off_t>(it->second.bytes));
    }
    if (auto next = std::next(it); next != pieces_.end()) JoinFree(it, next);
    if (it != pieces_.begin()) JoinFree(std::prev(it), it);
  }

  void Store(void* to, const void* host, size_t bytes) override {
    int file = File();
    const char* from = static_cast<const char*>(host);
    for (off_t at = PlaceOf(to); bytes > 0;) {
      ssize_t done = pwrite(file, from, bytes, at);
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) Fail("written", done < 0 ? errno : 0);
      Advance(done, &at, &from, &bytes);
    }
  }

  void Copy(void* to, const void* from, size_t bytes) override {
    std::string through(bytes, '\0');
    Fetch(through.data(), from, bytes);
    Store(to, through.data(), bytes);
  }
  void Zero(void* to, size_t bytes) override { Store(to, std::string(bytes, '\0').data(), bytes); }

 private:
  void FetchNow(void* host, const void* from, size_t bytes) override {
    int file = File();
    char* to = static_cast<char*>(host);
    for (off_t at = PlaceOf(from); bytes > 0;) {
      ssize_t done = pread(file, to, bytes, at);
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) Fail("read", done < 0 ? errno : 0);
      Advance(done, &at, &to, &bytes);
    }
  }

  struct Piece {
    size_t bytes;
    bool free;
  };
  using Pieces = std::map<size_t, Piece>;  // by place

  void JoinFree(Pieces::iterator first, Pieces::iterator second) noexcept {
    if (!first->second.free || !second->second.free) return;
    first->second.bytes += second->second.bytes;
    pieces_.erase(second);
  }

  template <class T>
  static void Advance(ssize_t done, off_t* at, T* data, size_t* left) {
    *at += done;
    *data += done;
    *left -= static_cast<size_t>(done);
  }

  // `error`: an errno; 0: the system did nothing and named no error.
  [[noreturn]] static void Fail(const char* what, int error) {
    Throw(ErrorKind::kOs, "values that do not fit into memory must be {} in '{}', but: {}{}", what,
          Folder(), error ? std::strerror(error) : "the file is too short", kAnotherFolder);
  }

  int File() {
    std::lock_guard lock(mutex_);
    return OpenFile();
  }

  // A forked child needs a file of its own: nothing that lies in it outlasts a run.
  int OpenFile() {
    if (owner_ == getpid()) return file_;
    std::string name = Folder() + "/mindspore-spill-XXXXXX";
    int file = mkstemp(name.data());
    if (file < 0) Fail("kept", errno);
    unlink(name.c_str());
    fcntl(file, F_SETFD, FD_CLOEXEC);
    file_ = file;
    owner_ = getpid();
    return file_;
  }

  // So that a full disk is found before a run depends on the file.
  void Reserve(size_t place, size_t bytes) {
    int error = EINTR;
    while (error == EINTR)
      error = posix_fallocate(OpenFile(), static_cast<off_t>(place), static_cast<off_t>(bytes));
    if (error == 0) return;
    Throw(ErrorKind::kMemory,
          "{} bytes of values that do not fit into memory must fit into a file in '{}', but: {}{}",
          bytes, Folder(), std::strerror(error), kAnotherFolder);
  }

  Mutex mutex_;
  int file_ = -1;
  pid_t owner_ = -1;
  size_t end_ = 0;
  Pieces pieces_;  // all of the file; freeing makes none, for it must not fail
};

}  // namespace

Memory& SpillFile() {
  static auto* file = new FileMemory;  // buffers may outlive static objects
  return *file;
}

}  // namespace ms
