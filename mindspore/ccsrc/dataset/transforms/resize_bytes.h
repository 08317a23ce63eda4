// Images of bytes in another size, in fixed point: between the passes are 16 bits for each number.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "dataset/transforms/resize.h"
#include "dataset/transforms/taps.h"

namespace ms::dataset {

struct Extents {
  int64_t height, width, channels;
  int64_t line;  // numbers from a row to the next
};

struct PlannedSizes {
  int64_t rows, columns, channels;  // of the source
  int64_t height, width;
  Interpolation interpolation;

  bool operator==(const PlannedSizes&) const = default;
};

// What a way of resizing prepares for some sizes, which a Plan is made of and keeps as `sizes`.
// Each thread keeps some plans: pictures of a set are often alike.
template <class Plan>
std::shared_ptr<const Plan> PlanOf(const Extents& from, int64_t height, int64_t width,
                                   Interpolation interpolation) {
  constexpr size_t kKept = 4;
  thread_local std::array<std::shared_ptr<const Plan>, kKept> kept;
  thread_local size_t next = 0;
  PlannedSizes sizes{from.height, from.width, from.channels, height, width, interpolation};
  for (const auto& plan : kept) {
    if (plan && plan->sizes == sizes) return plan;
  }
  auto& place = kept[next++ % kKept];
  place = std::make_shared<const Plan>(sizes);
  return place;
}

// Of each number of a row of the result, its pixel, and where its first tap is in a row of the
// source.
struct RowPlaces {
  std::vector<int64_t> targets, places;

  template <class Firsts>
  RowPlaces(const Firsts& first, int64_t channels, int64_t width) {
    targets.reserve(static_cast<size_t>(width * channels));
    places.reserve(static_cast<size_t>(width * channels));
    for (int64_t x = 0; x < width; ++x) {
      for (int64_t c = 0; c < channels; ++c) {
        targets.push_back(x);
        places.push_back(first[static_cast<size_t>(x)] * channels + c);
      }
    }
  }

  int64_t operator[](int64_t number) const { return places[static_cast<size_t>(number)]; }
  int64_t Target(int64_t number) const { return targets[static_cast<size_t>(number)]; }
};

constexpr int kDropped = 8;                              // bits of the sums, between the passes
constexpr int kLeft = 2 * PairedTaps::kBits - kDropped;  // bits behind the point in the end

// A sum as the byte that it is nearest to.
inline uint8_t ByteOf(int32_t sum) {
  int32_t whole = (sum + (1 << (kLeft - 1))) >> kLeft;
  return static_cast<uint8_t>(whole < 0 ? 0 : whole > 255 ? 255 : whole);
}

// Rows of bytes, two for each pair of weights; pair k has the weights at k * stride.
struct WeighedRows {
  std::vector<const uint8_t*> rows;
  const int32_t* weights = nullptr;
  int64_t stride = 0;
  int64_t size = 0;  // bytes of a row

  // The number at place i of all together, without the dropped bits.
  int32_t Joined(int64_t i) const {
    int32_t sum = 1 << (kDropped - 1);
    for (size_t k = 0; k < rows.size(); k += 2) {
      int32_t pair = weights[static_cast<int64_t>(k / 2) * stride];
      sum += rows[k][i] * PairedTaps::Part(pair, 0) + rows[k + 1][i] * PairedTaps::Part(pair, 1);
    }
    return sum >> kDropped;
  }
};

// Taps for processors that find any of 128 bytes at once, where few of a row are asked for: of each
// 16 bytes of the result, where their first pairs are, and their weights. Without blocks: it is
// better, or the only way, to go through whole rows.
struct FarTaps {
  struct Block {
    int64_t target, begin;  // in the result, and in the row
    uint8_t places[64];     // from there on; of 32
  };
  std::vector<Block> blocks;
  std::vector<int32_t> weights;  // [block][pair][16]
  int64_t pairs, step;           // from a pair to the next, in the row

  // `only`: whole rows would have to do without permutations.
  FarTaps(const PairedTaps& down, const PairedTaps& across, const PlannedSizes& sizes, bool only);
};
// A row of the result, all of it, with the bits that two passes give.
void JoinFarRow(const WeighedRows& from, const FarTaps& across, uint8_t* out);

// Whether ResizeBytes does it, within a hundredth of what floats come to.
bool FitsFixed(Interpolation interpolation, const Extents& from, int64_t height, int64_t width);
void ResizeBytes(const uint8_t* in, uint8_t* out, const Extents& from, int64_t height,
                 int64_t width, Interpolation interpolation);

// In fixed point with bytes between the passes, bit for bit as Pillow does it.
void ResizeAsPillow(const uint8_t* in, uint8_t* out, const Extents& from, int64_t height,
                    int64_t width, Interpolation interpolation);

// Nearest pixels are copied, whatever they are.
void CopyNearest(const Value& image, std::byte* out, const Extents& from, int64_t height,
                 int64_t width, Interpolation interpolation);

}  // namespace ms::dataset
