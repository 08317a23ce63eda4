// What moves or scales the elements of an image, [H, W] or [H, W, C], or of any array.
#pragma once

#include <functional>
#include <vector>

#include "dataset/transforms/bytes.h"
#include "dataset/transforms/jpeg.h"
#include "dataset/value.h"

namespace ms::dataset {

// Throws unless the value is an image of numbers.
void CheckImage(const Value& image);
// Throws for three numbers where nobody can say which channels they are of.
void CheckColor(const char* name, size_t numbers, int64_t channels);
// f of the image, or of each in a batch of them, [..., H, W, C].
Value ForImages(const Value& value, const std::function<Value(const Value&)>& f);

// A part of the image; where it reaches beyond, `fill` (one number, or one for each channel).
Value CutOut(const Value& image, const Window& part, const std::vector<double>& fill);
Value FlipColumns(const Value& image);
Value FlipRows(const Value& image);
Value ChannelsFirst(const Value& image);
// Values as another type: floats to integers towards zero.
Value Cast(const Value& value, DType dtype);
// value * scale + shift in float32.
Value Rescale(const Value& value, float scale, float shift);
// (value - mean) / std in float32 for each channel, which are the last axis or the first.
Value Normalize(const Value& value, const std::vector<float>& mean, const std::vector<float>& std,
                bool channels_last);
// Class numbers as vectors with a 1 at the number; smoothed ones are float64.
Value OneHot(const Value& value, int64_t classes, double smoothing);

// Bytes through a table of floats for each channel, on the way flipped and moved to the front: what
// a chain of the above comes to.
struct Lookup {
  std::vector<FloatTable> tables;  // of each channel, or one
  bool channels_first = false;
};
Value Apply(const Lookup& lookup, bool flipped, const Value& image);

}  // namespace ms::dataset
