// Transposition of a block: whole vectors where elements have four bytes, small tiles otherwise.
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
    Store(out + (i + 4) * out_stride, __builtin_shufflevector(r[i], r[i + 4], 4, 5, 6, 7, 12, 13, 14, 15));
  }
}

template <class T>
void Plain(const char* in, char* out, int64_t rows, int64_t cols, int64_t in_stride, int64_t out_stride) {
  for (int64_t c = 0; c < cols; ++c) {
    T* to = reinterpret_cast<T*>(out + c * out_stride);
    const char* from = in + c * static_cast<int64_t>(sizeof(T));
    for (int64_t r = 0; r < rows; ++r) to[r] = *reinterpret_cast<const T*>(from + r * in_stride);
  }
}

// Tiles of rows that fit the first cache beside `cols` columns.
template <class T>
void Tiled(const char* in, char* out, int64_t rows, int64_t cols, int64_t in_stride, int64_t out_stride) {
  constexpr int64_t kSize = sizeof(T), kRows = 64 / kSize > 8 ? 64 / kSize : 8;
  for (int64_t r = 0; r < rows; r += kRows) {
    int64_t n = rows - r < kRows ? rows - r : kRows;
    Plain<T>(in + r * in_stride, out + r * kSize, n, cols, in_stride, out_stride);
  }
}

void Words(const char* in, char* out, int64_t rows, int64_t cols, int64_t in_stride, int64_t out_stride) {
  int64_t whole_rows = rows / 8 * 8, whole_cols = cols / 8 * 8;
  for (int64_t r = 0; r < whole_rows; r += 8) {
    for (int64_t c = 0; c < whole_cols; c += 8) {
      Transpose8x8(in + r * in_stride + c * 4, out + c * out_stride + r * 4, in_stride, out_stride);
    }
  }
  if (whole_rows < rows) {
    Plain<uint32_t>(in + whole_rows * in_stride, out + whole_rows * 4, rows - whole_rows, cols, in_stride, out_stride);
  }
  if (whole_cols < cols) {
    Plain<uint32_t>(in + whole_cols * 4, out + whole_cols * out_stride, whole_rows, cols - whole_cols, in_stride, out_stride);
  }
}

struct Bytes16 {
  uint64_t a, b;
};

}  // namespace

void TransposeBlock(const char* in, char* out, int64_t rows, int64_t cols, int64_t in_stride, int64_t out_stride,
                    size_t item) {
  switch (item) {
    case 1: return Tiled<uint8_t>(in, out, rows, cols, in_stride, out_stride);
    case 2: return Tiled<uint16_t>(in, out, rows, cols, in_stride, out_stride);
    case 4: return Words(in, out, rows, cols, in_stride, out_stride);
    case 8: return Tiled<uint64_t>(in, out, rows, cols, in_stride, out_stride);
    default: return Tiled<Bytes16>(in, out, rows, cols, in_stride, out_stride);
  }
}

}  // namespace ms::cpu::MS_ISA
