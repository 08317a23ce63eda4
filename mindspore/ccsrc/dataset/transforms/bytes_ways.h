// The loops of bytes.h for kinds of processors. Each says how many bytes or pixels it has done,
// from the first; the caller does the rest.
#pragma once

#include "dataset/transforms/bytes.h"
#include "dataset/transforms/wide.h"

#if MS_X86

namespace ms::dataset {

// Where HasVectors().
namespace vectors {

int64_t Copy(const uint8_t* in, uint8_t* out, int64_t count);
int64_t Map(const ByteTable& table, const uint8_t* in, uint8_t* out, int64_t count);
int64_t Gray(const uint8_t* const planes[3], uint8_t* gray, int64_t pixels);
int64_t Scale(const Scaling& scaling, const uint8_t* in, uint8_t* out, int64_t count);
int64_t Spread(const Scaling& farther, const uint8_t* gray, uint8_t* bytes, int64_t count);
int64_t JoinFloats(const float* const planes[3], int64_t pixels, float* out);
int64_t Split(const uint8_t* in, int64_t pixels, uint8_t* const planes[3]);
int64_t Join(const uint8_t* const planes[3], int64_t pixels, uint8_t* out);
int64_t Reverse(const uint8_t* in, uint8_t* out, int64_t pixels);

}  // namespace vectors

// Where HasPermutes(); what is not here is done by vectors.
namespace permutes {

int64_t Map(const ByteTable& table, const uint8_t* in, uint8_t* out, int64_t count);
int64_t Gray(const uint8_t* const planes[3], uint8_t* gray, int64_t pixels);
int64_t Spread(const Scaling& farther, const uint8_t* gray, uint8_t* bytes, int64_t count);
// `stream`: past the caches, to where 64 bytes begin.
int64_t MapFloats(const FloatTable& table, const uint8_t* in, float* out, int64_t count,
                  bool stream);
int64_t JoinFloats(const float* const planes[3], int64_t pixels, float* out);
int64_t Reverse(const uint8_t* in, uint8_t* out, int64_t pixels);

}  // namespace permutes
}  // namespace ms::dataset

#endif
