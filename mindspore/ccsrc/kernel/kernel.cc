#include "kernel/kernel.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

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

bool LogDispatch() {
  static const bool on = [] {
    const char* value = std::getenv("MS_LOG");
    return value && std::strstr(value, "dispatch");
  }();
  return on;
}

std::vector<std::unique_ptr<Backend>>& Backends() {
  static auto* backends = new std::vector<std::unique_ptr<Backend>>;
  return *backends;
}

}  // namespace

KernelChoice FunctionKernel(std::function<void(const KernelArgs&)> run, double cost_ns,
                            size_t workspace_bytes) {
  return KernelChoice(
      std::make_unique<FunctionKernelImpl>(std::move(run), cost_ns, workspace_bytes));
}

bool KernelTable::Has(const OpDef& op) const {
  return entries_.contains(op.name) || (op.scalar && !scalar_.makers_.empty());
}

std::shared_ptr<const Kernel> KernelTable::Find(const KernelRequest& request,
                                                std::string_view device) const {
  std::string refusals;
  auto ask = [&](const Entry& entry) -> std::shared_ptr<const Kernel> {
    for (const auto& [name, maker] : entry.makers_) {
      KernelChoice choice = maker(request);
      if (choice.kernel) {
        if (LogDispatch()) {
          std::fprintf(stderr, "%s%s -> %s%s\n", request.op.name.c_str(),
                       ToString(request.in).c_str(), name.c_str(), refusals.c_str());
        }
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
  Throw(ErrorKind::kType, "For '{}', a kernel on {} must accept the inputs, but got {}.{}",
        request.op.name, device, ToString(request.in), refusals);
}

void RegisterBackend(std::unique_ptr<Backend> backend) { Backends().push_back(std::move(backend)); }

const Backend& GetBackend(std::string_view name) {
  for (const auto& backend : Backends()) {
    if (backend->name() == name) return *backend;
  }
  Throw(ErrorKind::kValue, "the device must be one of [{}], but got '{}'",
        fmt::join(BackendNames(), ", "), name);
}

std::vector<std::string> BackendNames() {
  std::vector<std::string> names;
  for (const auto& backend : Backends()) names.emplace_back(backend->name());
  return names;
}

}  // namespace ms
