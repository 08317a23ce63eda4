// The one GPU of this process: what it is, and its context.
#pragma once

#include <string>

#include "backends/cuda/driver.h"

namespace ms::cuda {

inline constexpr char kName[] = "GPU";

struct Device {
  std::string name;         // "NVIDIA H100 80GB HBM3"
  size_t bytes = 0;         // of memory
  int multiprocessors = 0;  // each runs some blocks at a time
  int chip = 0;             // compute capability: 90 for 9.0
  int driver = 0;           // 13000: the driver is for CUDA 13.0
  int number = 0;           // among those that the driver shows
  Context context = nullptr;
  Pool pool = nullptr;
};

// Opened at first use; an Error says what is missing.
const Device& TheDevice();

// Before calls of the driver: makes the context the calling thread's. RuntimeError in a process
// that was forked from the one that opened the device.
void Enter();
// Whether the calls of the driver still work: not in the child of a fork.
bool IsLost();

}  // namespace ms::cuda
