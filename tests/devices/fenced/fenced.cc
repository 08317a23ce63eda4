// A device that makes every wrong assumption about memory and time a fault, on any machine. Its
// kernels are the host's; they run late, on a stream of their own, in memory that only they reach.
#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "kernel/launch.h"
#include "kernel/layout.h"
#include "kernel/plugin.h"
#include "late_stream.h"
#include "region.h"

namespace ms::fenced {
namespace {

constexpr std::string_view kName = "Fenced";

uint64_t Seed() {
  if (const char* given = std::getenv("MS_FENCED_SEED")) return std::strtoull(given, nullptr, 10);
  uint64_t seed = std::random_device()() % 100000;
  std::fprintf(stderr, "MS_FENCED_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

class FencedMemory : public Memory {
 public:
  FencedMemory() : stream_(new LateStream(*this, Seed())) {}
  LateStream& stream() const { return *stream_; }

  std::string_view device() const override { return kName; }
  void* Allocate(size_t bytes) override { return region_.Allocate(bytes); }
  void Free(void* data, size_t) noexcept override {
    try {
      stream_->Give([this, data] { region_.Free(data); }, true);
    } catch (const std::exception&) {  // the child of a fork, which has no device
    }
  }
  void Store(void* to, const void* host, size_t bytes) override {
    const char* from = static_cast<const char*>(host);
    stream_->Give([to = region_.Open(to), copy = std::vector<char>(from, from + bytes)] {
      if (!copy.empty()) std::memcpy(to, copy.data(), copy.size());
    });
  }
  void Fetch(void* host, const void* from, size_t bytes) override {
    stream_->Synchronize();
    if (bytes) std::memcpy(host, region_.Open(from), bytes);
  }
  void Copy(void* to, const void* from, size_t bytes) override {
    stream_->Give([to = region_.Open(to), from = region_.Open(from), bytes] {
      if (bytes) std::memmove(to, from, bytes);
    });
  }
  void Zero(void* to, size_t bytes) override {
    stream_->Give([to = region_.Open(to), bytes] {
      if (bytes) std::memset(to, 0, bytes);
    });
  }

 private:
  Region& region_ = Region::Get();
  LateStream* stream_;  // threads may still run when others end
};

FencedMemory& TheMemory() {
  static auto* memory = new FencedMemory;
  return *memory;
}

// A kernel of the host, run late.
class FencedKernel : public Kernel {
 public:
  FencedKernel(const KernelRequest& request, std::shared_ptr<const Kernel> inner)
      : inner_(std::move(inner)),
        in_(request.in.size()),
        out_(request.out.size()),
        random_(request.op.effect == Effect::kRandom) {
    cost_ns_ = inner_->cost_ns();
    workspace_bytes_ = inner_->workspace_bytes();
  }
  std::string Contents() const override { return inner_->Contents(); }

  void Run(const KernelArgs& args) const override {
    Region& region = Region::Get();
    LaunchPlace place = args.place ? *args.place : LaunchPlace{};
    std::vector<void*> at;
    for (size_t i = 0; i < in_; ++i) at.push_back(Opened(args.in[i], place));
    for (size_t i = 0; i < out_; ++i) {
      at.push_back(Opened(args.out[i], place));
      region.NoteWriter(args.out[i], place);
    }
    void* workspace = args.workspace ? Opened(args.workspace, place) : nullptr;
    auto run = [inner = inner_, at, in = in_, workspace, place](RandomState* random) {
      try {
        inner->Run({at.data(), at.data() + in, workspace, random});
      } catch (...) {
        RethrowOf(place.op ? &place : nullptr);
      }
    };
    auto& stream = static_cast<LateStream&>(*args.stream);
    if (!random_) return stream.Give([run] { run(nullptr); });
    stream.Synchronize();  // the generator's state is the host's, in the order of the program
    run(args.random);
  }

 private:
  static void* Opened(const void* address, const LaunchPlace& place) {
    if (Region::Get().Holds(address)) return Region::Get().Open(address);
    Throw(ErrorKind::kInternal, "an argument of '{}' is not in the memory of the device",
          place.op ? place.op->name : "a kernel");
  }

  std::shared_ptr<const Kernel> inner_;
  size_t in_, out_;
  bool random_;
};

class FencedBackend : public Backend {
 public:
  FencedBackend() : Backend(TheMemory()), host_(GetBackend(kHostDevice)) {
    for (const OpDef* op : Ops().All()) {
      if (!host_.kernels().Has(*op) || op->name == "HostCall") continue;
      table_.For(op->name).Try("fenced", [this](const KernelRequest& request) -> KernelChoice {
        try {
          auto inner = host_.kernels().Find(request, kName);
          return std::make_unique<FencedKernel>(request, std::move(inner));
        } catch (const Error& error) {
          return No("{}", error.message());
        }
      });
    }
    std::atexit([] { TheMemory().stream().Stop(); });
    pthread_atfork(nullptr, nullptr, [] { TheMemory().stream().Lose(); });
  }
  std::string_view name() const override { return kName; }
  const KernelTable& kernels() const override { return table_; }
  const Layouts& layouts() const override { return host_.layouts(); }
  Stream& stream() const override { return TheMemory().stream(); }
  std::unique_ptr<Stream> NewStream() const override {
    return std::make_unique<LateStream>(memory(), Seed());
  }

 private:
  const Backend& host_;
  KernelTable table_;
};

}  // namespace
}  // namespace ms::fenced

MS_BACKEND(ms::fenced::FencedBackend)

// What the fence has stopped since the last call, one per line; how many bytes that takes.
extern "C" __attribute__((visibility("default"))) size_t fenced_faults(char* text, size_t size) {
  std::string lines;
  for (const std::string& line : ms::fenced::Region::Get().TakeFaults()) lines += line + "\n";
  if (size) std::snprintf(text, size, "%s", lines.c_str());
  return lines.size();
}

// Reads memory of the device as the host must not.
extern "C" __attribute__((visibility("default"))) void fenced_touch() {
  ms::Tensor t(ms::DType::kFloat32, ms::Shape{4}, ms::fenced::TheMemory());
  static volatile char seen;
  seen = *static_cast<volatile char*>(t.raw());
}
