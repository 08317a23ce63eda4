#include "backends/cuda/device.h"

#include <pthread.h>

#include <atomic>
#include <cstdlib>

#include "backends/cuda/libraries.h"
#include "base/error.h"

namespace ms::cuda {
namespace {

constexpr int kOldestChip = 75;  // whose kernels CUDA 13 compiles
std::atomic<bool> lost{false};

int Attribute(int attribute, int device) {
  int value = 0;
  Check(TheDriver().DeviceGetAttribute(&value, attribute, device), "cuDeviceGetAttribute");
  return value;
}

std::string Visible() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return visible ? fmt::format(" that CUDA_VISIBLE_DEVICES='{}' shows", visible) : "";
}

int CountDevices() {
  const Driver& driver = TheDriver();
  int result = driver.Init(0), count = 0;
  if (result != kNoDevice) Check(result, "cuInit");
  if (result == kSuccess) Check(driver.DeviceGetCount(&count), "cuDeviceGetCount");
  if (count == 0) {
    Throw(ErrorKind::kRuntime, "NVIDIA's driver finds no GPU{}; nvidia-smi -L lists the machine's",
          Visible());
  }
  return count;
}

Device Open() {
  const Driver& driver = TheDriver();
  int count = CountDevices(), number = ChosenDevice(), device = 0;
  if (number < 0) number = (-1 - number) % count;  // each of the machine's processes its own
  if (number >= count)
    Throw(ErrorKind::kValue, "'device_id' must be in [0, {}), the GPUs{}, but got {}", count,
          Visible(), number);
  Device d;
  d.number = number;
  Check(driver.DeviceGet(&device, number), "cuDeviceGet");
  char name[256] = "";
  Check(driver.DeviceGetName(name, sizeof(name), device), "cuDeviceGetName");
  d.name = name;
  Check(driver.DeviceTotalMem(&d.bytes, device), "cuDeviceTotalMem");
  Check(driver.DriverGetVersion(&d.driver), "cuDriverGetVersion");
  d.multiprocessors = Attribute(kMultiprocessors, device);
  d.chip = 10 * Attribute(kMajor, device) + Attribute(kMinor, device);
  if (d.chip < kOldestChip) {
    Throw(ErrorKind::kRuntime,
          "the GPU must have compute capability {}.{} or newer, but '{}' has {}.{}",
          kOldestChip / 10, kOldestChip % 10, d.name, d.chip / 10, d.chip % 10);
  }
  if (!Attribute(kMemoryPools, device))
    Throw(ErrorKind::kRuntime, "the GPU must have memory pools, but '{}' has none", d.name);
  Check(driver.DevicePrimaryCtxRetain(&d.context, device), "cuDevicePrimaryCtxRetain");
  Check(driver.CtxSetCurrent(d.context), "cuCtxSetCurrent");
  Check(driver.DeviceGetDefaultMemPool(&d.pool, device), "cuDeviceGetDefaultMemPool");
  // Freed memory stays in the pool: it goes back where somebody asks for it (memory.cc).
  uint64_t threshold = UINT64_MAX;
  Check(driver.MemPoolSetAttribute(d.pool, kReleaseThreshold, &threshold), "cuMemPoolSetAttribute");
  pthread_atfork(nullptr, nullptr, [] { lost = true; });
  return d;
}

}  // namespace

const Device& TheDevice() {
  static const auto* device = new Device(Open());
  return *device;
}

bool IsLost() { return lost; }

void Enter() {
  if (IsLost())
    Throw(ErrorKind::kRuntime,
          "the device '{}' must be used in the process that opened it, but this is one that was "
          "forked from it. Start it with multiprocessing's 'spawn'",
          kName);
  thread_local bool entered = false;
  if (entered) return;
  Check(TheDriver().CtxSetCurrent(TheDevice().context), "cuCtxSetCurrent");
  entered = true;
}

}  // namespace ms::cuda
