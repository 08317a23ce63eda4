// Kernels from text: compiled by NVRTC at first use, kept on disk for the next process, found by
// the text, the chip and the versions of driver and compiler. Equal texts share one program, which
// stays loaded.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "backends/cuda/driver.h"
#include "base/mutex.h"

namespace ms::cuda {

// What each text begins with: types, scalar functions, reductions.
const std::string& Prelude();

class Program {
 public:
  // `text` without the prelude; its kernels are phase0, phase1, ...
  static std::shared_ptr<Program> Of(const std::string& text, int phases);

  Program(std::string text, int phases) : text_(std::move(text)), phases_(phases) {}
  const std::string& text() const { return text_; }
  // Compiles and loads at the first call.
  Function phase(int i);

 private:
  void Load();

  const std::string text_;
  const int phases_;
  Mutex mutex_;
  std::atomic<bool> loaded_{false};
  std::vector<Function> functions_;
};

// Throws where the compiler does not know this chip.
void CheckChip();

// How many programs were compiled by this process, and how many came from the disk.
struct ProgramCounts {
  int compiled = 0, from_disk = 0;
};
ProgramCounts CountPrograms();

}  // namespace ms::cuda
