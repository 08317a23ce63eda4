// The device GPU: one NVIDIA GPU of this process, through the driver's interface. A plug-in: the
// core knows nothing of it, and it is opened when a program asks for it (docs/gpu.md).
#include <cstdlib>

#include "backends/cuda/communicator.h"
#include "backends/cuda/device.h"
#include "backends/cuda/kernels.h"
#include "backends/cuda/libraries.h"
#include "backends/cuda/memory.h"
#include "backends/cuda/policy.h"
#include "backends/cuda/program.h"
#include "backends/cuda/recording.h"
#include "kernel/plugin.h"

namespace ms::cuda {
namespace {

class CudaBackend : public Backend {
 public:
  CudaBackend() : Backend(TheMemory()) {
    CheckChip();  // what is missing is said now, not in the middle of a program
    // By the order of these, the host's come last.
    AddNests(table_);
    AddCompositions(table_);
    AddUpdates(table_);
    AddProducts(table_);
    AddConvolutions(table_);
    AddAttention(table_);
    AddPooling(table_);
    AddNorms(table_);
    AddIndexed(table_);
    AddPlaces(table_);
    AddOrder(table_);
    AddScans(table_);
    AddElements(table_);
    AddSlices(table_);
    AddJoins(table_);
    AddResample(table_);
    AddGrid(table_);
    AddBoxes(table_);
    AddCtc(table_);
    AddRecurrent(table_);
    AddPairs(table_);
    AddRandom(table_);
    AddComm(table_);
    AddHostKernels(table_);
    std::atexit([] {  // what was given is done before the driver goes
      if (IsLost()) return;
      AbandonCalls();  // the other ranks may be gone, and nobody hears what they left
      TheDriver().StreamSynchronize(TheMemory().stream().handle());
    });
  }
  std::string_view name() const override { return kName; }
  const KernelTable& kernels() const override { return table_; }
  const Layouts& layouts() const override { return TheLayouts(); }
  uint64_t choices() const override { return ThePolicy().deterministic; }
  Stream& stream() const override { return TheMemory().stream(); }
  // Processes come together through the host's, by which NCCL learns who is in a group.
  std::unique_ptr<Transport> NewTransport(const std::string& library, bool windows) const override {
    return GetBackend(kHostDevice).NewTransport(library, windows);
  }
  std::unique_ptr<Stream> NewStream() const override {
    return std::make_unique<CudaStream>(TheMemory(), TheMemory().results());
  }

 private:
  KernelTable table_;
};

}  // namespace
}  // namespace ms::cuda

MS_BACKEND(ms::cuda::CudaBackend)

// For Python, before the library is opened as a device: see libraries.h.
extern "C" __attribute__((visibility("default"))) void ms_backend_prepare(const char* folders,
                                                                          int device) {
  ms::cuda::Prepare(folders, device);
}

// Once it is open: what the device is, one fact a line, `name: value`; how many bytes that takes.
extern "C" __attribute__((visibility("default"))) size_t ms_backend_facts(char* text, size_t size) {
  const ms::cuda::Device& d = ms::cuda::TheDevice();
  ms::cuda::ProgramCounts counts = ms::cuda::CountPrograms();
  ms::cuda::RecordingCounts recordings = ms::cuda::CountRecordings();
  std::string facts = fmt::format(
      "name: {}\nmemory: {}\nmultiprocessors: {}\nchip: {}\ndriver: {}\nnumber: {}\ncompiled: {}\n"
      "from_disk: {}\nrecorded: {}\nnot_recorded: {}\nreplayed: {}\nkept_tickets: {}\n",
      d.name, d.bytes, d.multiprocessors, d.chip, d.driver, d.number, counts.compiled,
      counts.from_disk, recordings.made, recordings.refused, recordings.replayed,
      ms::cuda::TheMemory().stream().kept_tickets());
  if (size) {
    size_t count = std::min(facts.size(), size - 1);
    facts.copy(text, count);
    text[count] = 0;
  }
  return facts.size();
}
