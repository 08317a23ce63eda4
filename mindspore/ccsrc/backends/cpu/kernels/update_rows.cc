// Updates of the rows of a table that a Gather has read. Where the update leaves elements without a
// gradient as they are and is made in place, no other row is touched; otherwise the gradient of the
// whole table is made first, and the update is that of all elements.
#include <cmath>
#include <cstring>

#include "backends/cpu/kernels/indexing.h"
#include "backends/cpu/kernels/optim.h"
#include "backends/cpu/strided_copy.h"
#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

size_t Aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

// Numbers the distinct positions in the order in which they appear: slot[i] is the number of at[i],
// and distinct[slot[i]] == at[i]. `table` has room for `size` entries, a power of two above 2 n.
int64_t NumberDistinct(const int64_t* at, int64_t n, int64_t* slot, int64_t* distinct,
                       int64_t* table, int64_t size) {
  std::fill(table, table + size, -1);
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) {
    auto h = static_cast<int64_t>((static_cast<uint64_t>(at[i]) * 0x9e3779b97f4a7c15u) >> 20);
    for (h &= size - 1; table[h] >= 0 && distinct[table[h]] != at[i]; h = (h + 1) & (size - 1)) {
    }
    if (table[h] < 0) {
      table[h] = count;
      distinct[count++] = at[i];
    }
    slot[i] = table[h];
  }
  return count;
}

// Inputs: parameters, gradients of the gathered rows, learning rate, accum, momentum, stat,
// indices.
class UpdateRowsKernel : public Kernel {
 public:
  explicit UpdateRowsKernel(const KernelRequest& r)
      : run_(UpdateOf(r.dtype(0))),
        dtype_(r.dtype(0)),
        index_dtype_(r.dtype(6)),
        rate_dtype_(r.dtype(2)),
        momentum_dtype_(r.dtype(4)),
        rows_(r.shape(6).size()),
        size_(r.shape(0)[0]),
        inner_(r.shape(0).Product(1, r.shape(0).rank())),
        dampening_(r.attr<double>("dampening")),
        decay_(r.attr<double>("weight_decay")),
        nesterov_(r.attr<bool>("nesterov")) {
    while (hash_ < 2 * rows_ + 2) hash_ *= 2;
    RowWriter few{Write::kAdd, dtype_, rows_, rows_, inner_};
    RowWriter all{Write::kAdd, dtype_, rows_, size_, inner_};
    positions_ = Aligned(static_cast<size_t>(3 * rows_ + hash_) * 8);
    workspace_bytes_ = positions_ + Aligned(Bytes(std::max(rows_, size_))) +
                       std::max(few.wide_bytes(), all.wide_bytes());
    cost_ns_ = few.cost_ns() * 2;
  }

  void Run(const KernelArgs& a) const override {
    auto* at = static_cast<int64_t*>(a.workspace);
    ReadPositions(a.in[6], index_dtype_, rows_, size_, Negative::kFromEnd, "SGDRows", at);
    double k[5] = {ReadScalar(a.in[2], rate_dtype_), ReadScalar(a.in[4], momentum_dtype_),
                   dampening_, decay_, nesterov_ ? 1.0 : 0.0};
    bool in_place = a.out[0] == a.in[0] && a.out[1] == a.in[3] && a.out[2] == a.in[5];
    bool leaves_rest = k[1] == 0 && decay_ == 0 && std::isfinite(k[0]);
    if (in_place && leaves_rest)
      RunRows(a, at, k);
    else
      RunAll(a, at, k);
  }

 private:
  size_t Bytes(int64_t rows) const { return static_cast<size_t>(rows * inner_) * ItemSize(dtype_); }

  // Sums of rows at `slots`, in the order of the rows.
  char* Add(const KernelArgs& a, const int64_t* slots, int64_t count) const {
    char* sums = static_cast<char*>(a.workspace) + positions_;
    const uint64_t zero[2] = {};
    ParallelFill(sums, zero, count * inner_, ItemSize(dtype_));
    auto* wide = reinterpret_cast<float*>(sums + Aligned(Bytes(count)));
    RowWriter{Write::kAdd, dtype_, rows_, count, inner_}.Run(slots, a.in[1], sums, wide);
    return sums;
  }

  void RunAll(const KernelArgs& a, const int64_t* at, const double* k) const {
    const void* in[] = {a.in[0], a.in[3], a.in[5], Add(a, at, size_)};
    ParallelFor(size_ * inner_, 0.6, [&](int64_t begin, int64_t end) {
      run_(UpdateKind::kSgd, k, nullptr, in, a.out, begin, end);
    });
  }

  void RunRows(const KernelArgs& a, int64_t* at, const double* k) const {
    int64_t *slot = at + rows_, *distinct = slot + rows_, *table = distinct + rows_;
    int64_t count = NumberDistinct(at, rows_, slot, distinct, table, hash_);
    const char* sums = Add(a, slot, count);
    auto item = static_cast<int64_t>(ItemSize(dtype_));
    ParallelFor(count, 5 + 0.6 * static_cast<double>(inner_), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t first = distinct[i] * inner_;
        // As if the sums were rows of the whole table.
        auto base = reinterpret_cast<uintptr_t>(sums) +
                    static_cast<uintptr_t>((i - distinct[i]) * inner_ * item);
        const void* in[] = {a.in[0], a.in[3], a.in[5], reinterpret_cast<const void*>(base)};
        run_(UpdateKind::kSgd, k, nullptr, in, a.out, first, first + inner_);
      }
    });
  }

  UpdateFn run_;
  DType dtype_, index_dtype_, rate_dtype_, momentum_dtype_;
  int64_t rows_, size_, inner_, hash_ = 16;
  double dampening_, decay_;
  bool nesterov_;
  size_t positions_ = 0;
};

KernelChoice MakeUpdateRows(const KernelRequest& r) {
  if (!UpdateOf(r.dtype(0))) return No("needs a float type, got {}", Name(r.dtype(0)));
  return std::make_unique<UpdateRowsKernel>(r);
}

}  // namespace

void AddUpdateRows(KernelTable& table) { table.For("SGDRows").Try("rows", MakeUpdateRows); }

}  // namespace ms::cpu
