// What kernels of ROIAlign refuse alike. With 'sample_num' 0 boxes say how many points there are:
// too many, or infinitely many, would keep a kernel running.
#pragma once

#include <cstdint>

namespace ms {

inline constexpr int64_t kMostRegionPoints = 1 << 14;
inline constexpr const char* kRegionTooLarge =
    "with 'sample_num' 0 boxes must have up to {} elements of 'features' in each direction for one "
    "of the result, but box {} has more";

}  // namespace ms
