// What filters decided about the rows of an epoch, in bits: who takes a position up again need not
// ask them about the rows before it.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace ms::dataset {

class Verdicts {
 public:
  static constexpr int64_t kMost = int64_t{1} << 27;  // rows of all passes: 16 MiB

  // The verdicts of one filter in one pass over its rows, in their order.
  struct Judged {
    int node = 0;
    int64_t epoch = 0;
    int64_t count = 0;
    std::string bits;  // those of a byte from the lowest on
  };

  // Written by one thread at a time, while others may ask for All.
  class Pass {
   public:
    explicit Pass(std::shared_ptr<std::atomic<int64_t>> room) : room_(std::move(room)) {}
    // How many rows were judged before the pass began, and what about each.
    int64_t known() const { return known_; }
    bool Kept(int64_t row) const {
      return (bits_[static_cast<size_t>(row) / 8] >> (row % 8) & 1) != 0;
    }
    void Add(bool kept);

   private:
    friend class Verdicts;
    std::shared_ptr<std::atomic<int64_t>> room_;
    bool taken_ = false;
    int64_t known_ = 0;
    Mutex mutex_;  // of what follows
    int64_t count_ = 0;
    std::string bits_;
    bool lost_ = false;  // there was no more room
  };

  // The pass of a filter over an epoch. Where another one goes over the same rows, a new one.
  std::shared_ptr<Pass> Begin(int node, int64_t epoch);
  // None where some would be missing.
  std::vector<Judged> All() const;
  // In place of all that there are; throws unless they can be verdicts.
  void Set(std::vector<Judged> judged);
  // An epoch begins: only what was set for it remains.
  void Renew();

 private:
  void Clear();

  mutable Mutex mutex_;
  bool set_ = false;
  std::shared_ptr<std::atomic<int64_t>> room_ = std::make_shared<std::atomic<int64_t>>(kMost);
  std::map<std::pair<int, int64_t>, std::shared_ptr<Pass>> passes_;
};

}  // namespace ms::dataset
