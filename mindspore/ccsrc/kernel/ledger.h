// What a device's memory may keep of its blocks: which line of the program one is for, and which
// run makes what it holds. So an error that there is too little memory names lines, and what was
// left out after an error is not taken for a value later.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/span.h"

namespace ms {

class Ledger {
 public:
  virtual ~Ledger() = default;

 private:
  friend class LedgerRun;
  virtual uint64_t Begin() = 0;
  virtual void End(uint64_t run) noexcept = 0;
  virtual void Made(uint64_t run, const void* block, size_t bytes, SpanId line) = 0;
  virtual void Require(const void* value) = 0;
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

  // Throws where what was to make the value has been left out.
  void Takes(const void* value) const {
    if (ledger_) ledger_->Require(value);
  }
  // It makes what this new block holds. Not of one that holds an old value until it is written.
  void Makes(const void* block, size_t bytes, SpanId line) const {
    if (ledger_) ledger_->Made(number_, block, bytes, line);
  }

 private:
  Ledger* ledger_;
  uint64_t number_;
};

}  // namespace ms
