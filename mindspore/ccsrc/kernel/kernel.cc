#include "kernel/kernel.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/mutex.h"
#include "kernel/collectives.h"
#include "kernel/host_call.h"
#include "kernel/refusal.h"

namespace ms {
namespace {

class FunctionKernelImpl : public Kernel {
 public:
  FunctionKernelImpl(std::function<void(const KernelArgs&)> run, double cost_ns, size_t workspace)
      : run_(std::move(run)) {
    cost_ns_ = cost_ns;
    workspace_bytes_ = workspace;
  }
  void Run(const KernelArgs& args) const override { run_(args); }

 private:
  std::function<void(const KernelArgs&)> run_;
};

// MS_LOG=dispatch: what runs an op, and why others do not.
bool LogDispatch() {
  static const bool on = [] {
    const char* value = std::getenv("MS_LOG");
    return value && std::strstr(value, "dispatch");
  }();
  return on;
}

// Never destroyed: threads may still run.
struct Registered {
  Mutex mutex;
  std::vector<std::unique_ptr<Backend>> backends;
  std::atomic<const Backend*> current{nullptr};
};
Registered& Devices() {
  static auto* devices = new Registered;
  return *devices;
}

}  // namespace

KernelChoice FunctionKernel(std::function<void(const KernelArgs&)> run, double cost_ns,
                            size_t workspace_bytes) {
  return KernelChoice(
      std::make_unique<FunctionKernelImpl>(std::move(run), cost_ns, workspace_bytes));
}

KernelTable::KernelTable() { For("HostCall").Try("host", MakeHostCall); }

bool KernelTable::Has(const OpDef& op) const {
  return entries_.contains(op.name) || (op.scalar && !scalar_.makers_.empty());
}

std::shared_ptr<const Kernel> KernelTable::Find(const KernelRequest& request,
                                                std::string_view device) const {
  std::string refusals;
  auto tell = [&](const std::string& what) {
    if (!LogDispatch()) return;
    std::fprintf(stderr, "%s%s -> %s%s\n", request.op.name.c_str(), ToString(request.in).c_str(),
                 what.c_str(), refusals.c_str());
  };
  auto ask = [&](const Entry& entry) -> std::shared_ptr<const Kernel> {
    for (const auto& [name, maker] : entry.makers_) {
      KernelChoice choice = maker(request);
      if (choice.kernel) {
        tell(name);
        return std::move(choice.kernel);
      }
      refusals += fmt::format("\n  {}: {}", name, choice.refusal);
    }
    return nullptr;
  };
  if (auto it = entries_.find(request.op.name); it != entries_.end()) {
    if (auto kernel = ask(it->second)) return kernel;
  }
  if (request.op.scalar) {
    if (auto kernel = ask(scalar_)) return kernel;
  }
  if (refusals.empty()) {
    throw Refusal(fmt::format(
        "For '{0}', the device must have a kernel, but {1} has no kernel for '{0}', whose inputs "
        "are {2}.",
        request.op.name, device, ToString(request.in)));
  }
  if (request.op.expand) tell("a composition of other ops");
  throw Refusal(fmt::format("For '{}', a kernel on {} must accept the inputs, but got {}.{}",
                            request.op.name, device, ToString(request.in), refusals));
}

Stream& Backend::stream() const {
  MS_ASSERT(memory_.on_host());
  static Stream* host = NewHostStream().release();  // threads may still run when others end
  return *host;
}

std::unique_ptr<Transport> Backend::NewTransport(const std::string&, bool) const {
  Throw(ErrorKind::kRuntime, "For 'init', processes cannot train together on {}.", name());
}
std::unique_ptr<Stream> Backend::NewStream() const {
  MS_ASSERT(memory_.on_host());
  return NewHostStream();
}

void RegisterBackend(std::unique_ptr<Backend> backend) {
  std::string_view name = backend->name(), of_memory = backend->memory().device();
  if (name.empty()) Throw(ErrorKind::kValue, "the device must have a name, but name() gives ''");
  if (name != of_memory && !backend->memory().on_host()) {
    Throw(ErrorKind::kValue,
          "the device and its memory must have one name, but name() gives '{}', and device() of "
          "the memory '{}'",
          name, of_memory);
  }
  Registered& devices = Devices();
  std::lock_guard lock(devices.mutex);
  for (const auto& other : devices.backends) {
    if (other->name() == backend->name())
      Throw(ErrorKind::kValue, "a device '{}' is there already", backend->name());
  }
  const Backend* none = nullptr;
  const Backend* added = devices.backends.emplace_back(std::move(backend)).get();
  if (added->name() == kHostDevice)
    devices.current.store(added);
  else
    devices.current.compare_exchange_strong(none, added);
}

const Backend& GetBackend(std::string_view name) {
  {
    std::lock_guard lock(Devices().mutex);
    for (const auto& backend : Devices().backends) {
      if (backend->name() == name) return *backend;
    }
  }
  Throw(ErrorKind::kValue, "the device must be one of [{}], but got '{}'",
        fmt::join(BackendNames(), ", "), name);
}

std::vector<std::string> BackendNames() {
  std::lock_guard lock(Devices().mutex);
  std::vector<std::string> names;
  for (const auto& backend : Devices().backends) names.emplace_back(backend->name());
  return names;
}

const Backend& CurrentBackend() {
  const Backend* current = Devices().current.load(std::memory_order_relaxed);
  MS_ASSERT(current);
  return *current;
}

void SetCurrentBackend(std::string_view name) { Devices().current.store(&GetBackend(name)); }

}  // namespace ms
