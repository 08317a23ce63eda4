#include "region.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstring>

namespace ms::fenced {
namespace {

constexpr int kNotANumber = 0xFF;
constexpr int kRed = 0xA5;
constexpr size_t kPage = 4096;
constexpr size_t kMostFaults = 100;
struct sigaction before;

void OnSignal(int signal, siginfo_t* info, void* context) {
  const auto* machine = static_cast<const ucontext_t*>(context);
#if defined(__x86_64__)
  auto* code = reinterpret_cast<void*>(machine->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  auto* code = reinterpret_cast<void*>(machine->uc_mcontext.pc);
#endif
  if (Region::Get().OnFault(info->si_addr, code)) return;
  if (before.sa_flags & SA_SIGINFO) return before.sa_sigaction(signal, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
    return before.sa_handler(signal);
  sigaction(SIGSEGV, &before, nullptr);  // the access is tried again, and ends the process
}

// A library that is closed again, as one whose device is refused, leaves no handler behind.
__attribute__((destructor)) void Restore() {
  struct sigaction now;
  sigaction(SIGSEGV, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == OnSignal)
    sigaction(SIGSEGV, &before, nullptr);
}

std::string Where(const void* code) {
  Dl_info info;
  if (!dladdr(code, &info) || !info.dli_fname) return "unknown code";
  const char* file = std::strrchr(info.dli_fname, '/');
  return fmt::format("{} ({}+{:#x})", info.dli_sname ? info.dli_sname : "a static function",
                     file ? file + 1 : info.dli_fname,
                     static_cast<const char*>(code) - static_cast<const char*>(info.dli_fbase));
}

std::string What(const LaunchPlace& place) {
  if (!place.op) return "nothing wrote";
  return fmt::format("'{}' wrote{}{}", place.op->name, place.span ? " at " : "",
                     ShortSpan(place.span));
}

}  // namespace

Region& Region::Get() {
  static auto* region = new Region;
  return *region;
}

Region::Region() {
  int file = memfd_create("fenced", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(kBytes)) != 0)
    Throw(ErrorKind::kMemory, "the fenced device needs {} bytes of addresses", kBytes);
  int flags = MAP_SHARED | MAP_NORESERVE;
  void* open = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, flags, file, 0);
  void* fenced = mmap(nullptr, kBytes, PROT_NONE, flags, file, 0);
  close(file);
  if (open == MAP_FAILED || fenced == MAP_FAILED)
    Throw(ErrorKind::kMemory, "the fenced device's memory cannot be mapped");
  madvise(open, kBytes, MADV_DONTFORK);  // a child would write to the parent's
  madvise(fenced, kBytes, MADV_DONTFORK);
  open_ = static_cast<char*>(open);
  fenced_ = static_cast<char*>(fenced);
  free_[0] = kBytes;
  faults_.reserve(kMostFaults);
  struct sigaction action = {};
  action.sa_sigaction = OnSignal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, &before);
}

bool Region::Holds(const void* address) const {
  const char* at = static_cast<const char*>(address);
  return fenced_ <= at && at < fenced_ + kBytes;
}

char* Region::Open(const void* fenced) const {
  return open_ + (static_cast<const char*>(fenced) - fenced_);
}

void* Region::Allocate(size_t bytes) {
  size_t whole = (bytes + 63) / 64 * 64 + kRedZone;
  size_t offset = 0;
  {
    std::lock_guard lock(mutex_);
    auto it = free_.begin();
    while (it != free_.end() && it->second < whole) ++it;
    if (it == free_.end()) {
      Throw(ErrorKind::kMemory, "{} bytes must fit into memory, but the device has no room for them",
            bytes);
    }
    offset = it->first;
    size_t rest = it->second - whole;
    free_.erase(it);
    if (rest) free_[offset + whole] = rest;
    used_[offset] = {whole, {}};
  }
  std::memset(open_ + offset, kNotANumber, whole - kRedZone);
  std::memset(open_ + offset + whole - kRedZone, kRed, kRedZone);
  return fenced_ + offset;
}

void Region::CheckRedZone(size_t offset, const Block& block) {
  const char* zone = open_ + offset + block.bytes - kRedZone;
  for (size_t i = 0; i < kRedZone; ++i) {
    if (zone[i] == static_cast<char>(kRed)) continue;
    overruns_.push_back(
        fmt::format("a kernel wrote beyond the end of what {}", What(block.writer)));
    return;
  }
}

void Region::Free(void* fenced) {
  auto offset = static_cast<size_t>(static_cast<char*>(fenced) - fenced_);
  std::lock_guard lock(mutex_);
  auto used = used_.find(offset);
  if (used == used_.end()) {
    overruns_.emplace_back("memory was freed twice");
    return;
  }
  CheckRedZone(offset, used->second);
  size_t bytes = used->second.bytes;
  used_.erase(used);
  std::memset(open_ + offset, kNotANumber, bytes);  // for whoever reads it late
  auto next = free_.lower_bound(offset);
  if (next != free_.end() && offset + bytes == next->first) {
    bytes += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second == offset) {
      previous->second += bytes;
      return;
    }
  }
  free_[offset] = bytes;
}

void Region::NoteWriter(const void* fenced, const LaunchPlace& place) {
  auto offset = static_cast<size_t>(static_cast<const char*>(fenced) - fenced_);
  std::lock_guard lock(mutex_);
  auto it = used_.upper_bound(offset);
  if (it != used_.begin()) std::prev(it)->second.writer = place;
}

bool Region::OnFault(const void* address, const void* code) {
  if (!Holds(address)) return false;
  ++opened_;
  auto offset = static_cast<size_t>(static_cast<const char*>(address) - fenced_);
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock.owns_lock() && faults_.size() < kMostFaults) {
    Fault fault{code, {}, true};
    auto it = used_.upper_bound(offset);
    if (it != used_.begin() && offset < std::prev(it)->first + std::prev(it)->second.bytes) {
      fault.writer = std::prev(it)->second.writer;
      fault.freed = false;
    }
    faults_.push_back(fault);
  }
  char* page = fenced_ + offset / kPage * kPage;
  return mprotect(page, kPage, PROT_READ | PROT_WRITE) == 0;
}

std::vector<std::string> Region::TakeFaults() {
  std::lock_guard lock(mutex_);
  std::vector<std::string> texts = std::move(overruns_);
  overruns_.clear();
  for (const Fault& fault : faults_) {
    texts.push_back(fmt::format("the host, in {}, touched memory of the device {}",
                                Where(fault.code),
                                fault.freed ? "that is free" : "that " + What(fault.writer)));
  }
  if (int opened = opened_.exchange(0)) {
    if (texts.empty()) texts.push_back(fmt::format("{} accesses of the host", opened));
    mprotect(fenced_, kBytes, PROT_NONE);
  }
  faults_.clear();
  return texts;
}

}  // namespace ms::fenced
