#include "kernel/layout.h"

#include <mutex>

namespace ms {
namespace {

std::mutex mutex;

std::unordered_map<std::string, Layouts>& ByBackend() {
  static auto* layouts = new std::unordered_map<std::string, Layouts>;
  return *layouts;
}

}  // namespace

void SetLayouts(std::string_view backend, const Layouts& layouts) {
  std::lock_guard lock(mutex);
  ByBackend()[std::string(backend)] = layouts;
}

Layouts LayoutsOf(std::string_view backend) {
  std::lock_guard lock(mutex);
  auto it = ByBackend().find(std::string(backend));
  return it == ByBackend().end() ? Layouts{} : it->second;
}

}  // namespace ms
