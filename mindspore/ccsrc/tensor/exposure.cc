#include "tensor/exposure.h"

#include <atomic>

namespace ms {
namespace {

std::atomic<uint64_t> exposures{0};

}  // namespace

void Expose(const Tensor& tensor) {
  if (!tensor.buffer()) return;
  tensor.buffer()->Expose();
  if (!tensor.buffer().unique()) exposures.fetch_add(1);
}

void Conceal(const Tensor& tensor) {
  if (tensor.buffer()) tensor.buffer()->Conceal();
}

uint64_t Exposures() { return exposures.load(); }

Tensor Snapshot(const Tensor& tensor) { return tensor.exposed() ? tensor.Copy() : tensor; }

}  // namespace ms
