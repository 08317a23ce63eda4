// Rows as bytes. Each half of a row starts with its size (u64, little-endian); the raw half is a
// MessagePack map, the blob half its fields one after the other, integers packed by their size.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/mindrecord/schema.h"

namespace ms {

inline constexpr size_t kRowSizeBytes = 8;

void EncodeRaw(const RecordSchema& schema, const RecordRow& row, std::string& out);
// Returns how many bytes fewer packed integers take than plain ones.
int64_t EncodeBlob(const RecordSchema& schema, const RecordRow& row, std::string& out);
// A blob half whose content is a frame of Zstandard, and back: an empty text where it is damaged or
// has more than `most` bytes.
std::string PackBlob(std::string_view half);
std::string UnpackBlob(std::string_view half, uint64_t most);
// More bytes than either half of the row takes, told without making them.
uint64_t LargestSize(const RecordSchema& schema, const RecordRow& row);

// Fill the values of fields that are `wanted` (one flag for each field); the others are left as
// they are. What does not fit the schema is a text that tells it; an empty one says that all did.
std::string DecodeRaw(const RecordSchema& schema, std::string_view bytes,
                      const std::vector<bool>& wanted, RecordRow& row);
std::string DecodeBlob(const RecordSchema& schema, std::string_view bytes,
                       const std::vector<bool>& wanted, RecordRow& row);

// The shape of an array of `count` elements; false where the field's shape does not admit it.
bool FitShape(const RecordField& field, int64_t count, std::vector<int64_t>& dims);

}  // namespace ms
