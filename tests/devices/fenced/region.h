// Memory that is mapped twice: kernels use the open mapping, everyone else holds addresses of the
// fenced one, which no access is allowed to. An access is noted as a fault, opens the page so that
// the program goes on, and fails the test that did it.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "kernel/kernel.h"

namespace ms::fenced {

class Region {
 public:
  static Region& Get();

  void* Allocate(size_t bytes);  // a fenced address; the memory holds no sensible numbers
  void Free(void* fenced);

  // The kernel's address for a fenced one.
  char* Open(const void* fenced) const;
  bool Holds(const void* address) const;

  // Who wrote the block that an address is in.
  void NoteWriter(const void* fenced, const LaunchPlace& place);
  // What has happened since the last call, as text; closes the fence again.
  std::vector<std::string> TakeFaults();
  // True where the fence stopped this access. Called by a signal handler: waits for nothing and
  // allocates nothing.
  bool OnFault(const void* address, const void* code);

 private:
  struct Block {
    size_t bytes = 0;  // red zone included
    LaunchPlace writer;
  };
  struct Fault {
    const void* code;
    LaunchPlace writer;
    bool freed;
  };
  static constexpr size_t kBytes = size_t{16} << 30;  // of addresses; pages come as they are used
  static constexpr size_t kRedZone = 64;

  Region();
  void CheckRedZone(size_t offset, const Block& block);

  char* open_ = nullptr;
  char* fenced_ = nullptr;
  std::mutex mutex_;
  std::map<size_t, size_t> free_;  // by offset: bytes
  std::map<size_t, Block> used_;
  std::vector<Fault> faults_;   // its memory is reserved
  std::atomic<int> opened_{0};  // accesses, those with it that could not be noted
  std::vector<std::string> overruns_;
};

}  // namespace ms::fenced
