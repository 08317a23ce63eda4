// See zstd.h. The functions are those that the library keeps stable.
#include "dataset/mindrecord/zstd.h"

#include <dlfcn.h>

#include <memory>

#include "base/error.h"

namespace ms {
namespace {

constexpr int kLevel = 3;  // the library's own choice
constexpr char kLibrary[] = "libzstd.so.1";

template <class F>
void Find(void* library, const char* name, F** function) {
  *function = reinterpret_cast<F*>(dlsym(library, name));
  if (*function == nullptr)
    Throw(ErrorKind::kRuntime, "The library of Zstandard must have '{}', but has not.", name);
}

// What a thread compresses with, which is costly to make.
using Kept = std::unique_ptr<void, size_t (*)(void*)>;

}  // namespace

Zstd::Zstd(const char* library) {
  void* opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) {
    Throw(ErrorKind::kRuntime,
          "MindRecord files whose blobs are compressed need the library of Zstandard, '{}' (as in "
          "Debian's package libzstd1), but it cannot be opened.",
          library);
  }
  Find(opened, "ZSTD_createCCtx", &make_packer_);
  Find(opened, "ZSTD_freeCCtx", &drop_packer_);
  Find(opened, "ZSTD_compressCCtx", &pack_);
  Find(opened, "ZSTD_compressBound", &bound_);
  Find(opened, "ZSTD_createDCtx", &make_unpacker_);
  Find(opened, "ZSTD_freeDCtx", &drop_unpacker_);
  Find(opened, "ZSTD_decompressDCtx", &unpack_);
  Find(opened, "ZSTD_getFrameContentSize", &size_of_);
  Find(opened, "ZSTD_isError", &is_error_);
}

const Zstd& Zstd::Get() {
  static const Zstd system(kLibrary);
  return system;
}

std::string Zstd::Pack(std::string_view content) const {
  thread_local Kept packer(make_packer_(), drop_packer_);
  std::string frame(bound_(content.size()), '\0');
  if (packer != nullptr) {
    size_t size =
        pack_(packer.get(), frame.data(), frame.size(), content.data(), content.size(), kLevel);
    if (is_error_(size) == 0) {
      frame.resize(size);
      return frame;
    }
  }
  Throw(ErrorKind::kRuntime, "{} bytes cannot be compressed.", content.size());
}

bool Zstd::Unpack(std::string_view frame, size_t most, std::string* content) const {
  thread_local Kept unpacker(make_unpacker_(), drop_unpacker_);
  // What is unknown, or wrong, are the two largest numbers.
  unsigned long long size = size_of_(frame.data(), frame.size());
  if (unpacker == nullptr || size > most) return false;
  size_t before = content->size();
  content->resize(before + size);
  size_t got = unpack_(unpacker.get(), content->data() + before, size, frame.data(), frame.size());
  return is_error_(got) == 0 && got == size;
}

}  // namespace ms
