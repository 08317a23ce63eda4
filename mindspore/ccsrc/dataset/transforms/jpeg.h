// JPEG pictures as RGB images of bytes, whole or a part of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "dataset/value.h"

namespace ms::dataset {

struct Window {
  int64_t top = 0, left = 0, height = 0, width = 0;
};

// Reads the head of a picture when it is made, so that who crops can choose a part by its size.
class JpegDecoder {
 public:
  explicit JpegDecoder(std::span<const std::byte> bytes);
  ~JpegDecoder();
  JpegDecoder(const JpegDecoder&) = delete;

  // Whether it is a JPEG picture in gray or color that this library decodes.
  bool good() const { return good_; }
  int64_t height() const { return height_; }
  int64_t width() const { return width_; }
  // The image, the same bytes as if all had been decoded; none where the picture is damaged. Once.
  std::optional<Value> Decode(const Window& part);

  struct Machine;  // of libjpeg

 private:
  Machine* machine_;
  bool good_ = false;
  int64_t height_ = 0, width_ = 0;
};

}  // namespace ms::dataset
