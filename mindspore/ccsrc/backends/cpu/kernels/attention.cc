// Attention in float32 by blocks (attention_isa.cc): how the work is dealt out. Half types go
// through float32, float64 has the plain loops of attention_reference.cc.
#include <omp.h>

#include <cmath>
#include <vector>

#include "backends/cpu/cpu.h"
#include "backends/cpu/kernels/attention_loops.h"
#include "backends/cpu/kernels/in_float32.h"
#include "kernel/parallel.h"
#include "kernel/sample_part.h"

namespace ms::cpu {

AttentionSizes::AttentionSizes(const KernelRequest& r) {
  const Shape &q = r.shape(0), &k = r.shape(1), &v = r.shape(2), &mask = r.shape(3);
  lead = q.Part(0, q.rank() - 2);
  heads = lead.size();
  queries = q[-2];
  depth = q[-1];
  keys = k[-2];
  value_depth = v[-1];
  scale = r.attr<double>("scale");
  fill = r.attr<double>("fill");
  keep = r.attr<double>("keep_prob");
  causal = r.attr<bool>("causal");
  hides = r.attr<bool>("masked") && IsBool(r.dtype(3));
  adds = r.attr<bool>("masked") && !hides;
  mask_step.assign(static_cast<size_t>(lead.rank()), 0);
  int64_t step = 1;
  for (int i = mask.rank() - 1; i >= 0; --i) {
    int axis = i + q.rank() - mask.rank();
    int64_t stride = mask[i] == 1 ? 0 : step;
    if (axis == q.rank() - 1)
      mask_column = stride;
    else if (axis == q.rank() - 2)
      mask_row = stride;
    else
      mask_step[static_cast<size_t>(axis)] = stride;
    step *= mask[i];
  }
  masks = mask.rank() > 2 ? mask.Product(0, mask.rank() - 2) : 1;
}

int64_t AttentionSizes::MaskOffset(int64_t head) const {
  int64_t offset = 0;
  for (int axis = lead.rank() - 1; axis >= 0; --axis) {
    offset += head % lead[axis] * mask_step[static_cast<size_t>(axis)];
    head /= lead[axis];
  }
  return offset;
}

AttentionDropout DropoutOf(const AttentionSizes& s, const void* random_key, int64_t head) {
  AttentionDropout d;
  if (s.keep == 1) return d;
  const auto* key = static_cast<const uint64_t*>(random_key);
  d.key = {key[0], key[1]};
  d.last = static_cast<uint32_t>(DropoutThreshold(s.keep) - 1);
  d.first = (FirstElement(s.lead) + head) * s.queries * s.keys;
  return d;
}

int64_t AttentionScratch(const AttentionSizes& s) {
  constexpr int64_t kMostColumns = 64, kParts = 6 * 16;
  return (s.keys + kMostColumns) * s.depth + kQueryBlock * (s.depth + kKeyBlock) +
         (kQueryBlock + s.keys) * (s.value_depth + 16) + kKeyBlock + 2 * kWordsPerGroup + kParts;
}

int64_t AttentionGradScratch(const AttentionSizes& s) {
  constexpr int64_t kParts = 12 * 16;
  int64_t width = s.depth + 16, value_width = s.value_depth + 16;
  return s.queries * (2 * width + value_width + 2) + kGradKeyBlock * (3 * width + 2 * value_width) +
         2 * kQueryBlock * kGradKeyBlock + kGradKeyBlock + 2 * kWordsPerGroup + kParts;
}

namespace {

constexpr double kNsPerProduct = 1.0 / 60;

// Memory of the calling thread that stays for the next call, at the start of a cache line.
float* ThreadScratch(int64_t floats) {
  thread_local std::vector<float> memory;
  if (memory.size() < static_cast<size_t>(floats) + 16) memory.resize(floats + 16);
  auto address = reinterpret_cast<uintptr_t>(memory.data());
  return reinterpret_cast<float*>((address + 63) / 64 * 64);
}

// How far the rows of a mask reach (AttentionReach), for all heads at once.
class Reaches {
 public:
  explicit Reaches(const AttentionSizes& s)
      : rows_(s.mask_row == 0 ? 1 : s.queries),
        known_((s.hides || s.adds) && s.mask_column != 0 && s.Work() > 0) {}
  size_t bytes(const AttentionSizes& s) const {
    return known_ ? static_cast<size_t>(s.masks * rows_) * sizeof(int64_t) : 0;
  }
  void Find(const AttentionSizes& s, const KernelArgs& args, int64_t* table) const {
    if (!known_) return;
    float bound = Bound(s, args);
    size_t item = s.hides ? 1 : sizeof(float);
    int64_t step = s.mask_row == 0 ? s.keys : s.mask_row;
    auto* reach = MS_PICK_ISA(AttentionReach);
    ParallelFor(s.masks * rows_, 0.1 * static_cast<double>(s.keys),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i) {
                    const char* row =
                        static_cast<const char*>(args.in[3]) + static_cast<size_t>(i * step) * item;
                    table[i] = reach(s, row, rows_ == 1 ? 0 : i % rows_, bound);
                  }
                });
  }
  const int64_t* Of(const AttentionSizes& s, int64_t head, const int64_t* table) const {
    if (!known_) return nullptr;
    return table + s.MaskOffset(head) / (s.mask_row == 0 ? s.keys : s.mask_row);
  }

 private:
  static float Bound(const AttentionSizes& s, const KernelArgs& args) {
    auto* of_head = MS_PICK_ISA(AttentionBound);
    std::vector<float> bounds(static_cast<size_t>(s.heads));
    ParallelFor(s.heads, 0.2 * static_cast<double>((s.queries + s.keys) * s.depth),
                [&](int64_t begin, int64_t end) {
                  for (int64_t h = begin; h < end; ++h) {
                    bounds[static_cast<size_t>(h)] =
                        of_head(s, static_cast<const float*>(args.in[0]) + h * s.queries * s.depth,
                                static_cast<const float*>(args.in[1]) + h * s.keys * s.depth);
                  }
                });
    float most = 0;
    for (float b : bounds) most = b <= most ? most : b;  // nan stays
    return most;
  }

  int64_t rows_;
  bool known_;
};

AttentionHead HeadOf(const AttentionSizes& s, const KernelArgs& args, int64_t head,
                     const int64_t* reach) {
  auto input = [&](int i) { return static_cast<const float*>(args.in[i]); };
  int64_t mask = s.MaskOffset(head);
  const void* mask_at =
      s.hides ? static_cast<const void*>(static_cast<const uint8_t*>(args.in[3]) + mask)
              : static_cast<const void*>(input(3) + mask);
  return {input(0) + head * s.queries * s.depth,    input(1) + head * s.keys * s.depth,
          input(2) + head * s.keys * s.value_depth, mask_at,
          DropoutOf(s, args.in[4], head),           reach};
}

// Into how many parts a head is cut so that all threads have work.
int64_t PartsOfHead(const AttentionSizes& s, int64_t blocks, int64_t tasks_per_thread) {
  int64_t tasks = tasks_per_thread * omp_get_max_threads();
  int64_t wanted = (tasks + s.heads - 1) / std::max<int64_t>(s.heads, 1);
  return std::clamp<int64_t>(wanted, 1, std::max<int64_t>(blocks, 1));
}

KernelChoice MakeAttention(const KernelRequest& r) {
  if (r.dtype(0) != DType::kFloat32) return No("needs Float32, got {}", Name(r.dtype(0)));
  AttentionSizes s(r);
  auto* rows = MS_PICK_ISA(AttentionRows);
  double cost = s.Work() * kNsPerProduct;
  Reaches reaches(s);
  return FunctionKernel(
      [s, rows, cost, reaches](const KernelArgs& args) {
        auto* table = static_cast<int64_t*>(args.workspace);
        reaches.Find(s, args, table);
        int64_t blocks = (s.queries + kQueryBlock - 1) / kQueryBlock;
        int64_t parts = PartsOfHead(s, blocks, 4);
        int64_t tasks = s.heads * parts;
        ParallelFor(tasks, cost / static_cast<double>(std::max<int64_t>(tasks, 1)) + 1000,
                    [&](int64_t begin, int64_t end) {
                      float* scratch = ThreadScratch(AttentionScratch(s));
                      for (int64_t task = begin; task < end; ++task) {
                        int64_t head = task / parts, part = task % parts;
                        int64_t from = blocks * part / parts * kQueryBlock;
                        int64_t to = std::min(blocks * (part + 1) / parts * kQueryBlock, s.queries);
                        rows(s, HeadOf(s, args, head, reaches.Of(s, head, table)), from, to,
                             static_cast<float*>(args.out[0]) + head * s.queries * s.value_depth,
                             static_cast<float*>(args.out[1]) + head * s.queries,
                             static_cast<float*>(args.out[2]) + head * s.queries, scratch);
                      }
                    });
      },
      cost, reaches.bytes(s));
}

// Sums the parts' query gradients into the first, in order.
void AddParts(float* sums, int64_t parts, int64_t n, float* out) {
  ParallelFor(n, 0.5 * static_cast<double>(parts), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      float total = sums[i];
      for (int64_t p = 1; p < parts; ++p) total += sums[p * n + i];
      out[i] = total;
    }
  });
}

// A head cut into parts of its keys, each with query gradients of its own: how many parts there
// are, and so how sums are rounded, depends on the number of threads where heads are few.
KernelChoice MakeAttentionGrad(const KernelRequest& r) {
  if (r.dtype(0) != DType::kFloat32) return No("needs Float32, got {}", Name(r.dtype(0)));
  AttentionSizes s(r);
  auto* gradients = MS_PICK_ISA(AttentionGradKeys);
  double cost = 2.5 * s.Work() * kNsPerProduct;
  int64_t blocks = (s.keys + kGradKeyBlock - 1) / kGradKeyBlock;
  int64_t parts = PartsOfHead(s, blocks, s.heads >= 2 * omp_get_max_threads() ? 1 : 2);
  int64_t size = s.heads * s.queries * s.depth;
  Reaches reaches(s);
  size_t in_front = (reaches.bytes(s) + 63) / 64 * 64;
  size_t workspace = in_front + (parts > 1 ? static_cast<size_t>(parts * size) * sizeof(float) : 0);
  return FunctionKernel(
      [=](const KernelArgs& args) {
        auto* dquery = static_cast<float*>(args.out[0]);
        auto* table = static_cast<int64_t*>(args.workspace);
        auto* sums = parts > 1
                         ? reinterpret_cast<float*>(static_cast<char*>(args.workspace) + in_front)
                         : dquery;
        reaches.Find(s, args, table);
        int64_t tasks = s.heads * parts;
        ParallelFor(tasks, cost / static_cast<double>(std::max<int64_t>(tasks, 1)) + 1000,
                    [&](int64_t begin, int64_t end) {
                      float* scratch = ThreadScratch(AttentionGradScratch(s));
                      for (int64_t task = begin; task < end; ++task) {
                        int64_t head = task / parts, part = task % parts;
                        int64_t from = blocks * part / parts * kGradKeyBlock;
                        int64_t to = std::min(blocks * (part + 1) / parts * kGradKeyBlock, s.keys);
                        auto rows = [&](int i) {
                          return static_cast<const float*>(args.in[i]) + head * s.queries;
                        };
                        const float* dout = static_cast<const float*>(args.in[8]) +
                                            head * s.queries * s.value_depth;
                        gradients(s, HeadOf(s, args, head, reaches.Of(s, head, table)),
                                  {rows(5), rows(6), rows(7), dout}, from, to,
                                  sums + part * size + head * s.queries * s.depth,
                                  static_cast<float*>(args.out[1]) + head * s.keys * s.depth,
                                  static_cast<float*>(args.out[2]) + head * s.keys * s.value_depth,
                                  scratch);
                      }
                    });
        if (parts > 1) AddParts(sums, parts, size, dquery);
      },
      cost, workspace);
}

}  // namespace

void AddAttention(KernelTable& table) {
  table.For("Attention")
      .Try("blocks", MakeAttention)
      .Try("blocks in float32", InFloat32(MakeAttention))
      .Try("reference", ReferenceAttention);
  table.For("AttentionGrad")
      .Try("blocks", MakeAttentionGrad)
      .Try("blocks in float32", InFloat32(MakeAttentionGrad))
      .Try("reference", ReferenceAttentionGrad);
}

}  // namespace ms::cpu
