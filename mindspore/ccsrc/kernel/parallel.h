// Parallel loops over OpenMP (team.h), entered only when the work pays for waking threads.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>

namespace ms {

// Work below this many (estimated) nanoseconds stays on the calling thread.
inline constexpr double kWorthThreads = 20000;

// Calls body(begin, end) on disjoint ranges that cover [0, n). The split depends on n and the
// number of threads only.
template <class F>
void ParallelFor(int64_t n, double ns_per_item, F&& body) {
  int threads = omp_in_parallel() ? 1 : omp_get_max_threads();
  double total = static_cast<double>(n) * ns_per_item;
  threads = static_cast<int>(std::min<double>(threads, std::max(1.0, total / (kWorthThreads / 2))));
  threads = static_cast<int>(std::min<int64_t>(threads, std::max<int64_t>(n, 1)));
  if (threads <= 1) {
    if (n > 0) body(int64_t{0}, n);
    return;
  }
// The whole team, though not all may get a share: libgomp, where regions go to it, would end the
// threads of a smaller one.
#pragma omp parallel
  {
    int64_t t = omp_get_thread_num();
    int64_t count = std::min(threads, omp_get_num_threads());
    int64_t begin = n * t / count;
    int64_t end = n * (t + 1) / count;
    if (t < count && begin < end) body(begin, end);
  }
}

}  // namespace ms
