#include "backends/cpu/strided_copy.h"

#include <cstring>

#include "backends/cpu/isa.h"
#include "base/items.h"
#include "kernel/parallel.h"

namespace ms::cpu {

// out[c * out_stride + r * item] = in[r * in_stride + c * item] for r < rows, c < cols; strides in
// bytes.
MS_DECLARE_ISA(void TransposeBlock(const char* in, char* out, int64_t rows, int64_t cols,
                                   int64_t in_stride, int64_t out_stride, size_t item);)

namespace {

constexpr int64_t kTile =
    32;  // columns of a transposition that one task handles: whole cache lines on both sides

constexpr int64_t kShortRow = 16;

__extension__ typedef unsigned __int128 Bytes16;

bool IsItem(size_t bytes) {
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
}

template <class T>
void CopyRow(const char* in, char* out, int64_t n, int64_t in_stride, int64_t out_stride) {
  // Neighbours that move together may begin at any address.
  typedef T Item __attribute__((aligned(1), may_alias));
  constexpr int64_t kSize = sizeof(T);
  auto* to = reinterpret_cast<Item*>(out);
  const auto* from = reinterpret_cast<const Item*>(in);
  if (out_stride == kSize && in_stride == 0) {
    T value = *from;
    for (int64_t i = 0; i < n; ++i) to[i] = value;
  } else if (out_stride == kSize && in_stride == -kSize) {
    for (int64_t i = 0; i < n; ++i) to[i] = from[-i];
  } else if (out_stride == kSize && in_stride == 2 * kSize) {
    for (int64_t i = 0; i < n; ++i) to[i] = from[2 * i];
  } else {
    for (int64_t i = 0; i < n; ++i)
      *reinterpret_cast<Item*>(out + i * out_stride) =
          *reinterpret_cast<const Item*>(in + i * in_stride);
  }
}

}  // namespace

void Odometer::Seek(int64_t position) {
  offset_a_ = offset_b_ = 0;
  for (size_t i = dims_.size(); i-- > 0;) {
    index_[i] = position % dims_[i];
    position /= dims_[i];
    offset_a_ += index_[i] * a_[i];
    offset_b_ += index_[i] * b_[i];
  }
}

void Odometer::Next() {
  for (size_t i = dims_.size(); i-- > 0;) {
    offset_a_ += a_[i];
    offset_b_ += b_[i];
    if (++index_[i] < dims_[i]) return;
    offset_a_ -= dims_[i] * a_[i];
    offset_b_ -= dims_[i] * b_[i];
    index_[i] = 0;
  }
}

StridedCopy::StridedCopy(const Ints& dims, const Ints& out_strides, const Ints& in_strides,
                         size_t item) {
  total_bytes_ = item;
  for (int64_t d : dims) total_bytes_ *= static_cast<size_t>(d);
  if (total_bytes_ == 0) return;
  auto size = static_cast<int64_t>(item);
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    int64_t out = out_strides[i] * size, in = in_strides[i] * size;
    if (!dims_.empty() && out_.back() == out * dims[i] && in_.back() == in * dims[i]) {
      dims_.back() *= dims[i];
      out_.back() = out;
      in_.back() = in;
    } else {
      dims_.push_back(dims[i]);
      out_.push_back(out);
      in_.push_back(in);
    }
  }
  block_ = item;
  auto pop = [&] { dims_.pop_back(), out_.pop_back(), in_.pop_back(); };
  if (!dims_.empty() && out_.back() == size && in_.back() == size) {
    block_ *= static_cast<size_t>(dims_.back());
    pop();
  }
  rows_ = 1;
  if (dims_.empty()) return;
  inner_ = dims_.back();
  inner_out_ = out_.back();
  inner_in_ = in_.back();
  pop();
  auto block = static_cast<int64_t>(block_);
  for (size_t i = 0; i < dims_.size() && IsItem(block_) && inner_out_ == block; ++i) {
    if (in_[i] != block) continue;
    transposed_ = true;
    cols_ = dims_[i];
    cols_out_ = out_[i];
    dims_.erase(dims_.begin() + static_cast<std::ptrdiff_t>(i));
    out_.erase(out_.begin() + static_cast<std::ptrdiff_t>(i));
    in_.erase(in_.begin() + static_cast<std::ptrdiff_t>(i));
    break;
  }
  for (int64_t d : dims_) rows_ *= d;
}

void StridedCopy::Run(const void* in, void* out) const {
  if (total_bytes_ == 0) return;
  if (inner_ == 1 && dims_.empty()) return ParallelCopy(out, in, block_);
  if (transposed_) return RunTransposed(static_cast<const char*>(in), static_cast<char*>(out));
  RunRows(static_cast<const char*>(in), static_cast<char*>(out));
}

// Rows of few elements: the step from one to the next is taken without a call along the last axis.
template <class T>
void StridedCopy::CopyShortRows(const char* in, char* out, int64_t begin, int64_t end) const {
  typedef T Item __attribute__((aligned(1), may_alias));
  int64_t length = dims_.back(), next_in = in_.back(), next_out = out_.back();
  Odometer at(dims_, out_, in_);
  for (int64_t row = begin; row < end;) {
    at.Seek(row);
    int64_t last = std::min(end, row + length - row % length);
    const char* from = in + at.b();
    char* to = out + at.a();
    for (; row < last; ++row, from += next_in, to += next_out) {
      for (int64_t i = 0; i < inner_; ++i)
        *reinterpret_cast<Item*>(to + i * inner_out_) =
            *reinterpret_cast<const Item*>(from + i * inner_in_);
    }
  }
}

void StridedCopy::RunRows(const char* in, char* out) const {
  // A row that is long is cut, so that few rows still use all threads.
  int64_t pieces = std::max<int64_t>(1, static_cast<int64_t>(block_) * inner_ / (1 << 17));
  pieces = std::min(pieces, inner_);
  double ns = cost_ns() / static_cast<double>(rows_ * pieces);
  if (IsItem(block_) && inner_ <= kShortRow && !dims_.empty()) {
    return ParallelFor(rows_, ns, [&](int64_t begin, int64_t end) {
      VisitItem<Bytes16>(block_,
                         [&](auto tag) { CopyShortRows<decltype(tag)>(in, out, begin, end); });
    });
  }
  ParallelFor(rows_ * pieces, ns, [&](int64_t begin, int64_t end) {
    Odometer at(dims_, out_, in_);
    at.Seek(begin / pieces);
    for (int64_t task = begin; task < end; ++task) {
      int64_t piece = task % pieces;
      int64_t first = inner_ * piece / pieces, n = inner_ * (piece + 1) / pieces - first;
      const char* from = in + at.b() + first * inner_in_;
      char* to = out + at.a() + first * inner_out_;
      if (IsItem(block_)) {
        VisitItem<Bytes16>(
            block_, [&](auto tag) { CopyRow<decltype(tag)>(from, to, n, inner_in_, inner_out_); });
      } else {
        for (int64_t i = 0; i < n; ++i)
          std::memcpy(to + i * inner_out_, from + i * inner_in_, block_);
      }
      if (piece + 1 == pieces) at.Next();
    }
  });
}

void StridedCopy::RunTransposed(const char* in, char* out) const {
  static const auto transpose = MS_PICK_ISA(TransposeBlock);
  int64_t tiles = (cols_ + kTile - 1) / kTile;
  auto block = static_cast<int64_t>(block_);
  double ns = static_cast<double>(total_bytes_) * 0.3 / static_cast<double>(rows_ * tiles);
  ParallelFor(rows_ * tiles, ns, [&](int64_t begin, int64_t end) {
    Odometer at(dims_, out_, in_);
    at.Seek(begin / tiles);
    for (int64_t task = begin; task < end; ++task) {
      int64_t first = task % tiles * kTile;
      transpose(in + at.b() + first * block, out + at.a() + first * cols_out_, inner_,
                std::min(kTile, cols_ - first), inner_in_, cols_out_, block_);
      if (task % tiles == tiles - 1) at.Next();
    }
  });
}

void ParallelCopy(void* out, const void* in, size_t bytes) {
  constexpr int64_t kChunk = 1 << 16;
  int64_t chunks = (static_cast<int64_t>(bytes) + kChunk - 1) / kChunk;
  ParallelFor(chunks, kChunk * 0.1, [&](int64_t begin, int64_t end) {
    size_t first = static_cast<size_t>(begin * kChunk),
           last = std::min(bytes, static_cast<size_t>(end * kChunk));
    std::memcpy(static_cast<char*>(out) + first, static_cast<const char*>(in) + first,
                last - first);
  });
}

}  // namespace ms::cpu
