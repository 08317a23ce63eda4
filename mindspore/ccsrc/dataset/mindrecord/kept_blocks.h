// Pages of a MindRecord file in memory, block by block as they are asked for: rows at random cost
// no call of the system each, as long as there is room for them. Several threads may ask at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ms {

class KeptBlocks {
 public:
  static constexpr uint64_t kBlock = 64 << 10;
  using Room = std::atomic<int64_t>;  // bytes
  // What the files of a process share: a set may have thousands, and the training needs memory,
  // too.
  static Room& OfProcess();

  explicit KeptBlocks(Room& room = OfProcess()) : room_(room) {}
  KeptBlocks(const KeptBlocks&) = delete;
  ~KeptBlocks();

  // The next page has so many bytes, and lies here in the file; or it is not kept.
  void Keep(uint64_t offset, uint64_t size);
  void LeaveOut() { pages_.emplace_back(); }

  using Read = std::function<std::string(uint64_t offset, uint64_t size)>;
  // Bytes of a page, which stay as long as this does. None where it is not kept, where they do not
  // lie in one block, or where there is no more room.
  std::string_view Get(size_t page, uint64_t start, uint64_t size, const Read& read) const;

 private:
  using Block = std::atomic<const std::string*>;
  struct Page {
    uint64_t offset = 0;
    uint64_t size = 0;
    std::unique_ptr<Block[]> blocks;
  };
  static uint64_t Count(const Page& page) { return (page.size + kBlock - 1) / kBlock; }

  Room& room_;
  std::vector<Page> pages_;
};

}  // namespace ms
