// Transposition of a block: whole vectors where elements have two or four bytes, small tiles
// otherwise.
#include <cstdint>
#include <cstring>

namespace ms::cpu::MS_ISA {
namespace {

typedef uint32_t V8 __attribute__((vector_size(32)));

inline void Load(V8* v, const char* p) { std::memcpy(v, p, sizeof(V8)); }
inline void Store(char* p, const V8& v) { std::memcpy(p, &v, sizeof(v)); }

// An 8 by 8 tile of four-byte elements.
inline void Transpose8x8(const char* in, char* out, int64_t in_stride, int64_t out_stride) {
  V8 r[8], t[8];
  for (int i = 0; i < 8; ++i) Load(&r[i], in + i * in_stride);
  for (int i = 0; i < 8; i += 2) {
    t[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    t[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (int i = 0; i < 8; i += 4) {
    r[i] = __builtin_shufflevector(t[i], t[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    r[i + 1] = __builtin_shufflevector(t[i], t[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    r[i + 2] = __builtin_shufflevector(t[i + 1], t[i + 3], 0, 1, 8, 9, 4, 5, 12, 13);
    r[i + 3] = __builtin_shufflevector(t[i + 1], t[i + 3], 2, 3, 10, 11, 6, 7, 14, 15);
  }
  for (int i = 0; i < 4; ++i) {
    Store(out + i * out_stride, __builtin_shufflevector(r[i], r[i + 4], 0, 1, 2, 3, 8, 9, 10, 11));
    Store(out + (i + 4) * out_stride,
          __builtin_shufflevector(r[i], r[i + 4], 4, 5, 6, 7, 12, 13, 14, 15));
  }
}

typedef uint16_t S8 __attribute__((vector_size(16)));

// An 8 by 8 tile of two-byte elements: three rounds that interleave rows 4, 2 and 1 apart.
inline void TransposeHalves8x8(const char* in, char* out, int64_t in_stride, int64_t out_stride) {
  S8 r[8], t[8];
  for (int i = 0; i < 8; ++i) std::memcpy(&r[i], in + i * in_stride, sizeof(S8));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4; ++i) {
      t[2 * i] = __builtin_shufflevector(r[i], r[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
      t[2 * i + 1] = __builtin_shufflevector(r[i], r[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
    }
    for (int i = 0; i < 8; ++i) r[i] = t[i];
  }
  for (int i = 0; i < 8; ++i) std::memcpy(out + i * out_stride, &r[i], sizeof(S8));
}

template <class T>
void Plain(const char* in, char* out, int64_t rows, int64_t cols, int64_t in_stride,
           int64_t out_stride) {
  typedef T Item __attribute__((aligned(1), may_alias));  // neighbours may begin at any address
  for (int64_t c = 0; c < cols; ++c) {
    auto* to = reinterpret_cast<Item*>(out + c * out_stride);
    const char* from = in + c * static_cast<int64_t>(sizeof(T));
    for (int64_t r = 0; r < rows; ++r) to[r] = *reinterpret_cast<const Item*>(from + r * in_stride);
  }
}

// Tiles of rows that fit the first cache beside `cols` columns.
template <class T>
void Tiled(const char* in, char* out, int64_t rows, int64_t cols, int64_t in_stride,
           int64_t out_stride) {
  constexpr int64_t kSize = sizeof(T), kRows = 64 / kSize > 8 ? 64 / kSize : 8;
  for (int64_t r = 0; r < rows; r += kRows) {
    int64_t n = rows - r < kRows ? rows - r : kRows;
    Plain<T>(in + r * in_stride, out + r * kSize, n, cols, in_stride, out_stride);
  }
}

// Whole tiles by `tile`, the rest element by element. Tiles meet in a buffer, from which whole
// cache lines are written: rows of the result are often a power of two apart, hence in one set of
// the cache.
template <class T, class Tile>
void ByTiles(const char* in, char* out, int64_t rows, int64_t cols, int64_t in_stride,
             int64_t out_stride, Tile tile) {
  constexpr int64_t kSize = sizeof(T), kLine = 64, kRows = kLine / kSize, kMaxCols = 32;
  int64_t whole_rows = rows / kRows * kRows, whole_cols = cols <= kMaxCols ? cols / 8 * 8 : 0;
  alignas(64) char buffer[kMaxCols * kLine];
  for (int64_t r = 0; r < whole_rows; r += kRows) {
    for (int64_t part = 0; part < kRows; part += 8) {
      const char* from = in + (r + part) * in_stride;
      for (int64_t c = 0; c < whole_cols; c += 8)
        tile(from + c * kSize, buffer + c * kLine + part * kSize, in_stride, kLine);
    }
    for (int64_t c = 0; c < whole_cols; ++c)
      std::memcpy(out + c * out_stride + r * kSize, buffer + c * kLine, kLine);
  }
  if (whole_rows < rows) {
    Plain<T>(in + whole_rows * in_stride, out + whole_rows * kSize, rows - whole_rows, cols,
             in_stride, out_stride);
  }
  if (whole_cols < cols) {
    Plain<T>(in + whole_cols * kSize, out + whole_cols * out_stride, whole_rows, cols - whole_cols,
             in_stride, out_stride);
  }
}

__extension__ typedef unsigned __int128 Bytes16;

}  // namespace

void TransposeBlock(const char* in, char* out, int64_t rows, int64_t cols, int64_t in_stride,
                    int64_t out_stride, size_t item) {
  switch (item) {
    case 1:
      return Tiled<uint8_t>(in, out, rows, cols, in_stride, out_stride);
    case 2:
      return ByTiles<uint16_t>(in, out, rows, cols, in_stride, out_stride, TransposeHalves8x8);
    case 4:
      return ByTiles<uint32_t>(in, out, rows, cols, in_stride, out_stride, Transpose8x8);
    case 8:
      return Tiled<uint64_t>(in, out, rows, cols, in_stride, out_stride);
    default:
      return Tiled<Bytes16>(in, out, rows, cols, in_stride, out_stride);
  }
}

}  // namespace ms::cpu::MS_ISA
