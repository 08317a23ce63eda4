// WAV files as samples.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "dataset/value.h"

namespace ms::dataset {

struct Wave {
  Value samples;  // Float32[channels, count]; integers are divided by the largest one
  uint32_t rate = 0;
};

// Integers of 8, 16, 24 and 32 bits, and floats of 32.
Wave DecodeWave(std::string_view bytes, const std::string& path);

}  // namespace ms::dataset
