#include "passes/parallel/pieces.h"

#include <cstring>

namespace ms::parallel {
namespace {

// Calls copy(offset in the whole, offset in the piece, bytes) for each row of the box.
template <class F>
void ForRows(const Shape& whole, const Box& box, size_t item, F&& copy) {
  size_t rank = box.size();
  std::vector<size_t> stride(rank + 1, item);
  int64_t elements = 1;
  for (size_t d = rank; d-- > 0;) {
    stride[d] = stride[d + 1] * static_cast<size_t>(whole[static_cast<int>(d)]);
    elements *= box[d].size;
  }
  if (elements == 0) return;
  int64_t row = rank ? box[rank - 1].size : 1;
  std::vector<int64_t> at(rank, 0);
  for (int64_t done = 0; done < elements; done += row) {
    size_t offset = 0;
    for (size_t d = 0; d < rank; ++d)
      offset += static_cast<size_t>(box[d].offset + at[d]) * stride[d + 1];
    copy(offset, static_cast<size_t>(done) * item, static_cast<size_t>(row) * item);
    for (size_t d = rank > 0 ? rank - 1 : 0; d-- > 0;) {
      if (++at[d] < box[d].size) break;
      at[d] = 0;
    }
  }
}

}  // namespace

Tensor Cutout(const Tensor& whole, const Box& box) {
  Ints sizes;
  for (const Extent& extent : box) sizes.push_back(extent.size);
  Tensor host = whole.OnHost(), piece(whole.dtype(), Shape(sizes));
  ForRows(host.shape(), box, ItemSize(host.dtype()), [&](size_t from, size_t to, size_t bytes) {
    std::memcpy(piece.data<char>() + to, host.data<char>() + from, bytes);
  });
  return piece;
}

void Insert(const Tensor& piece, const Box& box, Tensor* whole) {
  Tensor host = piece.OnHost();
  ForRows(whole->shape(), box, ItemSize(host.dtype()), [&](size_t to, size_t from, size_t bytes) {
    std::memcpy(whole->data<char>() + to, host.data<char>() + from, bytes);
  });
}

}  // namespace ms::parallel
