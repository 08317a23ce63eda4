// Which launches may run beside each other: those of which none touches what another one writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace ms {

struct Bytes {
  const void* begin;
  size_t size;
};

// Told of launches in their order, and of the memory that they are given.
class Branches {
 public:
  // The launches that the next one must follow: those before it that wrote what it touches, or
  // touched what it writes, less those that others of them follow.
  std::vector<uint32_t> Add(std::span<const Bytes> reads, std::span<const Bytes> writes);

 private:
  static constexpr uint32_t kNobody = ~0u;
  // Bytes that the same launches touched, up to `end`.
  struct Piece {
    uintptr_t end;
    uint32_t writer = kNobody;           // the latest
    std::vector<uint32_t> readers = {};  // since then
  };
  using Pieces = std::map<uintptr_t, Piece>;  // by where they begin; they do not overlap

  Pieces::iterator Cut(uintptr_t at);
  std::pair<Pieces::iterator, Pieces::iterator> Cover(Bytes bytes);
  Pieces pieces_;
  std::vector<std::vector<bool>> before_;  // by launch: whether it comes behind that one
};

}  // namespace ms
