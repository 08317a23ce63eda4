// The stream of a GPU, and what kernels on it find wrong. A kernel that does leaves the number of
// its launch in a word of the device's memory; kernels that see it there do nothing, until a wait
// of the host finds it and throws it as an error of that launch.
#pragma once

#include <array>
#include <unordered_map>
#include <vector>

#include "backends/cuda/driver.h"
#include "base/mutex.h"
#include "kernel/kernel.h"

namespace ms::cuda {

struct Grid {
  unsigned x = 1, y = 1;
  unsigned threads = 256;  // of a block
};

class CudaStream : public Stream {
 public:
  explicit CudaStream(Memory& memory);
  ~CudaStream() override;
  StreamHandle handle() const { return handle_; }

  std::unique_ptr<Event> Record() override;
  void Follow(const Event& event) override;

  // `args` points to the arguments behind the first one, which is the address of the word.
  void Launch(Function function, const Grid& grid, std::vector<void*> args);
  // A number by which a kernel says that it found something wrong: the error, of this kind, says
  // `what`, with the number that came, and its position, in the places of {}.
  unsigned NextTicket(const LaunchPlace* place, ErrorKind kind, std::string what);

  // Waits, and says nothing of what was found wrong.
  void WaitForAll();

 private:
  static constexpr size_t kTickets = 1 << 16;
  struct Ticket {
    LaunchPlace place;
    ErrorKind kind = ErrorKind::kInternal;
    std::string what;
  };
  struct Found {  // as kernels write it; see device/base.cuh
    unsigned ticket = 0, unused = 0;
    long long number = 0, position = 0;
  };

  void SynchronizeNow() override;
  void Hear(const Found& found);

  StreamHandle handle_ = nullptr;
  Address fault_ = 0;
  Found* seen_ = nullptr;  // pinned
  Mutex mutex_;
  std::vector<Ticket> tickets_;
  unsigned next_ticket_ = 1;
  // The latest error and its number. Each thread hears of it once.
  std::exception_ptr error_;
  uint64_t errors_ = 0, heard_by_some_ = 0;
  std::unordered_map<uint64_t, uint64_t> heard_;  // by the number of the thread
};

}  // namespace ms::cuda
