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

void BeingWritten::Add(const Tensor& tensor) {
  if (!tensor.buffer()) return;
  buffers_.push_back(tensor.buffer().get());
  buffers_.back()->Expose();
}

BeingWritten::~BeingWritten() {
  for (Buffer* buffer : buffers_) buffer->Conceal();
}

uint64_t Exposures() { return exposures.load(); }

Tensor Snapshot(const Tensor& tensor) { return tensor.exposed() ? tensor.Copy() : tensor; }

}  // namespace ms
