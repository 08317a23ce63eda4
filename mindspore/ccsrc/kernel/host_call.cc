#include "kernel/host_call.h"

#include "base/mutex.h"
#include "ops/control.h"

namespace ms {
namespace {

struct Registry {
  Mutex mutex;
  int64_t next = 1;
  std::unordered_map<int64_t, std::shared_ptr<const HostFunction>> functions;
};

Registry& GlobalRegistry() {
  static Registry* registry = new Registry;  // outlives the interpreter's last objects
  return *registry;
}

std::shared_ptr<const HostFunction> FindFunction(int64_t number) {
  Registry& registry = GlobalRegistry();
  std::lock_guard lock(registry.mutex);
  auto it = registry.functions.find(number);
  if (it == registry.functions.end()) {
    Throw(ErrorKind::kValue, "For 'HostCall', there is no function with the number {}.", number);
  }
  return it->second;
}

class HostCall : public Kernel {
 public:
  HostCall(int64_t number, Types in, Types out)
      : number_(number), in_(std::move(in)), out_(std::move(out)) {
    cost_ns_ = 1e6;  // unknown: another thread may need what it waits for
  }

  // At once, wherever the values are: the host waits for them.
  void Run(const KernelArgs& args) const override {
    Memory& memory = args.stream ? args.stream->memory() : HostMemory();
    std::vector<Tensor> arguments;
    for (size_t i = 0; i < in_.size(); ++i) {
      Tensor& t = arguments.emplace_back(in_[i].dtype(), in_[i].shape());
      memory.Fetch(t.raw(), args.in[i], t.bytes());
    }
    std::vector<Tensor> results = (*FindFunction(number_))(std::move(arguments));
    if (results.size() != out_.size()) {
      Throw(ErrorKind::kType, "For 'HostCall', the function must return {} tensors, but got {}.",
            out_.size(), results.size());
    }
    for (size_t i = 0; i < out_.size(); ++i) {
      bool fits = results[i].dtype() == out_[i].dtype() && results[i].shape() == out_[i].shape();
      if (!fits) {
        Throw(ErrorKind::kType,
              "For 'HostCall', result {} of the function must be {} as declared, but got {}.", i,
              out_[i], results[i].ToString());
      }
      memory.Store(args.out[i], results[i].OnHost().raw(), results[i].bytes());
    }
  }

 private:
  int64_t number_;
  Types in_, out_;
};

}  // namespace

int64_t RegisterHostFunction(HostFunction function) {
  Registry& registry = GlobalRegistry();
  std::lock_guard lock(registry.mutex);
  int64_t number = registry.next++;
  registry.functions.emplace(number, std::make_shared<const HostFunction>(std::move(function)));
  return number;
}

void ForgetHostFunction(int64_t number) {
  std::shared_ptr<const HostFunction> last;  // destroyed without the lock: it may run user code
  Registry& registry = GlobalRegistry();
  std::lock_guard lock(registry.mutex);
  auto it = registry.functions.find(number);
  if (it == registry.functions.end()) return;
  last = std::move(it->second);
  registry.functions.erase(it);
}

KernelChoice MakeHostCall(const KernelRequest& request) {
  return std::make_unique<HostCall>(request.attr<int64_t>("function"), request.in, request.out);
}

}  // namespace ms
