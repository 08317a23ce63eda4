// The loops of a reduction, as templates over a rule (reduce_rules.h): compiled for wide vectors by
// reduce_isa.cc, and plainly, as the reference for every dtype, by reduce.cc. MS_ISA names the
// namespace of the copy.
#pragma once

#include <cstring>
#include <utility>

#include "backends/cpu/kernels/reduce_plan.h"
#include "backends/cpu/kernels/reduce_rules.h"
#include "backends/cpu/strided_copy.h"
#include "kernel/parallel.h"

namespace ms::cpu::MS_ISA {

// The lanes of a vector combined pairwise: halves while they are vectors, then one by one.
template <class Rule, int kBytes, class V>
typename Rule::Lane FoldLanes(const V& v) {
  using Lane = typename Rule::Lane;
  if constexpr (kBytes > 16) {
    typedef Lane Part __attribute__((vector_size(kBytes > 32 ? 32 : 16)));
    Part low, high;
    std::memcpy(&low, &v, sizeof(low));
    std::memcpy(&high, reinterpret_cast<const char*>(&v) + sizeof(low), sizeof(high));
    Rule::Step(low, high);
    return FoldLanes<Rule, kBytes / 2>(low);
  } else {
    Lane folded = v[0];
    for (int i = 1; i < static_cast<int>(16 / sizeof(Lane)); ++i)
      Rule::Step(folded, static_cast<Lane>(v[i]));
    return folded;
  }
}

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
      if (i < n && n - i < kWidth) {  // the rest: the last whole vector without what was counted
        V last;
        LoadLanes(x + n - kWidth, &last);
        V lane;
        for (int64_t k = 0; k < kWidth; ++k) lane[k] = static_cast<Lane>(k);
        last = lane < static_cast<Lane>(kWidth - (n - i)) ? start : last;
        Rule::Step(b, last);
        i = n;
      }
      Rule::Step(a, b);
      Rule::Step(c, d);
      Rule::Step(a, c);
      Rule::Step(total, static_cast<Total>(FoldLanes<Rule, kVectorBytes>(a)));
    }
  }
  for (; i < n; ++i) Rule::Step(total, static_cast<Total>(Rule::Load(x[i])));
  return total;
}

// lanes[c] takes in up to four rows.
template <class Rule, class... Row>
void AddRows(typename Rule::Lane* lanes, int64_t n, bool first, const Row*... rows) {
  using Lane = typename Rule::Lane;
  auto load = [](const auto& e) {
    if constexpr (std::is_same_v<std::decay_t<decltype(e)>, Lane>)
      return e;
    else
      return Rule::Load(e);
  };
  int64_t c = 0;
  if constexpr (Rule::kVector) {
    typedef Lane V __attribute__((vector_size(kVectorBytes)));
    constexpr int64_t kWidth = kVectorBytes / sizeof(Lane);
    for (; c + kWidth <= n; c += kWidth) {
      V v[sizeof...(Row)], sum;
      int k = 0;
      (LoadLanes(rows + c, &v[k++]), ...);
      for (int width = sizeof...(Row) / 2; width > 0; width /= 2) {
        for (k = 0; k < width; ++k) Rule::Step(v[k], v[k + width]);
      }
      sum = v[0];
      if (!first) {
        std::memcpy(&sum, lanes + c, sizeof(V));
        Rule::Step(sum, v[0]);
      }
      std::memcpy(lanes + c, &sum, sizeof(V));
    }
  }
  if (first) {
    for (; c < n; ++c) lanes[c] = Rule::Tree(load(rows[c])...);
  } else {
    for (; c < n; ++c) Rule::Step(lanes[c], Rule::Tree(load(rows[c])...));
  }
}

// Adds `rows` rows of `n` <= kTile elements to `totals`; `next` gives the rows one by one.
template <class Rule, class Next>
void ReduceRows(Next next, int64_t rows, int64_t n, typename Rule::Total* totals) {
  using Lane = typename Rule::Lane;
  constexpr int64_t kBlock = 32;  // rows that are added in Lane before they go to the totals
  alignas(64) Lane lanes[ReducePlan::kTile];
  for (int64_t r = 0; r < rows;) {
    int64_t end = std::min(r + kBlock, rows);
    bool first = true;
    for (; r + 4 <= end; r += 4, first = false) {
      const auto *r0 = next(), *r1 = next(), *r2 = next(), *r3 = next();
      AddRows<Rule>(lanes, n, first, r0, r1, r2, r3);
    }
    for (; r < end; ++r, first = false) AddRows<Rule>(lanes, n, first, next());
    for (int64_t c = 0; c < n; ++c)
      Rule::Step(totals[c], static_cast<typename Rule::Total>(lanes[c]));
  }
}

// Short rows that lie one behind the other are taken several at a time, as one longer row that is
// folded at the end.
template <class Rule>
int64_t ReduceShortRows(const typename Rule::In* x, int64_t rows, int64_t n,
                        typename Rule::Total* totals) {
  constexpr int64_t kLong = 64;
  int64_t group = kLong / n;
  if (group < 2 || rows < 4 * group) return 0;
  typename Rule::Total wide[kLong];
  for (auto& t : wide) t = Rule::template Init<typename Rule::Total>();
  const auto* row = x;
  ReduceRows<Rule>([&] { return std::exchange(row, row + group * n); }, rows / group, group * n,
                   wide);
  for (int64_t k = 0; k < group; ++k) {
    for (int64_t c = 0; c < n; ++c) Rule::Step(totals[c], wide[k * n + c]);
  }
  return rows / group * group;
}

// One part of one result, or of one tile of results; `x` is at the kept index.
template <class Rule>
void ReduceTask(const ReducePlan& plan, const typename Rule::In* x, int64_t tile, int64_t chunk,
                typename Rule::Total* totals) {
  using Total = typename Rule::Total;
  if (plan.row && plan.reduced == 1 && plan.chunks == 1 && plan.inner <= ReducePlan::kPiece) {
    totals[0] = ReduceRun<Rule>(x, plan.inner);
    return;
  }
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
  int64_t begin = plan.reduced * chunk / plan.chunks,
          end = plan.reduced * (chunk + 1) / plan.chunks;
  int64_t first = tile * ReducePlan::kTile, n = std::min(ReducePlan::kTile, plan.inner - first);
  for (int64_t c = 0; c < n; ++c) totals[c] = Rule::template Init<Total>();
  bool dense = plan.reduced_dims.size() == 1 && plan.reduced_strides[0] == n;  // no tile of many
  if (dense) begin += ReduceShortRows<Rule>(x + begin * n, end - begin, n, totals);
  at.Seek(begin);
  auto next = [&] {
    const auto* row = x + first + at.a();
    at.Next();
    return row;
  };
  ReduceRows<Rule>(next, end - begin, n, totals);
}

// Very short rows side by side: row r is lane r, so that no row has to fold a vector.
inline constexpr int64_t kTiny = 16;

template <class Rule>
void ReduceTinyRows(const ReducePlan& plan, const typename Rule::In* x, typename Rule::Out* y) {
  using Lane = typename Rule::Lane;
  constexpr int64_t kRows = 64;
  int64_t n = plan.inner;
  ParallelFor(plan.kept, Rule::kNanoseconds * static_cast<double>(n) + 1,
              [&](int64_t begin, int64_t end) {
                alignas(64) Lane lanes[kRows];
                for (int64_t row = begin; row < end; row += kRows) {
                  int64_t rows = std::min(kRows, end - row);
                  const auto* from = x + row * n;
                  for (int64_t r = 0; r < rows; ++r) lanes[r] = Rule::Load(from[r * n]);
                  for (int64_t c = 1; c < n; ++c) {
                    for (int64_t r = 0; r < rows; ++r)
                      Rule::Step(lanes[r], Rule::Load(from[r * n + c]));
                  }
                  for (int64_t r = 0; r < rows; ++r)
                    y[row + r] = Rule::Finish(static_cast<typename Rule::Total>(lanes[r]), n);
                }
              });
}

// Rows of a few vectors each, one behind the other: what a task costs would count.
template <class Rule>
void ReduceDenseRows(const ReducePlan& plan, const typename Rule::In* x, typename Rule::Out* y) {
  int64_t n = plan.inner;
  ParallelFor(plan.kept, Rule::kNanoseconds * static_cast<double>(n) + 3,
              [&](int64_t begin, int64_t end) {
                for (int64_t row = begin; row < end; ++row)
                  y[row] = Rule::Finish(ReduceRun<Rule>(x + row * n, n), n);
              });
}

template <class Rule>
void Reduce(const ReducePlan& plan, const void* in, void* out, void* workspace) {
  using Total = typename Rule::Total;
  const auto* x = static_cast<const typename Rule::In*>(in);
  auto* y = static_cast<typename Rule::Out*>(out);
  auto* partials = static_cast<Total*>(workspace);
  bool dense =
      plan.kept_dims.empty() || (plan.kept_dims.size() == 1 && plan.kept_strides[0] == plan.inner);
  if (plan.row && plan.reduced == 1 && plan.chunks == 1 && plan.inner <= ReducePlan::kPiece &&
      dense) {
    return plan.inner <= kTiny ? ReduceTinyRows<Rule>(plan, x, y)
                               : ReduceDenseRows<Rule>(plan, x, y);
  }
  int64_t tiles = plan.tiles(), width = plan.partial_width();
  double ns = Rule::kNanoseconds * static_cast<double>(plan.count * plan.results) /
              static_cast<double>(plan.tasks());
  ParallelFor(plan.tasks(), ns, [&](int64_t begin, int64_t end) {
    alignas(64) Total local[ReducePlan::kTile];
    Odometer outer(plan.kept_dims, plan.kept_strides, plan.kept_strides);
    int64_t parts = plan.chunks * tiles, kept = begin / parts, part = begin % parts;
    outer.Seek(kept);
    for (int64_t task = begin; task < end; ++task, ++part) {
      if (part == parts) part = 0, ++kept, outer.Next();
      int64_t chunk = plan.chunks == 1 ? 0 : part % plan.chunks,
              tile = plan.chunks == 1 ? part : part / plan.chunks;
      Total* totals = plan.chunks > 1 ? partials + task * width : local;
      ReduceTask<Rule>(plan, x + outer.a(), tile, chunk, totals);
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
