#include "backends/cuda/policy.h"

#include <cstdlib>
#include <string_view>

namespace ms::cuda {

Policy& ThePolicy() {
  static auto* policy = [] {
    auto* made = new Policy;
    auto off = [](const char* variable) {
      const char* value = std::getenv(variable);
      return value && std::string_view(value) == "0";
    };
    made->records = !off("MS_CUDA_GRAPHS");
    made->branches = !off("MS_CUDA_BRANCHES");
    return made;
  }();
  return *policy;
}

}  // namespace ms::cuda

// For Python, at any time: a setting by its name. 0: there is none of that name.
extern "C" __attribute__((visibility("default"))) int ms_backend_set(const char* name, int value) {
  ms::cuda::Policy& policy = ms::cuda::ThePolicy();
  std::string_view wanted = name;
  std::atomic<bool>* setting = wanted == "conv_allow_tf32"     ? &policy.convolutions_tf32
                               : wanted == "matmul_allow_tf32" ? &policy.products_tf32
                               : wanted == "deterministic"     ? &policy.deterministic
                               : wanted == "records"           ? &policy.records
                               : wanted == "branches"          ? &policy.branches
                                                               : nullptr;
  if (!setting) return 0;
  if (setting->exchange(value != 0) != (value != 0)) ++policy.changes;
  return 1;
}
