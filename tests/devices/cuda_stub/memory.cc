// The stub's memory: addresses that nobody may follow, each at a fixed distance from the bytes.
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "stub.h"

namespace stub {
namespace {

constexpr size_t kAddresses = size_t{16} << 30;
constexpr size_t kRedZone = 256;
constexpr int kNotANumber = 0xFF, kRed = 0xA5;

struct Region {
  char* fenced;
  char* open;
  struct Block {
    size_t bytes, whole;  // without and with its red zone
  };
  std::map<size_t, size_t> free;  // bytes by offset
  std::map<size_t, Block> used;
  size_t in_use = 0;

  Region() {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    fenced = static_cast<char*>(mmap(nullptr, kAddresses, PROT_NONE, flags, -1, 0));
    open = static_cast<char*>(mmap(nullptr, kAddresses, PROT_READ | PROT_WRITE, flags, -1, 0));
    if (fenced == MAP_FAILED || open == MAP_FAILED) std::abort();
    free[0] = kAddresses;
  }
  void Check(size_t offset, const Block& block) const {
    for (size_t i = block.bytes; i < block.whole; ++i) {
      if (open[offset + i] == static_cast<char>(kRed)) continue;
      Refuse(kLaunchFailed, "a kernel wrote beyond the end of a block");
      return;
    }
  }
};
Region& TheRegion() {
  static auto* region = [] {
    auto* made = new Region;
    std::atexit([] {  // what nobody frees
      for (const auto& [offset, block] : TheRegion().used) TheRegion().Check(offset, block);
    });
    return made;
  }();
  return *region;
}
size_t OffsetOf(uint64_t address) {
  return address - reinterpret_cast<uint64_t>(TheRegion().fenced);
}

}  // namespace

size_t MemoryBytes() {
  const char* given = std::getenv("MS_CUDA_STUB_MEMORY");
  return given ? std::strtoull(given, nullptr, 10) : size_t{4} << 30;
}
size_t MemoryUsed() { return TheRegion().in_use; }

uint64_t Allocate(size_t bytes) {
  Region& r = TheRegion();
  size_t whole = (bytes + 255) / 256 * 256 + kRedZone;  // so that all begin at 256 bytes
  if (r.in_use + whole > MemoryBytes()) return 0;
  auto it = r.free.begin();
  while (it != r.free.end() && it->second < whole) ++it;
  if (it == r.free.end()) return 0;
  size_t offset = it->first, rest = it->second - whole;
  r.free.erase(it);
  if (rest) r.free[offset + whole] = rest;
  r.used[offset] = {bytes, whole};
  r.in_use += whole;
  std::memset(r.open + offset, kNotANumber, bytes);
  std::memset(r.open + offset + bytes, kRed, whole - bytes);
  return reinterpret_cast<uint64_t>(r.fenced + offset);
}

void Free(uint64_t address) {
  Region& r = TheRegion();
  size_t offset = OffsetOf(address);
  auto used = r.used.find(offset);
  if (used == r.used.end())
    return static_cast<void>(Refuse(kInvalidValue, "memory is freed twice"));
  r.Check(offset, used->second);
  size_t bytes = used->second.whole;
  r.used.erase(used);
  r.in_use -= bytes;
  std::memset(r.open + offset, kNotANumber, bytes);  // for whoever reads it late
  auto next = r.free.lower_bound(offset);
  if (next != r.free.end() && offset + bytes == next->first) {
    bytes += next->second;
    next = r.free.erase(next);
  }
  if (next != r.free.begin() && std::prev(next)->first + std::prev(next)->second == offset)
    std::prev(next)->second += bytes;
  else
    r.free[offset] = bytes;
}

bool Holds(uint64_t address, size_t bytes) {
  Region& r = TheRegion();
  size_t offset = OffsetOf(address);
  auto it = r.used.upper_bound(offset);
  if (offset >= kAddresses || it == r.used.begin()) return false;
  --it;
  return offset + bytes <= it->first + it->second.bytes;
}

void* Open(uint64_t address) { return TheRegion().open + OffsetOf(address); }

}  // namespace stub
