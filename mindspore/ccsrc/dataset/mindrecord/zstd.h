// Zstandard by the system's library, which is opened when a file asks for it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ms {

class Zstd {
 public:
  // Throws RuntimeError where there is no such library.
  explicit Zstd(const char* library);
  // The one of the system.
  static const Zstd& Get();

  // One frame, which tells how much is in it.
  std::string Pack(std::string_view content) const;
  // Appends the content of a frame; false where it is damaged, or holds more than `most` bytes.
  bool Unpack(std::string_view frame, size_t most, std::string* content) const;

 private:
  using Context = void;
  Context* (*make_packer_)();
  size_t (*drop_packer_)(Context*);
  size_t (*pack_)(Context*, void*, size_t, const void*, size_t, int);
  size_t (*bound_)(size_t);
  Context* (*make_unpacker_)();
  size_t (*drop_unpacker_)(Context*);
  size_t (*unpack_)(Context*, void*, size_t, const void*, size_t);
  unsigned long long (*size_of_)(const void*, size_t);
  unsigned (*is_error_)(size_t);
};

}  // namespace ms
