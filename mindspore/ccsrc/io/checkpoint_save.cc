// Writing checkpoints. Tensor memory goes to the file as it lies: nothing is copied.
#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "base/error.h"
#include "io/atomic_file.h"
#include "io/checkpoint.h"
#include "io/checkpoint_format.h"
#include "io/crc32c.h"

namespace ms {
namespace {

// One Value: the bytes before the content, the content, and the bytes of its sum.
struct Piece {
  std::string before;
  std::span<const std::byte> content;
};

constexpr uint64_t kSumBytes = 1 + 4;  // key of field 15 and its value

Piece MakePiece(const CheckpointEntry& entry, std::span<const std::byte> content) {
  std::string fields;
  for (int64_t dim : entry.dims) {
    PutVarint(fields, kDimKey);
    PutVarint(fields, static_cast<uint64_t>(dim));
  }
  PutBytes(fields, 2, entry.dtype);
  PutVarint(fields, kContentKey);
  PutVarint(fields, content.size());

  std::string tag;
  PutBytes(tag, 1, entry.name);
  uint64_t tensor_bytes = fields.size() + content.size() + kSumBytes;
  Piece piece{"", content};
  PutVarint(piece.before, kValueKey);
  PutVarint(piece.before, tag.size() + 1 + VarintSize(tensor_bytes) + tensor_bytes);
  piece.before += tag;
  PutVarint(piece.before, kTensorKey);
  PutVarint(piece.before, tensor_bytes);
  piece.before += fields;
  return piece;
}

std::vector<Piece> MakePieces(std::span<const CheckpointEntry> entries, uint64_t slice_bytes) {
  std::vector<Piece> pieces;
  std::set<std::string_view> names;
  for (const CheckpointEntry& entry : entries) {
    if (entry.name.size() > kMaxNameBytes) {
      Throw(ErrorKind::kValue,
            "For 'save_checkpoint', a name must have at most {} bytes, but '{:.80}...' has {}.",
            kMaxNameBytes, entry.name, entry.name.size());
    }
    if (!names.insert(entry.name).second) {
      Throw(ErrorKind::kValue,
            "For 'save_checkpoint', every name may occur once, but got '{}' twice.", entry.name);
    }
    auto rest = entry.content;
    uint64_t limit = entry.dtype == kTextType ? rest.size() : slice_bytes;  // a text stays whole
    do {
      auto part = rest.first(std::min<uint64_t>(rest.size(), limit));
      pieces.push_back(MakePiece(entry, part));
      rest = rest.subspan(part.size());
    } while (!rest.empty());
  }
  return pieces;
}

// Takes bytes and returns their Crc32c, continuing the one given.
using Sink = std::function<uint32_t(std::span<const std::byte>, uint32_t)>;

// Passes bytes on and keeps the sums.
class SummingWriter {
 public:
  SummingWriter(const Sink& sink, bool native) : sink_(sink), native_(native) {}

  void Text(std::string_view text) {
    auto bytes = std::as_bytes(std::span(text));
    if (native_) zlib_crc_ = Crc32Zlib(zlib_crc_, bytes);
    crc_ = sink_(bytes, crc_);
  }
  // Contents have a sum of their own, which this returns.
  uint32_t Content(std::span<const std::byte> bytes) {
    if (native_) zlib_crc_ = Crc32Zlib(zlib_crc_, bytes);
    return sink_(bytes, 0);
  }

  uint32_t crc() const { return crc_; }
  uint32_t zlib_crc() const { return zlib_crc_; }

 private:
  const Sink& sink_;
  bool native_;
  uint32_t crc_ = 0;
  uint32_t zlib_crc_ = 0;
};

std::string Head(std::span<const Piece> pieces) {
  std::string tail_key;
  PutVarint(tail_key, kTailKey);
  std::string payload(kHeadMagic);
  std::string head;
  PutVarint(head, kHeadKey);
  uint64_t total = head.size() + 1 + kHeadBytes + tail_key.size() + 1 + kTailBytes;
  for (const Piece& piece : pieces) total += piece.before.size() + piece.content.size() + kSumBytes;
  PutFixed<uint64_t>(payload, total);
  PutFixed<uint32_t>(payload, static_cast<uint32_t>(pieces.size()));
  PutVarint(head, payload.size());
  return head + payload;
}

std::string NativeTrailer(uint32_t crc) {
  std::string text(kNativeMark);
  for (int byte = 9; byte >= 0; --byte)
    text.push_back(static_cast<char>(uint64_t{crc} >> std::min(8 * byte, 63)));
  return text;
}

void WriteAll(std::span<const CheckpointEntry> entries, const CheckpointSaveOptions& options,
              const Sink& sink) {
  std::vector<Piece> pieces = MakePieces(entries, options.slice_bytes);
  SummingWriter out(sink, options.native_crc);
  out.Text(Head(pieces));
  for (const Piece& piece : pieces) {
    out.Text(piece.before);
    uint32_t content_sum = out.Content(piece.content);
    std::string sum;
    PutVarint(sum, kContentCrcKey);
    PutFixed(sum, content_sum);
    out.Text(sum);
  }
  std::string tail;
  PutVarint(tail, kTailKey);
  PutVarint(tail, kTailBytes);
  out.Text(tail);
  uint32_t crc = out.crc();
  std::string value;
  PutFixed(value, crc);
  out.Text(value);
  if (options.native_crc) out.Text(NativeTrailer(out.zlib_crc()));
}

}  // namespace

void SaveCheckpoint(const std::string& path, std::span<const CheckpointEntry> entries,
                    const CheckpointSaveOptions& options) {
  std::optional<AtomicFile> file;
  auto write = [&](std::span<const std::byte> bytes, uint32_t crc) {
    if (!file) file.emplace(path).set_poll(options.poll);  // the entries are checked by now
    return file->WriteSummed(bytes, crc);
  };
  WriteAll(entries, options, write);
  file.value().Commit();
}

void CheckpointBlocks(std::span<const CheckpointEntry> entries,
                      const CheckpointSaveOptions& options, uint64_t block_bytes,
                      const std::function<void(std::span<const std::byte>)>& take) {
  std::vector<std::byte> block;
  WriteAll(entries, options, [&](std::span<const std::byte> bytes, uint32_t crc) {
    uint32_t sum = Crc32c(crc, bytes);
    while (!bytes.empty()) {
      auto part = bytes.first(std::min<uint64_t>(bytes.size(), block_bytes - block.size()));
      block.insert(block.end(), part.begin(), part.end());
      bytes = bytes.subspan(part.size());
      if (block.size() < block_bytes) continue;
      take(block);
      block.clear();
    }
    return sum;
  });
  if (!block.empty()) take(block);
}

}  // namespace ms
