#include "kernel/prepare.h"

#include <algorithm>
#include <list>
#include <mutex>

namespace ms {
namespace {

constexpr size_t kCapacity = 8192;

struct Key {
  const Backend* backend;
  const OpDef* op;
  Types in;
  Types out;
  Attrs attrs;
  size_t hash;

  bool operator==(const Key& other) const {
    return hash == other.hash && backend == other.backend && op == other.op && in == other.in &&
           out == other.out && Equal(attrs, other.attrs);
  }
};

struct KeyHash {
  size_t operator()(const Key* key) const { return key->hash; }
};
struct KeyEqual {
  bool operator()(const Key* a, const Key* b) const { return *a == *b; }
};

Types Strong(const Types& types) {
  Types strong;
  strong.reserve(types.size());
  for (const Type& t : types) strong.push_back(t.Strong());
  return strong;
}

Key MakeKey(const Backend& backend, const KernelRequest& request) {
  Key key{&backend, &request.op, Strong(request.in), Strong(request.out), request.attrs, 0};
  size_t hash =
      HashCombine(std::hash<const void*>()(key.backend), std::hash<const void*>()(key.op));
  for (const Type& t : key.in) hash = HashCombine(hash, t.Hash());
  for (const Type& t : key.out) hash = HashCombine(hash, t.Hash() + 1);
  key.hash = HashCombine(hash, Hash(key.attrs));
  return key;
}

// A kernel made from a graph may refer to it, and another graph may later live at the same address.
bool Cacheable(const Attrs& attrs) {
  return std::none_of(attrs.begin(), attrs.end(),
                      [](const Attr& a) { return std::holds_alternative<Graph*>(a); });
}

class SharedKernels {
 public:
  std::shared_ptr<const Kernel> Find(const Key& key) {
    std::lock_guard lock(mutex_);
    auto it = index_.find(&key);
    if (it == index_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, it->second);
    return it->second->kernel;
  }

  // Another thread may have been quicker: then its kernel is the one that all use.
  std::shared_ptr<const Kernel> Insert(Key key, std::shared_ptr<const Kernel> kernel) {
    std::lock_guard lock(mutex_);
    if (auto it = index_.find(&key); it != index_.end()) return it->second->kernel;
    entries_.push_front({std::move(key), std::move(kernel)});
    index_.emplace(&entries_.front().key, entries_.begin());
    if (entries_.size() > kCapacity) {
      index_.erase(&entries_.back().key);
      entries_.pop_back();
    }
    return entries_.front().kernel;
  }

  size_t size() {
    std::lock_guard lock(mutex_);
    return entries_.size();
  }

  void Clear() {
    std::lock_guard lock(mutex_);
    index_.clear();
    entries_.clear();
  }

 private:
  struct Entry {
    Key key;
    std::shared_ptr<const Kernel> kernel;
  };
  std::mutex mutex_;
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<const Key*, std::list<Entry>::iterator, KeyHash, KeyEqual> index_;
};

SharedKernels& Shared() {
  static auto* kernels =
      new SharedKernels;  // never destroyed: other static objects may still run kernels
  return *kernels;
}

}  // namespace

std::shared_ptr<const Kernel> PrepareKernel(const Backend& backend, const KernelRequest& request) {
  if (!Cacheable(request.attrs)) return backend.kernels().Find(request, backend.name());
  Key key = MakeKey(backend, request);
  if (auto kernel = Shared().Find(key)) return kernel;
  auto kernel = backend.kernels().Find(request, backend.name());  // may take long: without the lock
  return Shared().Insert(std::move(key), std::move(kernel));
}

size_t PreparedKernelCount() { return Shared().size(); }
void ClearPreparedKernels() { Shared().Clear(); }

}  // namespace ms
