// What a device's memory may keep of its blocks: which line of the program one is for, and which
// run makes what it holds. So an error that there is too little memory names lines, and what was
// left out after an error is not taken for a value later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "ir/span.h"

namespace ms {

class Ledger {
 public:
  virtual ~Ledger() = default;

  // Whether any value was left out, or may have been.
  virtual bool lacks() const = 0;
  // Why a value was that has one of these bytes; empty: none.
  virtual std::string WhyLost(const void* begin, size_t bytes) const = 0;
  // Whether none of them can be left out any more.
  virtual bool IsSure(const void* begin, size_t bytes) const = 0;
  // Throws where there is a reason.
  void Require(const void* begin, size_t bytes) const {
    if (!lacks()) return;
    if (std::string why = WhyLost(begin, bytes); !why.empty()) {
      Throw(ErrorKind::kRuntime,
            "the value was not computed, or may not have been: an error came before it: {}", why);
    }
  }

 private:
  friend class LedgerRun;
  virtual uint64_t Begin() = 0;
  virtual void End(uint64_t run) noexcept = 0;
  virtual void Made(uint64_t run, const void* block, size_t bytes) = 0;
  virtual void Label(const void* block, size_t bytes, SpanId line) = 0;
};

// A run of an op or of a program, from before it takes memory until the device was given all of it.
class LedgerRun {
 public:
  // Null: the memory keeps none.
  explicit LedgerRun(Ledger* ledger) : ledger_(ledger), number_(ledger ? ledger->Begin() : 0) {}
  ~LedgerRun() {
    if (ledger_) ledger_->End(number_);
  }
  LedgerRun(const LedgerRun&) = delete;

  // It has taken the block for this line.
  void Takes(const void* block, size_t bytes, SpanId line) const {
    if (ledger_) ledger_->Label(block, bytes, line);
  }
  // It makes what the block is to hold. Not to be said of one that holds an old value until then.
  void Makes(const void* block, size_t bytes) const {
    if (ledger_) ledger_->Made(number_, block, bytes);
  }

 private:
  Ledger* ledger_;
  uint64_t number_;
};

}  // namespace ms
