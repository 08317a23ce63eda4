// Attention by blocks in float32. A block of scores is made, turned into probabilities and used up
// while it lies in the cache. Operands whose columns must be read along vectors are transposed once
// per head.
#include <cmath>
#include <cstring>
#include <limits>

#include "backends/cpu/isa/multiply.h"
#include "backends/cpu/isa/vector_math.h"
#include "backends/cpu/kernels/attention_loops.h"

namespace ms::cpu::MS_ISA {
namespace {

using loops::math::kInfinity;

// Hands out parts of the scratch, each at the start of a cache line.
class Pool {
 public:
  explicit Pool(float* memory) : next_(memory) {}
  float* Take(int64_t n) {
    float* p = next_;
    next_ += (n + 15) / 16 * 16;
    return p;
  }

 private:
  float* next_;
};

// x[rows, depth] as the right operand x^T: tiles of kTileColumns rows, zeros at the end.
void PackTransposed(const float* x, int64_t rows, int64_t depth, float* packed) {
  for (int64_t j = 0; j < rows; j += kTileColumns) {
    int64_t width = std::min<int64_t>(kTileColumns, rows - j);
    for (int64_t k = 0; k < depth; ++k) {
      for (int64_t c = 0; c < width; ++c) packed[k * kTileColumns + c] = x[(j + c) * depth + k];
      for (int64_t c = width; c < kTileColumns; ++c) packed[k * kTileColumns + c] = 0;
    }
    packed += depth * kTileColumns;
  }
}

// Rows of `width` floats, zeros behind `depth`.
void PackRows(const float* x, int64_t rows, int64_t depth, int64_t width, float factor,
              float* packed) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t k = 0; k < depth; ++k) packed[i * width + k] = x[i * depth + k] * factor;
    for (int64_t k = depth; k < width; ++k) packed[i * width + k] = 0;
  }
}

// Applies the mask to scores [first, first + n) of a query.
void Mask(const AttentionSizes& s, const AttentionHead& head, int64_t query, int64_t first,
          int64_t n, float* scores) {
  int64_t at = query * s.mask_row + first * s.mask_column;
  if (s.adds) {
    const float* mask = static_cast<const float*>(head.mask) + at;
    if (s.mask_column == 0) {
      for (int64_t i = 0; i < n; ++i) scores[i] += mask[0];
    } else {
      for (int64_t i = 0; i < n; ++i) scores[i] += mask[i];
    }
  } else if (s.hides) {
    const uint8_t* mask = static_cast<const uint8_t*>(head.mask) + at;
    auto fill = static_cast<float>(s.fill);
    if (s.mask_column == 0) {
      if (mask[0]) std::fill(scores, scores + n, fill);
    } else {
      for (int64_t i = 0; i < n; ++i) scores[i] = mask[i] ? fill : scores[i];
    }
  }
}

// Fills the last vector of n scores with what weighs nothing; returns the length in whole vectors.
int64_t Clear(float* scores, int64_t n) {
  int64_t whole = WholeVectors(n);
  std::fill(scores + n, scores + whole, -kInfinity);
  return whole;
}

// words[i]: the random word of score [query, first + i]. There is room for a group on either side.
const uint32_t* DropoutWords(const AttentionSizes& s, const AttentionDropout& d, int64_t query,
                             int64_t first, int64_t n, uint32_t* words) {
  int64_t begin = d.first + query * s.keys + first;
  int64_t group = begin / kWordsPerGroup;
  for (uint32_t* to = words; group * kWordsPerGroup < begin + n; ++group, to += kWordsPerGroup) {
    RandomWords(d.key, group, to);
  }
  return words + begin % kWordsPerGroup;
}

float Largest(const float* x, int64_t n) {
  constexpr int kChains = 4;
  FloatVector best[kChains] = {};
  for (FloatVector& b : best) b = Spread(-kInfinity);
  int64_t i = 0;
  for (; i + kChains * kVectorFloats <= n; i += kChains * kVectorFloats) {
    for (int c = 0; c < kChains; ++c) {
      FloatVector v = LoadVector(x + i + c * kVectorFloats);
      best[c] = v > best[c] ? v : best[c];
    }
  }
  for (; i < n; i += kVectorFloats) {
    FloatVector v = LoadVector(x + i);
    best[0] = v > best[0] ? v : best[0];
  }
  float largest = -kInfinity;
  for (const FloatVector& b : best) {
    for (int l = 0; l < kVectorFloats; ++l) largest = b[l] > largest ? b[l] : largest;
  }
  return largest;
}

// x = exp(x - shift); returns the sum.
float Exponentials(float* x, int64_t n, float shift) {
  FloatVector sums[2] = {};
  for (int64_t i = 0; i < n; i += kVectorFloats) {
    FloatVector e = ExpVector(LoadVector(x + i) - shift);
    StoreVector(x + i, e);
    sums[i / kVectorFloats % 2] += e;
  }
  FloatVector both = sums[0] + sums[1];
  float total = 0;
  for (int l = 0; l < kVectorFloats; ++l) total += both[l];
  return total;
}

// The greatest length of a row, and a little more.
float Length(const float* x, int64_t rows, int64_t depth) {
  float most = 0;
  for (int64_t i = 0; i < rows; ++i) {
    float square = 0;
    for (int64_t k = 0; k < depth; ++k) square += x[i * depth + k] * x[i * depth + k];
    most = square <= most ? most : square;  // nan stays
  }
  return std::sqrt(most) * 1.001f;
}

constexpr int64_t kReachStep = 64;
constexpr float kVanishes = 106;  // the exponential of less than minus this is 0

bool AllBelow(const float* mask, int64_t n, float limit) {
  IntVector below = ~IntVector{};
  int64_t i = 0;
  for (; i + kVectorFloats <= n; i += kVectorFloats) below &= LoadVector(mask + i) < limit;
  bool all = true;
  for (int l = 0; l < kVectorFloats; ++l) all &= below[l] != 0;
  for (; i < n; ++i) all &= mask[i] < limit;
  return all;
}

bool AllHidden(const uint8_t* mask, int64_t n) {
  uint64_t words = ~uint64_t{0};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t word;
    std::memcpy(&word, mask + i, 8);
    words &= word;
  }
  constexpr uint64_t kTrue = 0x0101010101010101;
  bool all = (words & kTrue) == kTrue;
  for (; i < n; ++i) all &= mask[i] != 0;
  return all;
}

// The end of the last step in which any of `n` keys counts; 0 where none does.
template <class F>
int64_t LastThatCounts(int64_t n, F&& none) {
  while (n > 0) {
    int64_t start = (n - 1) / kReachStep * kReachStep;
    if (!none(start, n - start)) break;
    n = start;
  }
  return n;
}

int64_t Reach(const AttentionSizes& s, const AttentionHead& head, int64_t query) {
  int64_t seen = s.Seen(query);
  return head.reach ? std::min(seen, head.reach[s.mask_row == 0 ? 0 : query]) : seen;
}

// The softmax of a block of queries over blocks of keys, one after the other.
struct RunningSoftmax {
  float largest[kQueryBlock], sum[kQueryBlock];
  int64_t reach[kQueryBlock];
};

// Scores of keys [first, first + n) of one query become exponentials; what was summed before, and
// the row `out` made of it, is scaled to the new largest score. Keys that are not seen weigh 0.
void SoftmaxStep(const AttentionSizes& s, const AttentionHead& head, int64_t query, int64_t reach,
                 int64_t first, int64_t n, float* scores, float* largest, float* sum, float* out,
                 int64_t width, uint32_t* words) {
  int64_t seen = std::clamp<int64_t>(reach - first, 0, n);
  int64_t whole = Clear(scores, seen);
  Mask(s, head, query, first, seen, scores);
  float best = std::max(*largest, Largest(scores, whole));
  // Where all scores so far are -inf, so is the largest one, and any shift gives zeros.
  float shift = best == -kInfinity ? 0.0f : best;
  if (*sum != 0 && best > *largest) {
    float shrink = Exp(*largest - shift);
    *sum *= shrink;
    for (int64_t i = 0; i < width; ++i) out[i] *= shrink;
  }
  *largest = best;
  *sum += Exponentials(scores, whole, shift);
  if (s.keep < 1) {
    const uint32_t* word = DropoutWords(s, head.dropout, query, first, seen, words);
    uint32_t last = head.dropout.last;
    for (int64_t i = 0; i < seen; ++i) scores[i] = word[i] <= last ? scores[i] : 0.0f;
  }
  std::fill(scores + seen, scores + n, 0.0f);
}

// A block of scores and of dout v^T becomes W P and dS, row by row.
void GradStep(const AttentionSizes& s, const AttentionHead& head, const AttentionTangents& t,
              int64_t query, int64_t reach, int64_t first, int64_t n, float* scores,
              float* products, uint32_t* words) {
  int64_t seen = std::clamp<int64_t>(reach - first, 0, n);
  int64_t whole = Clear(scores, seen);
  Mask(s, head, query, first, seen, scores);
  float largest = t.largest[query], log_sum = t.log_sum[query], delta = t.delta[query];
  for (int64_t i = 0; i < whole; i += kVectorFloats) {
    StoreVector(scores + i, ExpVector(LoadVector(scores + i) - largest - log_sum));
  }
  if (s.keep < 1) {
    const uint32_t* word = DropoutWords(s, head.dropout, query, first, seen, words);
    uint32_t last = head.dropout.last;
    auto factor = static_cast<float>(1 / s.keep);
#pragma GCC ivdep
    for (int64_t i = 0; i < seen; ++i) {
      float w = word[i] <= last ? factor : 0.0f, p = scores[i];
      scores[i] = p * w;
      products[i] = p * (products[i] * w - delta);
    }
  } else {
    for (int64_t i = 0; i < whole; i += kVectorFloats) {
      StoreVector(products + i, LoadVector(scores + i) * (LoadVector(products + i) - delta));
    }
  }
  if (s.hides) {  // what the mask decided does not depend on query and key
    const uint8_t* mask =
        static_cast<const uint8_t*>(head.mask) + query * s.mask_row + first * s.mask_column;
    if (s.mask_column == 0) {
      if (mask[0]) std::fill(products, products + seen, 0.0f);
    } else {
      for (int64_t i = 0; i < seen; ++i) products[i] = mask[i] ? 0.0f : products[i];
    }
  }
  std::fill(scores + seen, scores + n, 0.0f);
  std::fill(products + seen, products + n, 0.0f);
}

// Quotients of a finished row. No key seen: zeros.
void FinishRow(const AttentionSizes& s, int64_t seen, float sum, const float* row, float* out) {
  float scale = seen == 0 ? 0.0f : static_cast<float>(1 / s.keep) / sum;
  for (int64_t i = 0; i < s.value_depth; ++i) out[i] = row[i] * scale;
}

}  // namespace

float AttentionBound(const AttentionSizes& s, const float* query, const float* key) {
  float scale = std::fabs(static_cast<float>(s.scale));
  return Length(query, s.queries, s.depth) * Length(key, s.keys, s.depth) * scale;
}

int64_t AttentionReach(const AttentionSizes& s, const void* row, int64_t query, float bound) {
  if (s.adds) {
    const float* mask = static_cast<const float*>(row);
    // Any score but those left out will do for a comparison: of causal masks, the query's own.
    float other = std::max(mask[0], mask[std::min(query, s.keys - 1)]);
    float limit = other - 2 * bound - kVanishes;
    if (!std::isfinite(limit)) return s.keys;
    return LastThatCounts(s.keys,
                          [=](int64_t at, int64_t n) { return AllBelow(mask + at, n, limit); });
  }
  const uint8_t* mask = static_cast<const uint8_t*>(row);
  if (!(s.fill < -bound - kVanishes)) return s.keys;
  int64_t last =
      LastThatCounts(s.keys, [=](int64_t at, int64_t n) { return AllHidden(mask + at, n); });
  // All hidden: all alike. With causal masks a query may see only keys that are hidden.
  return last == 0 || s.causal ? s.keys : last;
}

void AttentionRows(const AttentionSizes& s, const AttentionHead& head, int64_t from, int64_t to,
                   float* out, float* largest, float* log_sum, float* scratch) {
  Pool pool(scratch);
  int64_t width = WholeVectors(s.value_depth);
  int64_t whole_keys = (s.keys + kTileColumns - 1) / kTileColumns * kTileColumns;
  float* keys = pool.Take(whole_keys * s.depth);
  float* queries = pool.Take(kQueryBlock * s.depth);
  float* scores = pool.Take(kQueryBlock * kKeyBlock);
  float* rows = pool.Take(kQueryBlock * width);
  auto* words = reinterpret_cast<uint32_t*>(pool.Take(kKeyBlock + 2 * kWordsPerGroup));
  PackTransposed(head.key, s.keys, s.depth, keys);
  const float* values = head.value;
  if (width != s.value_depth) {
    float* packed = pool.Take(s.keys * width);
    PackRows(head.value, s.keys, s.value_depth, width, 1, packed);
    values = packed;
  }
  RunningSoftmax running;
  for (int64_t q = from; q < to; q += kQueryBlock) {
    int64_t m = std::min(kQueryBlock, to - q), most = 0;
    PackRows(head.query + q * s.depth, m, s.depth, s.depth, static_cast<float>(s.scale), queries);
    std::fill(running.largest, running.largest + m, -kInfinity);
    std::fill(running.sum, running.sum + m, 0.0f);
    std::fill(rows, rows + m * width, 0.0f);
    for (int64_t i = 0; i < m; ++i) {
      running.reach[i] = Reach(s, head, q + i);
      most = std::max(most, running.reach[i]);
    }
    for (int64_t k = 0; k < most; k += kKeyBlock) {
      int64_t n = std::min(kKeyBlock, most - k);
      Multiply(m, WholeVectors(n), s.depth, {queries, s.depth, 1},
               {keys + k * s.depth, kTileColumns, s.depth * kTileColumns}, scores, kKeyBlock,
               false);
      for (int64_t i = 0; i < m; ++i) {
        SoftmaxStep(s, head, q + i, running.reach[i], k, n, scores + i * kKeyBlock,
                    &running.largest[i], &running.sum[i], rows + i * width, width, words);
      }
      Multiply(m, width, n, {scores, kKeyBlock, 1}, {values + k * width, width}, rows, width, true);
    }
    for (int64_t i = 0; i < m; ++i) {
      FinishRow(s, running.reach[i], running.sum[i], rows + i * width,
                out + (q + i) * s.value_depth);
      largest[q + i] = running.largest[i];
      log_sum[q + i] = std::log(running.sum[i]);
    }
  }
}

void AttentionGradKeys(const AttentionSizes& s, const AttentionHead& head,
                       const AttentionTangents& tangents, int64_t from, int64_t to, float* dquery,
                       float* dkey, float* dvalue, float* scratch) {
  Pool pool(scratch);
  int64_t width = WholeVectors(s.depth), value_width = WholeVectors(s.value_depth);
  float* queries = pool.Take(s.queries * width);
  float* douts = pool.Take(s.queries * value_width);
  float* query_sums = pool.Take(s.queries * width);
  float* keys = pool.Take(kGradKeyBlock * width);
  float* keys_across = pool.Take(kGradKeyBlock * s.depth);
  float* values_across = pool.Take(kGradKeyBlock * s.value_depth);
  float* key_sums = pool.Take(kGradKeyBlock * width);
  float* value_sums = pool.Take(kGradKeyBlock * value_width);
  float* scores = pool.Take(kQueryBlock * kGradKeyBlock);
  float* products = pool.Take(kQueryBlock * kGradKeyBlock);
  auto* words = reinterpret_cast<uint32_t*>(pool.Take(kGradKeyBlock + 2 * kWordsPerGroup));
  auto scale = static_cast<float>(s.scale);
  PackRows(head.query, s.queries, s.depth, width, scale, queries);
  PackRows(tangents.dout, s.queries, s.value_depth, value_width, 1, douts);
  std::fill(query_sums, query_sums + s.queries * width, 0.0f);
  auto* reach = reinterpret_cast<int64_t*>(pool.Take(2 * s.queries));
  for (int64_t i = 0; i < s.queries; ++i) reach[i] = Reach(s, head, i);
  for (int64_t k = from; k < to; k += kGradKeyBlock) {
    int64_t n = std::min(kGradKeyBlock, to - k);
    PackRows(head.key + k * s.depth, n, s.depth, width, 1, keys);
    PackTransposed(head.key + k * s.depth, n, s.depth, keys_across);
    PackTransposed(head.value + k * s.value_depth, n, s.value_depth, values_across);
    std::fill(key_sums, key_sums + n * width, 0.0f);
    std::fill(value_sums, value_sums + n * value_width, 0.0f);
    for (int64_t q = 0; q < s.queries; q += kQueryBlock) {
      int64_t m = std::min(kQueryBlock, s.queries - q);
      int64_t count = std::min(n, *std::max_element(reach + q, reach + q + m) - k);
      if (count <= 0) continue;
      int64_t columns = WholeVectors(count);
      Multiply(m, columns, s.depth, {queries + q * width, width, 1},
               {keys_across, kTileColumns, s.depth * kTileColumns}, scores, kGradKeyBlock, false);
      Multiply(m, columns, s.value_depth, {douts + q * value_width, value_width, 1},
               {values_across, kTileColumns, s.value_depth * kTileColumns}, products, kGradKeyBlock,
               false);
      for (int64_t i = 0; i < m; ++i) {
        GradStep(s, head, tangents, q + i, reach[q + i], k, count, scores + i * kGradKeyBlock,
                 products + i * kGradKeyBlock, words);
      }
      Multiply(count, value_width, m, {scores, 1, kGradKeyBlock},
               {douts + q * value_width, value_width}, value_sums, value_width, true);
      Multiply(count, width, m, {products, 1, kGradKeyBlock}, {queries + q * width, width},
               key_sums, width, true);
      Multiply(m, width, count, {products, kGradKeyBlock, 1}, {keys, width}, query_sums + q * width,
               width, true);
    }
    for (int64_t i = 0; i < n; ++i) {
      std::copy_n(key_sums + i * width, s.depth, dkey + (k + i) * s.depth);
      std::copy_n(value_sums + i * value_width, s.value_depth, dvalue + (k + i) * s.value_depth);
    }
  }
  for (int64_t i = 0; i < s.queries; ++i) {
    for (int64_t c = 0; c < s.depth; ++c)
      dquery[i * s.depth + c] = query_sums[i * width + c] * scale;
  }
}

}  // namespace ms::cpu::MS_ISA
