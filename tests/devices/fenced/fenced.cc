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
#include "kernel/refusal.h"
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
  void* Allocate(size_t bytes) override {
    stream_->CheckUsable();
    try {
      return region_.Allocate(bytes);
    } catch (const Error&) {  // a program that runs far ahead waits for what is to be freed
      stream_->WaitForAll();
      return region_.Allocate(bytes);
    }
  }
  void Free(void* data, size_t) noexcept override {
    try {
      stream_->Give([this, data] { region_.Free(data); }, true);
    } catch (const std::exception&) {  // the child of a fork, which has no device
    }
  }
  void Store(void* to, const void* host, size_t bytes) override {
    const char* from = static_cast<const char*>(host);
    stream_->Give(
        [to = region_.Open(to), copy = std::vector<char>(from, from + bytes)] {
          if (!copy.empty()) std::memcpy(to, copy.data(), copy.size());
        },
        true);
  }
  void Copy(void* to, const void* from, size_t bytes) override {
    stream_->Give(
        [to = region_.Open(to), from = region_.Open(from), bytes] {
          if (bytes) std::memmove(to, from, bytes);
        },
        true);
  }
  void Zero(void* to, size_t bytes) override {
    stream_->Give(
        [to = region_.Open(to), bytes] {
          if (bytes) std::memset(to, 0, bytes);
        },
        true);
  }

 private:
  // In the order of the stream: what another thread gives meanwhile comes after.
  void FetchNow(void* host, const void* from, size_t bytes) override {
    stream_->Give(
        [host, from = region_.Open(from), bytes] {
          if (bytes) std::memcpy(host, from, bytes);
        },
        true);
    stream_->Synchronize();
  }

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
        random_(request.op.effect == Effect::kRandom),
        of_generator_(request.op.name.ends_with("RandomOffset")) {
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
        RethrowOf(std::current_exception(), place.op ? &place : nullptr);
      }
    };
    auto& stream = static_cast<LateStream&>(*args.stream);
    if (!random_) return stream.Give([run] { run(nullptr); });
    if (of_generator_) {  // its state is the host's
      stream.Synchronize();
      return run(args.random);
    }
    // Numbers depend on the order of the program: an offset is drawn now.
    uint64_t seed = args.random->seed(), offset = args.random->NextOffset();
    stream.Give([run, seed, offset] {
      RandomState own;
      own.Set(seed, offset);
      run(&own);
    });
  }

 private:
  static void* Opened(const void* address, const LaunchPlace& place) {
    if (Region::Get().Holds(address)) return Region::Get().Open(address);
    Throw(ErrorKind::kInternal, "an argument of '{}' is not in the memory of the device",
          place.op ? place.op->name : "a kernel");
  }

  std::shared_ptr<const Kernel> inner_;
  size_t in_, out_;
  bool random_, of_generator_;
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
        } catch (const Refusal& error) {
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

// Whether work of one stream that follows another's event comes after what that waited for.
extern "C" __attribute__((visibility("default"))) bool fenced_streams_in_order(int rounds) {
  using ms::fenced::LateStream;
  LateStream first(ms::fenced::TheMemory(), 1), second(ms::fenced::TheMemory(), 2);
  bool right = true;
  for (int i = 0; i < rounds; ++i) {
    int value = 0;
    first.Give([&] { value = i + 1; });
    auto event = first.Record();
    second.Follow(*event);
    second.Give([&] { right &= value == i + 1; });
    if (i % 2) event.reset();  // an event need not outlast the call
    second.Synchronize();
    right &= first.Record()->Reached();
  }
  return right;
}
