// What a device must be: a table that maps an op and types to a kernel. An entry is an ordered list
// of makers; the first that accepts wins and every refusal carries its reason to the user.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/op.h"
#include "kernel/random.h"
#include "kernel/stream.h"

namespace ms {

// What is launched, and for which line of the program.
struct LaunchPlace {
  const OpDef* op = nullptr;
  SpanId span = 0;  // 0: unknown
};

// Addresses are of the device's memory. They stay valid until the work that a launch gives the
// stream is done, as memory that is freed meanwhile goes back in the order of the stream; the
// tables of addresses, and what else is pointed to here, do not outlast the launch.
struct KernelArgs {
  const void* const* in = nullptr;  // dense, row-major, as the types said
  void* const* out = nullptr;  // not initialised; may equal an input only as the op's facts allow
  void* workspace = nullptr;   // Kernel::workspace_bytes() bytes, 64-byte aligned
  RandomState* random = nullptr;       // for ops with Effect::kRandom
  Stream* stream = nullptr;            // null inside another kernel of the host
  const LaunchPlace* place = nullptr;  // null where nobody knows
};

// An op prepared for given types and attributes: immutable, shared between threads.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // On the host: computes. On a device: gives the stream the work, reporting what is found wrong
  // later to it.
  virtual void Run(const KernelArgs& args) const = 0;
  size_t workspace_bytes() const { return workspace_bytes_; }
  // Rough time on one core; decides whether the GIL is worth releasing.
  double cost_ns() const { return cost_ns_; }
  // For dumps: what a kernel that stands for several launches runs.
  virtual std::string Contents() const { return ""; }

 protected:
  size_t workspace_bytes_ = 0;
  double cost_ns_ = 0;
  friend class KernelTable;
};

struct KernelRequest {
  const OpDef& op;
  const Types& in;
  const Types& out;
  const Attrs& attrs;

  DType dtype(size_t i) const { return in[i].dtype(); }
  const Shape& shape(size_t i) const { return in[i].shape(); }
  template <class T>
  const T& attr(std::string_view name) const {
    return AttrOf<T>(op, attrs, name);
  }
};

struct KernelChoice {
  std::unique_ptr<Kernel> kernel;
  std::string refusal;  // why there is none
  KernelChoice(std::unique_ptr<Kernel> k)
      : kernel(std::move(k)) {}  // NOLINT: makers return kernels
  template <class K>
  KernelChoice(std::unique_ptr<K> k) : kernel(std::move(k)) {}  // NOLINT
  explicit KernelChoice(std::string why) : refusal(std::move(why)) {}
};

template <class... Args>
KernelChoice No(fmt::format_string<Args...> format, Args&&... args) {
  return KernelChoice(fmt::format(format, std::forward<Args>(args)...));
}

using KernelMaker = std::function<KernelChoice(const KernelRequest&)>;

// A kernel from a function of the arguments: for kernels that need no class of their own.
KernelChoice FunctionKernel(std::function<void(const KernelArgs&)> run, double cost_ns,
                            size_t workspace_bytes = 0);

class KernelTable {
 public:
  // What each device has: HostCall.
  KernelTable();

  class Entry {
   public:
    Entry& Try(std::string name, KernelMaker maker) {
      makers_.emplace_back(std::move(name), std::move(maker));
      return *this;
    }

   private:
    friend class KernelTable;
    std::vector<std::pair<std::string, KernelMaker>> makers_;
  };

  Entry& For(std::string_view op) { return entries_[std::string(op)]; }
  // Tried last, for every op with a scalar body.
  Entry& ForScalar() { return scalar_; }
  bool Has(const OpDef& op) const;
  // Throws `For 'X', no kernel on <device> accepts ...` with all refusals.
  std::shared_ptr<const Kernel> Find(const KernelRequest& request, std::string_view device) const;

 private:
  std::unordered_map<std::string, Entry> entries_;
  Entry scalar_;
};

struct Layouts;
class Transport;

// A device that computes on the host needs kernels alone.
class Backend {
 public:
  explicit Backend(Memory& memory = HostMemory()) : memory_(memory) {}
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  virtual const KernelTable& kernels() const = 0;
  virtual const Layouts& layouts() const;  // none of its own, if not said otherwise
  // A number of what its makers go by beside the request, such as settings of the program: kernels
  // that were chosen under another one are not found again.
  virtual uint64_t choices() const { return 0; }

  Memory& memory() const { return memory_; }
  // The stream of all work that names no other, which the memory follows too.
  virtual Stream& stream() const;
  virtual std::unique_ptr<Stream> NewStream() const;
  // Brings this process together with others, by the engine in a library. `windows`: those of one
  // host may share memory. RuntimeError if not said otherwise.
  virtual std::unique_ptr<Transport> NewTransport(const std::string& library, bool windows) const;

 private:
  Memory& memory_;
};

// Backends are registered once and stay.
void RegisterBackend(std::unique_ptr<Backend> backend);
const Backend& GetBackend(std::string_view name);  // ValueError lists what there is
std::vector<std::string> BackendNames();

// The device of eager code and of what is compiled from now on: the host's, or the first one that
// was registered, until another one is set.
const Backend& CurrentBackend();
void SetCurrentBackend(std::string_view name);

}  // namespace ms
