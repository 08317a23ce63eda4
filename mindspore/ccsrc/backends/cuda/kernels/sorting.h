// Rows of keys that are sorted in the workspace (device/sorting.cuh).
#pragma once

#include "backends/cuda/kernels/text_kernel.h"

namespace ms::cuda {

struct SortedKeys {
  int64_t rows, size;
  bool wide = false;  // keys of orders of 64 bits

  const char* key_type() const { return wide ? "WideKey" : "uint64_t"; }
  size_t bytes() const { return static_cast<size_t>(rows * size) * (wide ? 16 : 8); }
  size_t workspace_bytes() const { return 2 * bytes(); }

  // Phase 0 of a program sorts tiles into the first half of the workspace, phase 1 merges runs of
  // the number `width` from one half to the other. Returns the half with the sorted rows. The
  // addresses of both phases are from, to, and then `others`.
  const void* Sort(CudaStream& stream, Program& program, void* workspace,
                   const std::vector<const void*>& others, std::vector<long long> numbers,
                   size_t width) const {
    constexpr int64_t kTile = 1024;  // of device/sorting.cuh
    auto addresses = [&](const void* from, const void* to) {
      std::vector<const void*> all{from, to};
      all.insert(all.end(), others.begin(), others.end());
      return all;
    };
    void *from = workspace, *to = static_cast<char*>(workspace) + bytes();
    int64_t tiles = rows * ((size + kTile - 1) / kTile);
    LaunchText(stream, program, 0, BlocksFor(tiles * 256), addresses(nullptr, from), numbers);
    for (int64_t run = kTile; run < size; run *= 2, std::swap(from, to)) {
      numbers[width] = run;
      LaunchText(stream, program, 1, BlocksFor(rows * size), addresses(from, to), numbers);
    }
    return from;
  }
};

}  // namespace ms::cuda
