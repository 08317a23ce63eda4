#include "dataset/mindrecord/kept_blocks.h"

#include <algorithm>

#include "tensor/memory_limit.h"

namespace ms {
namespace {

// Room for a block that is read, given back unless the block is kept.
class Taken {
 public:
  Taken(KeptBlocks::Room& room, uint64_t bytes)
      : room_(room),
        bytes_(static_cast<int64_t>(bytes)),
        there_(room.fetch_sub(bytes_) >= bytes_) {}
  Taken(const Taken&) = delete;
  ~Taken() { room_.fetch_add(bytes_); }

  bool there() const { return there_; }
  void Keep() { bytes_ = 0; }

 private:
  KeptBlocks::Room& room_;
  int64_t bytes_;
  bool there_;
};

}  // namespace

KeptBlocks::Room& KeptBlocks::OfProcess() {
  constexpr size_t kPart = 16;
  static Room room{static_cast<int64_t>(MemoryLimit() / kPart)};
  return room;
}

KeptBlocks::~KeptBlocks() {
  for (const Page& page : pages_) {
    for (uint64_t i = 0; i < Count(page); ++i) {
      const std::string* bytes = page.blocks[i].load();
      if (bytes != nullptr) room_.fetch_add(static_cast<int64_t>(bytes->size()));
      delete bytes;
    }
  }
}

void KeptBlocks::Keep(uint64_t offset, uint64_t size) {
  Page page{offset, size, nullptr};
  page.blocks = std::make_unique<Block[]>(Count(page));
  pages_.push_back(std::move(page));
}

std::string_view KeptBlocks::Get(size_t number, uint64_t start, uint64_t size,
                                 const Read& read) const {
  const Page& page = pages_[number];
  uint64_t first = start / kBlock * kBlock;
  if (size == 0 || start + size > std::min(first + kBlock, page.size)) return {};
  Block& block = page.blocks[start / kBlock];
  const std::string* bytes = block.load(std::memory_order_acquire);
  if (bytes == nullptr) {
    uint64_t rest = std::min(kBlock, page.size - first);
    Taken taken(room_, rest);
    if (!taken.there()) return {};
    auto made = std::make_unique<const std::string>(read(page.offset + first, rest));
    // Where another thread was faster, its block is as good.
    if (block.compare_exchange_strong(bytes, made.get(), std::memory_order_acq_rel)) {
      bytes = made.release();
      taken.Keep();
    }
  }
  return std::string_view(*bytes).substr(start - first, size);
}

}  // namespace ms
