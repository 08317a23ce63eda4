// Images of bytes in another size as Pillow makes them: first across, then down, with whole weights
// and bytes between the passes.
#include <algorithm>
#include <cstring>
#include <vector>

#include "dataset/transforms/resize_bytes.h"
#include "dataset/transforms/resize_pillow.h"
#include "dataset/transforms/wide.h"

namespace ms::dataset {

WholeTaps::WholeTaps(int64_t source, int64_t target, Interpolation interpolation) {
  if (source == target) return;
  Taps taps = MakeTaps(source, target, interpolation);
  count = taps.count;
  first = std::move(taps.first);
  for (double weight : taps.weights) {
    double scaled = weight * (1 << kWholeBits);
    weights.push_back(static_cast<int32_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5));
  }
}

namespace {

constexpr int64_t kNumbers = 16;  // of a block
constexpr int64_t kReach = 128;   // bytes that one permutation sees

uint8_t Clipped(int32_t sum) { return static_cast<uint8_t>(std::clamp(sum >> kWholeBits, 0, 255)); }

// For processors that find any of 128 bytes at once: of each 16 numbers of a row, where their first
// ones are in the source. The window then moves on by a pixel for each tap.
struct Windows {
  struct Block {
    int64_t target, begin;  // in the result, and in the row
    uint8_t places[kNumbers];
  };
  std::vector<Block> blocks;     // none: no such processor, or too far apart
  std::vector<int32_t> weights;  // [block][tap][16]

  Windows(const WholeTaps& taps, int64_t channels, int64_t width) {
    int64_t all = width * channels;
    if (!HasPermutes() || taps.count == 0 || all < kNumbers) return;
    const RowPlaces places(taps.first, channels, width);
    for (int64_t n = 0; n < all; n += kNumbers) {
      int64_t target = std::min(n, all - kNumbers);  // the last ones, some of them again
      Block block{target, places[places.Target(target) * channels], {}};
      if (places[target + kNumbers - 1] - block.begin >= kReach) {
        blocks.clear();
        return;
      }
      for (int64_t i = 0; i < kNumbers; ++i) {
        block.places[i] = static_cast<uint8_t>(places[target + i] - block.begin);
      }
      blocks.push_back(block);
      for (int64_t k = 0; k < taps.count; ++k) {
        for (int64_t i = 0; i < kNumbers; ++i) {
          int64_t at = places.Target(target + i) * taps.count + k;
          weights.push_back(taps.weights[static_cast<size_t>(at)]);
        }
      }
    }
  }
};

void Across(const uint8_t* row, uint8_t* out, const WholeTaps& taps, int64_t columns,
            int64_t channels, int64_t width) {
  for (int64_t x = 0; x < width; ++x) {
    int64_t first = taps.first[static_cast<size_t>(x)];
    const uint8_t* pixel = row + first * channels;
    const int32_t* weights = &taps.weights[static_cast<size_t>(x * taps.count)];
    int64_t most = std::min(taps.count, columns - first);
    for (int64_t c = 0; c < channels; ++c) {
      int32_t sum = 1 << (kWholeBits - 1);
      for (int64_t k = 0; k < most; ++k) sum += pixel[k * channels + c] * weights[k];
      *out++ = Clipped(sum);
    }
  }
}

MS_WIDE void Down(const uint8_t* in, uint8_t* out, int32_t* sums, int64_t size,
                  const int32_t* weights, int64_t count) {
  for (int64_t i = 0; i < size; ++i) sums[i] = 1 << (kWholeBits - 1);
  for (int64_t k = 0; k < count; ++k) {
    const uint8_t* row = in + k * size;
    int32_t weight = weights[k];
    for (int64_t i = 0; i < size; ++i) sums[i] += row[i] * weight;
  }
  for (int64_t i = 0; i < size; ++i) {
    int32_t value = sums[i] >> kWholeBits;
    out[i] = static_cast<uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
  }
}

#if MS_X86

MS_PERMUTES inline __m128i BytesOf(__m512i sum) {
  sum = _mm512_max_epi32(_mm512_srai_epi32(sum, kWholeBits), _mm512_setzero_si512());
  return _mm512_cvtusepi32_epi8(sum);
}

// The row has kReach bytes and all taps more than it needs.
MS_PERMUTES void AcrossWide(const uint8_t* row, uint8_t* out, const Windows& windows, int64_t taps,
                            int64_t channels) {
  const int32_t* weights = windows.weights.data();
  for (const Windows::Block& block : windows.blocks) {
    auto* given = reinterpret_cast<const __m128i*>(block.places);
    __m512i places = _mm512_castsi128_si512(_mm_loadu_si128(given));
    __m512i sum = _mm512_set1_epi32(1 << (kWholeBits - 1));
    const uint8_t* at = row + block.begin;
    for (int64_t k = 0; k < taps; ++k, at += channels, weights += kNumbers) {
      __m512i found =
          _mm512_permutex2var_epi8(_mm512_loadu_si512(at), places, _mm512_loadu_si512(at + 64));
      __m512i bytes = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(found));
      sum = _mm512_add_epi32(sum, _mm512_mullo_epi32(bytes, _mm512_loadu_si512(weights)));
    }
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + block.target), BytesOf(sum));
  }
}

// 32 numbers at once, the last of them again; false for shorter rows.
MS_PERMUTES bool DownWide(const uint8_t* in, uint8_t* out, int64_t size, const int32_t* weights,
                          int64_t count) {
  if (size < 32) return false;
  for (int64_t begin = 0; begin < size; begin += 32) {
    int64_t i = std::min(begin, size - 32);
    __m512i low = _mm512_set1_epi32(1 << (kWholeBits - 1)), high = low;
    for (int64_t k = 0; k < count; ++k) {
      auto* row = reinterpret_cast<const __m128i*>(in + k * size + i);
      __m512i weight = _mm512_set1_epi32(weights[k]);
      __m512i first = _mm512_cvtepu8_epi32(_mm_loadu_si128(row));
      __m512i second = _mm512_cvtepu8_epi32(_mm_loadu_si128(row + 1));
      low = _mm512_add_epi32(low, _mm512_mullo_epi32(first, weight));
      high = _mm512_add_epi32(high, _mm512_mullo_epi32(second, weight));
    }
    auto* to = reinterpret_cast<__m128i*>(out + i);
    _mm_storeu_si128(to, BytesOf(low));
    _mm_storeu_si128(to + 1, BytesOf(high));
  }
  return true;
}

#endif

struct Plan {
  PlannedSizes sizes;
  WholeTaps down, across;
  SplitTaps split_down, split_across;
  Windows windows;

  explicit Plan(const PlannedSizes& s)
      : sizes(s),
        down(s.rows, s.height, s.interpolation),
        across(s.columns, s.width, s.interpolation),
        split_down(down),
        split_across(across),
        windows(across, s.channels, s.width) {}
};

#if MS_X86

void AcrossByWindows(const uint8_t* in, uint8_t* out, const Plan& plan) {
  const PlannedSizes& sizes = plan.sizes;
  int64_t size = sizes.columns * sizes.channels;
  std::vector<uint8_t> line(
      static_cast<size_t>(size + kReach + plan.across.count * sizes.channels));
  for (int64_t y = 0; y < sizes.rows; ++y) {
    std::memcpy(line.data(), in + y * size, static_cast<size_t>(size));
    AcrossWide(line.data(), out + y * sizes.width * sizes.channels, plan.windows, plan.across.count,
               sizes.channels);
  }
}

// `out` has kRowsAcross rows at least.
void AcrossByRows(const uint8_t* in, uint8_t* out, const Plan& plan) {
  const PlannedSizes& sizes = plan.sizes;
  int64_t size = sizes.columns * sizes.channels;
  int64_t line = size + 16 + SplitTaps::kGroup * sizes.channels * (plan.split_across.groups + 1);
  std::vector<uint8_t> lines(static_cast<size_t>(kRowsAcross * line));
  for (int64_t y = 0; y < sizes.rows; y += kRowsAcross) {
    int64_t first = std::max<int64_t>(std::min(y, sizes.rows - kRowsAcross), 0);  // some again
    for (int64_t r = 0; r < std::min(kRowsAcross, sizes.rows); ++r) {
      std::memcpy(lines.data() + r * line, in + (first + r) * size, static_cast<size_t>(size));
    }
    AcrossVectors(lines.data(), line, out + first * sizes.width * sizes.channels, plan.across,
                  plan.split_across, sizes.channels, sizes.width);
  }
}

#endif

// All rows of the source in the width of the result.
std::vector<uint8_t> AllAcross(const uint8_t* in, const Plan& plan) {
  const PlannedSizes& sizes = plan.sizes;
  int64_t size = sizes.columns * sizes.channels, target = sizes.width * sizes.channels;
  std::vector<uint8_t> result(static_cast<size_t>(std::max(sizes.rows, kRowsAcross) * target));
#if MS_X86
  bool windows = !plan.windows.blocks.empty();
  if (windows || (HasVectors() && (sizes.channels == 3 || sizes.channels == 4))) {
    (windows ? AcrossByWindows : AcrossByRows)(in, result.data(), plan);
    return result;
  }
#endif
  for (int64_t y = 0; y < sizes.rows; ++y) {
    Across(in + y * size, result.data() + y * target, plan.across, sizes.columns, sizes.channels,
           sizes.width);
  }
  return result;
}

}  // namespace

void ResizeAsPillow(const uint8_t* in, uint8_t* out, const Extents& from, int64_t height,
                    int64_t width, Interpolation interpolation) {
  auto plan = PlanOf<Plan>(from, height, width, interpolation);
  std::vector<uint8_t> between;
  if (width != from.width) {
    between = AllAcross(in, *plan);
    in = between.data();
  }
  int64_t size = width * from.channels;
  if (height == from.height) {
    std::memcpy(out, in, static_cast<size_t>(height * size));
    return;
  }
  const WholeTaps& down = plan->down;
  std::vector<int32_t> sums(static_cast<size_t>(size));
  for (int64_t y = 0; y < height; ++y) {
    int64_t first = down.first[static_cast<size_t>(y)];
    int64_t most = std::min(down.count, from.height - first);
    const int32_t* weights = &down.weights[static_cast<size_t>(y * down.count)];
#if MS_X86
    if (HasPermutes() && DownWide(in + first * size, out + y * size, size, weights, most)) continue;
    if (!HasPermutes() && HasVectors() &&
        DownVectors(in + first * size, out + y * size, size, plan->split_down.Of(y), most))
      continue;
#endif
    Down(in + first * size, out + y * size, sums.data(), size, weights, most);
  }
}

}  // namespace ms::dataset
