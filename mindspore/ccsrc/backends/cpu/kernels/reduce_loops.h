// The loops of a reduction, as templates over a rule (reduce_rules.h): compiled for wide vectors by reduce_isa.cc, and
// plainly, as the reference for every dtype, by reduce.cc. MS_ISA names the namespace of the copy.
#pragma once

#include "backends/cpu/kernels/reduce_plan.h"
#include "backends/cpu/kernels/reduce_rules.h"
#include "backends/cpu/strided_copy.h"
#include "kernel/parallel.h"

namespace ms::cpu::MS_ISA {

// Reduces `n` contiguous elements, at most kPiece: vector lanes in Lane, then their total in Total.
template <class Rule>
typename Rule::Total ReduceRun(const typename Rule::In* x, int64_t n) {
  using Lane = typename Rule::Lane;
  using Total = typename Rule::Total;
  Total total = Rule::template Init<Total>();
  int64_t i = 0;
  if constexpr (Rule::kVector) {
    typedef Lane V __attribute__((vector_size(kVectorBytes)));
    constexpr int64_t kWidth = kVectorBytes / sizeof(Lane);
    constexpr int64_t kBlock = 64;  // vectors of each accumulator before they go to the total
    const V start = V{} + Rule::template Init<Lane>();
    while (n - i >= kWidth) {
      V a = start, b = start, c = start, d = start;
      int64_t vectors = std::min<int64_t>((n - i) / kWidth, 4 * kBlock);
      int64_t v = 0;
      for (; v + 4 <= vectors; v += 4, i += 4 * kWidth) {
        V xa, xb, xc, xd;
        LoadLanes(x + i, &xa);
        LoadLanes(x + i + kWidth, &xb);
        LoadLanes(x + i + 2 * kWidth, &xc);
        LoadLanes(x + i + 3 * kWidth, &xd);
        Rule::Step(a, xa);
        Rule::Step(b, xb);
        Rule::Step(c, xc);
        Rule::Step(d, xd);
      }
      for (; v < vectors; ++v, i += kWidth) {
        V xa;
        LoadLanes(x + i, &xa);
        Rule::Step(a, xa);
      }
      Rule::Step(a, b);
      Rule::Step(c, d);
      for (int64_t lane = 0; lane < kWidth; ++lane) {
        Rule::Step(total, static_cast<Total>(a[lane]));
        Rule::Step(total, static_cast<Total>(c[lane]));
      }
    }
  }
  for (; i < n; ++i) Rule::Step(total, static_cast<Total>(Rule::Load(x[i])));
  return total;
}

// A row of lanes: the elements themselves, or, of half types, a copy in float.
template <class Rule>
auto Widen(const typename Rule::In* row, int64_t n, float* buffer) {
  if constexpr (std::is_same_v<typename Rule::In, Half> && std::is_same_v<typename Rule::Lane, float>) {
    typedef float V __attribute__((vector_size(kVectorBytes)));
    constexpr int64_t kWidth = kVectorBytes / sizeof(float);
    int64_t c = 0;
    for (; c + kWidth <= n; c += kWidth) {
      V v;
      LoadLanes(row + c, &v);
      std::memcpy(buffer + c, &v, sizeof(v));
    }
    for (; c < n; ++c) buffer[c] = static_cast<float>(row[c]);
    return static_cast<const float*>(buffer);
  } else {
    static_cast<void>(n), static_cast<void>(buffer);
    return row;
  }
}

// Adds `rows` of `n` <= kTile elements each to `totals`; `at` gives the offsets of the rows.
template <class Rule>
void ReduceRows(const typename Rule::In* x, Odometer& at, int64_t rows, int64_t n, typename Rule::Total* totals) {
  using Lane = typename Rule::Lane;
  constexpr int64_t kBlock = 32;  // rows that are added in Lane before they go to the totals
  alignas(64) Lane lanes[ReducePlan::kTile];
  alignas(64) float wide[4][ReducePlan::kTile];
  for (int64_t r = 0; r < rows;) {
    int64_t end = std::min(r + kBlock, rows);
    bool first = true;
    auto load = [](const auto& e) {
      if constexpr (std::is_same_v<std::decay_t<decltype(e)>, Lane>) return e;
      else return Rule::Load(e);
    };
    auto add = [&](auto... row) {
      if (first) {
        for (int64_t c = 0; c < n; ++c) lanes[c] = Rule::Tree(load(row[c])...);
      } else {
        for (int64_t c = 0; c < n; ++c) Rule::Step(lanes[c], Rule::Tree(load(row[c])...));
      }
      first = false;
    };
    auto next = [&](int i) {
      auto row = Widen<Rule>(x + at.a(), n, wide[i]);
      at.Next();
      return row;
    };
    for (; r + 4 <= end; r += 4) {
      auto r0 = next(0), r1 = next(1), r2 = next(2), r3 = next(3);
      add(r0, r1, r2, r3);
    }
    for (; r < end; ++r) add(next(0));
    for (int64_t c = 0; c < n; ++c) Rule::Step(totals[c], static_cast<typename Rule::Total>(lanes[c]));
  }
}

template <class Rule>
void ReduceTask(const ReducePlan& plan, const typename Rule::In* x, int64_t kept, int64_t tile, int64_t chunk,
                typename Rule::Total* totals) {
  using Total = typename Rule::Total;
  Odometer outer(plan.kept_dims, plan.kept_strides, plan.kept_strides);
  outer.Seek(kept);
  x += outer.a();
  Odometer at(plan.reduced_dims, plan.reduced_strides, plan.reduced_strides);
  if (plan.row) {
    int64_t pieces = plan.pieces(), runs = plan.reduced * pieces;
    int64_t begin = runs * chunk / plan.chunks, end = runs * (chunk + 1) / plan.chunks;
    at.Seek(begin / pieces);
    Total total = Rule::template Init<Total>();
    for (int64_t run = begin; run < end; ++run) {
      int64_t piece = run % pieces;
      int64_t first = plan.inner * piece / pieces, last = plan.inner * (piece + 1) / pieces;
      Rule::Step(total, ReduceRun<Rule>(x + at.a() + first, last - first));
      if (piece + 1 == pieces) at.Next();
    }
    totals[0] = total;
    return;
  }
  int64_t begin = plan.reduced * chunk / plan.chunks, end = plan.reduced * (chunk + 1) / plan.chunks;
  int64_t first = tile * ReducePlan::kTile, n = std::min(ReducePlan::kTile, plan.inner - first);
  for (int64_t c = 0; c < n; ++c) totals[c] = Rule::template Init<Total>();
  at.Seek(begin);
  ReduceRows<Rule>(x + first, at, end - begin, n, totals);
}

template <class Rule>
void Reduce(const ReducePlan& plan, const void* in, void* out, void* workspace) {
  using Total = typename Rule::Total;
  const auto* x = static_cast<const typename Rule::In*>(in);
  auto* y = static_cast<typename Rule::Out*>(out);
  auto* partials = static_cast<Total*>(workspace);
  int64_t tiles = plan.tiles(), width = plan.partial_width();
  double ns = Rule::kNanoseconds * static_cast<double>(plan.count * plan.results) / static_cast<double>(plan.tasks());
  ParallelFor(plan.tasks(), ns, [&](int64_t begin, int64_t end) {
    alignas(64) Total local[ReducePlan::kTile];
    for (int64_t task = begin; task < end; ++task) {
      int64_t chunk = task % plan.chunks, tile = task / plan.chunks % tiles, kept = task / plan.chunks / tiles;
      Total* totals = plan.chunks > 1 ? partials + task * width : local;
      ReduceTask<Rule>(plan, x, kept, tile, chunk, totals);
      if (plan.chunks > 1) continue;
      int64_t n = plan.row ? 1 : std::min(ReducePlan::kTile, plan.inner - tile * ReducePlan::kTile);
      auto* to = y + (plan.row ? kept : kept * plan.inner + tile * ReducePlan::kTile);
      for (int64_t c = 0; c < n; ++c) to[c] = Rule::Finish(local[c], plan.count);
    }
  });
  if (plan.chunks == 1) return;
  for (int64_t unit = 0; unit < plan.kept * tiles; ++unit) {
    Total* totals = partials + unit * plan.chunks * width;
    int64_t tile = unit % tiles, kept = unit / tiles;
    int64_t n = plan.row ? 1 : std::min(ReducePlan::kTile, plan.inner - tile * ReducePlan::kTile);
    auto* to = y + (plan.row ? kept : kept * plan.inner + tile * ReducePlan::kTile);
    for (int64_t c = 0; c < n; ++c) {
      Total total = totals[c];
      for (int64_t k = 1; k < plan.chunks; ++k) Rule::Step(total, totals[k * width + c]);
      to[c] = Rule::Finish(total, plan.count);
    }
  }
}

}  // namespace ms::cpu::MS_ISA
