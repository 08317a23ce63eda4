#include "backends/cuda/memory.h"

#include <algorithm>
#include <cstring>

#include "backends/cuda/device.h"
#include "backends/cuda/libraries.h"
#include "tensor/memory_limit.h"

namespace ms::cuda {
namespace {

constexpr size_t kWorthAStream = 64 << 10;  // less is sooner there than streams wait for each other
constexpr size_t kMostStaged = size_t{64} << 20;  // of all blocks, before one waits for another

}  // namespace

// A block that nobody uses; with enough of them in use, the one that is free first.
Staging::Block& Staging::Take(size_t bytes) {
  const Driver& driver = TheDriver();
  Block* oldest = nullptr;
  for (Block& block : blocks_) {
    if (block.held || block.bytes < bytes) continue;
    if (block.waiting && driver.EventQuery(block.used) == kSuccess) block.waiting = false;
    if (!block.waiting) return block;
    if (!oldest) oldest = &block;
  }
  if (oldest && total_ >= kMostStaged) {
    AwaitEvent(oldest->used);
    oldest->waiting = false;
    return *oldest;
  }
  Block block;
  block.bytes = 4096;
  while (block.bytes < bytes) block.bytes *= 2;
  void* data = nullptr;
  Check(driver.MemHostAlloc(&data, block.bytes, 0), "cuMemHostAlloc");
  block.data = static_cast<char*>(data);
  Check(driver.EventCreate(&block.used, kNoTiming), "cuEventCreate");
  total_ += block.bytes;
  return blocks_.emplace_back(block);
}

void Staging::Send(Address to, const void* host, size_t bytes, StreamHandle stream) {
  std::lock_guard lock(mutex_);
  Block& block = Take(bytes);
  std::memcpy(block.data, host, bytes);
  Check(TheDriver().MemcpyHtoDAsync(to, block.data, bytes, stream), "cuMemcpyHtoDAsync");
  Check(TheDriver().EventRecord(block.used, stream), "cuEventRecord");
  block.waiting = true;
}

void Staging::Receive(void* host, Address from, size_t bytes, CudaStream& stream) {
  std::unique_lock lock(mutex_);
  Block& block = Take(bytes);
  Check(TheDriver().MemcpyDtoHAsync(block.data, from, bytes, stream.handle()), "cuMemcpyDtoHAsync");
  block.held = true;
  lock.unlock();  // others copy meanwhile
  stream.WaitForAll();
  std::memcpy(host, block.data, bytes);
  lock.lock();
  block.held = false;  // else it is lost, as the device is
}

CudaMemory::CudaMemory() : stream_(new CudaStream(*this, results_)) {}

std::string_view CudaMemory::device() const { return kName; }

void CudaMemory::Refuse(size_t bytes) {
  size_t free = 0, total = 0;
  Check(TheDriver().MemGetInfo(&free, &total), "cuMemGetInfo");
  std::string largest = holders_.Largest();
  if (!largest.empty()) largest = ": " + largest;
  constexpr size_t kHalf = (1 << 20) / 20;  // of the last digit: what is free is told as less
  Throw(ErrorKind::kMemory,
        "{} must fit into the memory of '{}', but {} of its {} are free. This process has held at "
        "most {} in tensors, and holds {}{}. Smaller batches, or "
        "set_context(max_device_memory=...), which moves what is not needed for some time to the "
        "host, take less",
        Megabytes(bytes + kHalf), TheDevice().name, Megabytes(free - std::min(free, kHalf)),
        Megabytes(total), Megabytes(stats().peak), Megabytes(stats().live), largest);
}

StreamHandle CudaMemory::current() const {
  CudaStream* captures = CapturingHere();
  return captures ? captures->handle() : stream_->handle();
}

Address CudaMemory::Take(size_t bytes, StreamHandle stream) {
  RefuseCapture("memory that is taken");
  Enter();
  const Driver& driver = TheDriver();
  size_t whole = std::max<size_t>(bytes, 64);
  Address address = 0;
  int result = driver.MemAllocAsync(&address, whole, stream);
  // A program that runs far ahead waits for what is to be freed; then for what nobody uses now,
  // such as arenas of compiled functions.
  for (bool reserves : {false, true}) {
    if (result != kOutOfMemory || (reserves && !ReleaseReserves())) break;
    stream_->WaitForAll();
    Check(driver.MemPoolTrimTo(TheDevice().pool, 0), "cuMemPoolTrimTo");
    result = driver.MemAllocAsync(&address, whole, stream);
  }
  if (result == kOutOfMemory) Refuse(bytes);
  Check(result, "cuMemAllocAsync");
  return address;
}

void* CudaMemory::Allocate(size_t bytes) {
  auto* block = reinterpret_cast<void*>(Take(bytes, stream_->handle()));
  holders_.Add(block, bytes, Holders::Origin::kOther);
  return block;
}

// The block is taken on the stream that fills it: on the other one it would be there only after
// the steps that this is not to wait for. What is given to the other from now on waits for it.
void* CudaMemory::AllocateFilled(const void* host, size_t bytes) {
  if (bytes < kWorthAStream) return Memory::AllocateFilled(host, bytes);
  Enter();
  const Driver& driver = TheDriver();
  std::lock_guard lock(filling_);
  if (!beside_) {
    Check(driver.EventCreate(&filled_, kNoTiming), "cuEventCreate");
    Check(driver.StreamCreate(&beside_, kNonBlocking), "cuStreamCreate");
  }
  Address address = Take(bytes, beside_);
  try {
    Send(address, host, bytes, beside_);
    Check(driver.EventRecord(filled_, beside_), "cuEventRecord");
    Check(driver.StreamWaitEvent(stream_->handle(), filled_, 0), "cuStreamWaitEvent");
  } catch (...) {
    driver.MemFreeAsync(address, beside_);
    throw;
  }
  auto* block = reinterpret_cast<void*>(address);
  holders_.Add(block, bytes, Holders::Origin::kHost);
  return block;
}

void CudaMemory::Free(void* data, size_t bytes) noexcept {
  if (IsLost()) return;  // in the child of a fork
  holders_.Remove(data, bytes);
  results_.Remove(data, bytes);
  try {
    Enter();
  } catch (const std::exception&) {
    return;  // at the end of the process, when the driver has gone
  }
  TheDriver().MemFreeAsync(AddressOf(data), stream_->handle());
}

void CudaMemory::Send(Address to, const void* host, size_t bytes, StreamHandle stream) {
  for (size_t at = 0; at < bytes; at += Staging::kMost) {
    staging_.Send(to + at, static_cast<const char*>(host) + at,
                  std::min(Staging::kMost, bytes - at), stream);
  }
}

void CudaMemory::Store(void* to, const void* host, size_t bytes) {
  RefuseCapture("what comes from the host");
  Enter();
  Send(AddressOf(to), host, bytes, stream_->handle());
}

void CudaMemory::Copy(void* to, const void* from, size_t bytes) {
  CopyInRun(to, from, bytes);
  results_.AddCopy(to, from, bytes);
  holders_.LabelCopy(to, from, bytes);
}

void CudaMemory::CopyInRun(void* to, const void* from, size_t bytes) {
  Enter();
  if (bytes && to != from) {
    Check(TheDriver().MemcpyDtoDAsync(AddressOf(to), AddressOf(from), bytes, current()),
          "cuMemcpyDtoDAsync");
  }
}

void CudaMemory::Zero(void* to, size_t bytes) {
  Enter();
  if (bytes)
    Check(TheDriver().MemsetD8Async(AddressOf(to), 0, bytes, current()), "cuMemsetD8Async");
}

void CudaMemory::FetchNow(void* host, const void* from, size_t bytes) {
  RefuseCapture("what the host reads");
  Enter();
  for (size_t at = 0; at < bytes; at += Staging::kMost) {
    staging_.Receive(static_cast<char*>(host) + at, AddressOf(from) + at,
                     std::min(Staging::kMost, bytes - at), *stream_);
  }
  stream_->Synchronize();  // throws what was found wrong
  Require(from, bytes);
}

CudaMemory& TheMemory() {
  static auto* memory = new CudaMemory;
  return *memory;
}

}  // namespace ms::cuda
