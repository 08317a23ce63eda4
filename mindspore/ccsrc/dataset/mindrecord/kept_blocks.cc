#include "dataset/mindrecord/kept_blocks.h"

#include <algorithm>

namespace ms {

KeptBlocks::~KeptBlocks() {
  for (const Page& page : pages_) {
    for (uint64_t i = 0; i < Count(page); ++i) delete page.blocks[i].load();
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
    auto made = std::make_unique<const std::string>(read(page.offset + first, rest));
    // Where another thread was faster, its block is as good.
    if (block.compare_exchange_strong(bytes, made.get(), std::memory_order_acq_rel))
      bytes = made.release();
  }
  return std::string_view(*bytes).substr(start - first, size);
}

}  // namespace ms
