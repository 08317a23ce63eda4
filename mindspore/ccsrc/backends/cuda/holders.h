// Who holds the device's memory, for the error that there is too little: large blocks, and the
// lines of the program that they are for.
#pragma once

#include <string>
#include <unordered_map>

#include "base/mutex.h"
#include "ir/span.h"

namespace ms::cuda {

class Holders {
 public:
  enum class Origin : uint8_t { kOther, kLine, kHost };

  void Add(const void* block, size_t bytes, Origin origin);
  void Remove(const void* block, size_t bytes) noexcept;
  // Nothing, if it is a small one, or known to be for something. Of the places that lead to the
  // line, it is for the user's own.
  void Label(const void* block, size_t bytes, SpanId line);
  // For what the other one is for.
  void LabelCopy(const void* block, const void* of, size_t bytes);
  // "40.0 MB at net.py:12, 4.0 MB that came from the host": the largest sums.
  std::string Largest() const;

 private:
  static constexpr size_t kLeast = size_t{1} << 20;  // of a block that is worth the lock
  struct Block {
    size_t bytes = 0;
    Origin origin = Origin::kOther;
    SpanId line = 0;
  };
  mutable Mutex mutex_;
  std::unordered_map<const void*, Block> blocks_;
};

}  // namespace ms::cuda
