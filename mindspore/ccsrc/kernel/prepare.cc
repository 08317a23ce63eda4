#include "kernel/prepare.h"

#include <algorithm>
#include <list>
#include <unordered_map>

#include "base/mutex.h"

namespace ms {
namespace {

constexpr size_t kCapacity = 8192;

// Who is to choose a kernel.
struct Chooser {
  const Backend* backend;
  uint64_t choices;
  bool operator==(const Chooser&) const = default;
};
Chooser ChooserOf(const Backend& backend) { return {&backend, backend.choices()}; }

// What a kernel was prepared for; a look-up compares with the request itself and copies nothing.
struct Key {
  Chooser chooser;
  const OpDef* op;
  Types in;
  Types out;
  Attrs attrs;
  size_t hash;
};

size_t StrongHash(const Type& t) { return t.weak() ? t.Strong().Hash() : t.Hash(); }

bool SameStrong(const Types& strong, const Types& types) {
  return std::equal(
      strong.begin(), strong.end(), types.begin(), types.end(),
      [](const Type& a, const Type& b) { return b.weak() ? a == b.Strong() : a == b; });
}

bool Fits(const Key& key, const Chooser& chooser, const KernelRequest& request) {
  return key.chooser == chooser && key.op == &request.op && SameStrong(key.in, request.in) &&
         SameStrong(key.out, request.out) && Equal(key.attrs, request.attrs);
}

Types Strong(const Types& types) {
  Types strong;
  strong.reserve(types.size());
  for (const Type& t : types) strong.push_back(t.Strong());
  return strong;
}

size_t HashOf(const Chooser& chooser, const KernelRequest& request) {
  size_t hash = HashCombine(std::hash<const void*>()(chooser.backend), chooser.choices);
  hash = HashCombine(hash, std::hash<const void*>()(&request.op));
  for (const Type& t : request.in) hash = HashCombine(hash, StrongHash(t));
  for (const Type& t : request.out) hash = HashCombine(hash, StrongHash(t) + 1);
  return HashCombine(hash, Hash(request.attrs));
}

// A kernel made from a graph may refer to it, and another graph may later live at the same address.
bool Cacheable(const Attrs& attrs) {
  return std::none_of(attrs.begin(), attrs.end(),
                      [](const Attr& a) { return std::holds_alternative<Graph*>(a); });
}

class SharedKernels {
 public:
  std::shared_ptr<const Kernel> Find(const Chooser& chooser, const KernelRequest& request,
                                     size_t hash) {
    std::lock_guard lock(mutex_);
    auto it = Position(chooser, request, hash);
    if (it == entries_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, it);
    return it->kernel;
  }

  // Another thread may have been quicker: then its kernel is the one that all use.
  std::shared_ptr<const Kernel> Insert(const Chooser& chooser, const KernelRequest& request,
                                       size_t hash, std::shared_ptr<const Kernel> kernel) {
    std::lock_guard lock(mutex_);
    if (auto it = Position(chooser, request, hash); it != entries_.end()) return it->kernel;
    Key key{chooser, &request.op, Strong(request.in), Strong(request.out), request.attrs, hash};
    entries_.push_front({std::move(key), std::move(kernel)});
    index_.emplace(hash, entries_.begin());
    if (entries_.size() > kCapacity) DropLast();
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
  using Entries = std::list<Entry>;

  Entries::iterator Position(const Chooser& chooser, const KernelRequest& request, size_t hash) {
    auto [first, last] = index_.equal_range(hash);
    for (auto it = first; it != last; ++it) {
      if (Fits(it->second->key, chooser, request)) return it->second;
    }
    return entries_.end();
  }

  void DropLast() {
    auto [first, last] = index_.equal_range(entries_.back().key.hash);
    auto is_last = [&](const auto& item) { return &*item.second == &entries_.back(); };
    index_.erase(std::find_if(first, last, is_last));
    entries_.pop_back();
  }

  Mutex mutex_;
  Entries entries_;                                           // most recently used first
  std::unordered_multimap<size_t, Entries::iterator> index_;  // by the hash of the key
};

SharedKernels& Shared() {
  static auto* kernels =
      new SharedKernels;  // never destroyed: other static objects may still run kernels
  return *kernels;
}

}  // namespace

std::shared_ptr<const Kernel> PrepareKernel(const Backend& backend, const KernelRequest& request) {
  if (!Cacheable(request.attrs)) return backend.kernels().Find(request, backend.name());
  Chooser chooser = ChooserOf(backend);
  size_t hash = HashOf(chooser, request);
  if (auto kernel = Shared().Find(chooser, request, hash)) return kernel;
  auto kernel = backend.kernels().Find(request, backend.name());  // may take long: without the lock
  if (!(ChooserOf(backend) == chooser)) return kernel;            // who knows by which choice
  return Shared().Insert(chooser, request, hash, std::move(kernel));
}

size_t PreparedKernelCount() { return Shared().size(); }
void ClearPreparedKernels() { Shared().Clear(); }

}  // namespace ms
