// See files.h.
#include "dataset/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace ms::dataset {
namespace {

[[noreturn]] void FailRead(const std::string& path) {
  Throw(ErrorKind::kRuntime, "The file '{}' cannot be read: {}.", path, std::strerror(errno));
}

}  // namespace

SourceFile::SourceFile(const std::string& path)
    : path_(path), file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (file_ < 0) FailRead(path);
  struct stat info;
  if (fstat(file_, &info) != 0) {
    close(file_);
    FailRead(path);
  }
  size_ = static_cast<uint64_t>(info.st_size);
}

SourceFile::~SourceFile() { close(file_); }

void SourceFile::Read(uint64_t offset, uint64_t count, void* out) const {
  auto* bytes = static_cast<char*>(out);
  for (uint64_t done = 0; done < count;) {
    ssize_t got = pread(file_, bytes + done, count - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) FailRead(path_);
    if (got == 0) {
      Throw(ErrorKind::kRuntime, "The file '{}' became shorter while it was read.", path_);
    }
    done += static_cast<uint64_t>(got);
  }
}

Value ReadWhole(const std::string& path) {
  SourceFile file(path);
  auto size = static_cast<int64_t>(file.size());
  Value value = Value::Make(Element::Of(DType::kUInt8), MakeDims({size}));
  file.Read(0, file.size(), value.memory());
  return value;
}

}  // namespace ms::dataset
