// See jpeg_huffman.h. What reads is called by libjpeg, and leaves damaged pictures as that does, by
// its error_exit: nothing there has anything to destroy.
#include "dataset/transforms/jpeg_huffman.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <jpegint.h>

#include "base/error.h"

namespace ms::dataset {
namespace {

// More than a group of blocks takes, so that damage is found behind it.
constexpr size_t kBeyond = 4096;

constexpr uint8_t kMark = 0xff;          // begins a marker, or with 0 behind it is itself
constexpr uint8_t kFirstRestart = 0xd0;  // of eight, in turns

// A number of `size` bits: those that begin with 0 are below zero.
inline int Signed(int bits, int size) {
  int half = 1 << size >> 1;
  return bits + ((bits - half) >> 31 & (1 - (1 << size)));
}

// Where the numbers of a block go. What lies beyond goes to the last place, as in libjpeg; and what
// ends a block there, too, which is 0.
struct Places {
  uint8_t of[2 * DCTSIZE2 + 16];

  Places() {
    for (int i = 0; i < 2 * DCTSIZE2 + 16; ++i) {
      of[i] = static_cast<uint8_t>(jpeg_natural_order[std::min(i, DCTSIZE2 - 1)]);
    }
  }
};

const Places kPlaces;

}  // namespace

HuffmanScan::Codes::Codes(const JHUFF_TBL& given, bool of_first) : table(given), first(of_first) {
  uint32_t code = 0;
  int32_t symbol = 0;
  for (int length = 1; length <= 16; ++length, code <<= 1) {
    auto at = static_cast<size_t>(length);
    symbols[at] = symbol - static_cast<int32_t>(code);
    for (int i = 0; i < table.bits[length]; ++i, ++code, ++symbol) {
      int rest = kLook - length;  // bits behind the code
      for (int bits = 0; rest >= 0 && bits < 1 << rest; ++bits) {
        Found& entry = found[(code << rest) + static_cast<uint32_t>(bits)];
        entry = Of(table.huffval[symbol], length);
        int size = entry.number;
        if (first || size > rest) continue;
        entry.number = static_cast<int16_t>(Signed(bits >> (rest - size), size));
        entry.bits = static_cast<uint8_t>(length + size);
      }
    }
    limits[at] = code << (16 - length);
  }
  if (!first) Join();
}

// Adds what follows a number, where it is known.
void HuffmanScan::Codes::Join() {
  for (size_t i = 0; i < found.size(); ++i) {
    Found& entry = found[i];
    if (entry.bits & kCode) continue;
    entry.second = entry.number, entry.all_steps = entry.steps, entry.all_bits = entry.bits;
    const Found& next = found[(i << entry.bits) % found.size()];
    int bits = entry.bits + next.bits;
    if (entry.steps == kEnd || bits > kLook) continue;
    entry.second = next.number;
    entry.all_steps = static_cast<uint8_t>(entry.steps + next.steps);
    entry.all_bits = static_cast<uint8_t>(bits);
  }
}

HuffmanScan::Found HuffmanScan::Codes::Of(uint8_t symbol, int length) const {
  Found made;
  made.bits = static_cast<uint8_t>(kCode | length);
  made.number = static_cast<int16_t>(first ? symbol : symbol & 15);
  int distance = symbol >> 4;
  bool ends = !first && made.number == 0 && distance != 15;
  made.steps = ends ? kEnd : static_cast<uint8_t>(first ? 0 : distance + 1);
  return made;
}

bool HuffmanScan::Codes::Is(const JHUFF_TBL& given, bool of_first) const {
  return first == of_first && std::memcmp(table.bits, given.bits, sizeof(table.bits)) == 0 &&
         std::memcmp(table.huffval, given.huffval, sizeof(table.huffval)) == 0;
}

// Each thread keeps some: most pictures have the same.
HuffmanScan::CodesRef HuffmanScan::CodesOf(const JHUFF_TBL& table, bool of_first) {
  constexpr size_t kKept = 8;
  thread_local std::array<CodesRef, kKept> kept;
  thread_local size_t next = 0;
  for (const CodesRef& codes : kept) {
    if (codes && codes->Is(table, of_first)) return codes;
  }
  CodesRef& place = kept[next++ % kKept];
  place = std::make_shared<const Codes>(table, of_first);
  return place;
}

// A code that the table does not know.
bool HuffmanScan::Codes::Search(uint64_t bits, Found* entry) const {
  auto upper = static_cast<uint32_t>(bits >> 48);
  size_t length = kLook + 1;
  for (size_t longer = kLook + 1; longer < 16; ++longer) length += upper >= limits[longer];
  if (upper >= limits[16]) return false;
  auto code = static_cast<int32_t>(upper >> (16 - length));
  *entry = Of(table.huffval[symbols[length] + code], static_cast<int>(length));
  return true;
}

// At least 56 bits are held afterwards.
inline void HuffmanScan::Bits::Fill() {
  uint64_t loaded;
  std::memcpy(&loaded, next, 8);
  if constexpr (std::endian::native == std::endian::little) loaded = __builtin_bswap64(loaded);
  held |= loaded >> count;
  next += (63 - count) >> 3;
  count |= 56;
}

inline void HuffmanScan::Bits::Drop(int size) {
  held <<= size;
  count -= size;
}

inline int HuffmanScan::Bits::Number(int size) {
  // In two steps: it may be 0.
  auto taken = static_cast<int>(held >> 1 >> (63 - size));
  Drop(size);
  return Signed(taken, size);
}

// A code, with the number behind it: at most 31 bits, which are held.
inline bool HuffmanScan::ReadCode(Bits* bits, const Codes& codes, Found* found) {
  *found = codes.found[bits->held >> (64 - kLook)];
  if (found->bits == kCode && !codes.Search(bits->held, found)) return false;
  bits->Drop(found->bits & ~kCode);
  found->number = static_cast<int16_t>(bits->Number(found->number));
  return true;
}

inline bool HuffmanScan::ReadBlock(Bits* bits, const Codes& codes, JCOEF* block) {
  constexpr int kAtOnce = (56 - 31) / kLook + 1;  // those before the last: by the table alone
  constexpr int kLast = DCTSIZE2 - 1;
  for (int place = 0;;) {
    bits->Fill();
    for (int i = 0; i < kAtOnce; ++i) {
      const Found& both = codes.found[bits->held >> (64 - kLook)];
      if (both.bits & kCode) [[unlikely]] {
        Found found;
        if (!ReadCode(bits, codes, &found)) return false;
        place += found.steps;
        block[kPlaces.of[place]] = found.number;
        if (place >= kLast) return true;
        break;
      }
      int one = place + both.steps, two = place + both.all_steps;
      block[kPlaces.of[one]] = both.number;
      if (two >= kLast) [[unlikely]] {
        if (one < kLast) block[kPlaces.of[two]] = both.second;
        bits->Drop(one < kLast ? both.all_bits : both.bits);
        return true;
      }
      block[kPlaces.of[two]] = both.second;
      bits->Drop(both.all_bits);
      place = two;
    }
  }
}

// How many bits are left of a part; less than none where more has been read.
int64_t HuffmanScan::Left() const {
  return (Bytes() + parts_[part_].end - bits_.next) * 8 + bits_.count;
}

// The next restart's part, if it is time for it.
bool HuffmanScan::Begin() {
  if (interval_ == 0 || left_ > 0) return true;
  // A whole byte too many would have been something.
  if (Left() >= 8 || ++part_ >= parts_.size()) return false;
  bits_ = {Bytes() + parts_[part_].begin, 0, 0};
  last_.fill(0);
  left_ = interval_;
  return true;
}

bool HuffmanScan::Read(JBLOCKROW* blocks) {
  if (!Begin()) return false;
  JBLOCK unused;
  Bits bits = bits_;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const Block& kind = blocks_[i];
    JCOEF* block = blocks ? *blocks[i] : unused;
    Found found;
    bits.Fill();
    if (!ReadCode(&bits, *kind.first, &found)) return false;
    auto component = static_cast<size_t>(kind.component);
    last_[component] += static_cast<uint32_t>(found.number);
    block[0] = static_cast<JCOEF>(last_[component]);
    if (!ReadBlock(&bits, *kind.others, block)) return false;
  }
  bits_ = bits;
  --left_;
  return Left() >= 0;
}

boolean HuffmanScan::ReadGroup(j_decompress_ptr library, JBLOCKROW* blocks) {
  auto* scan = static_cast<HuffmanScan*>(library->client_data);
  if (!scan->Read(blocks)) library->err->error_exit(reinterpret_cast<j_common_ptr>(library));
  return TRUE;
}

// Up to the first marker that is no restart in its place; says whether there is one.
bool HuffmanScan::Unstuff(std::span<const uint8_t> bytes) {
  clean_ = Buffer::Allocate(bytes.size() + kBeyond);
  auto* out = static_cast<uint8_t*>(clean_->data());
  size_t size = 0, begin = 0;
  const uint8_t *from = bytes.data(), *end = from + bytes.size();
  bool ended = false;
  while (!ended && from < end) {
    auto left = static_cast<size_t>(end - from);
    const auto* mark = static_cast<const uint8_t*>(std::memchr(from, kMark, left));
    size_t plain = mark ? static_cast<size_t>(mark - from) : left;
    std::memcpy(out + size, from, plain);
    size += plain;
    from += plain;
    while (from < end && *from == kMark) ++from;  // any number of them is one
    if (from >= end) break;
    uint8_t marker = *from++;
    if (marker == 0) {
      out[size++] = kMark;
      continue;
    }
    ended = interval_ == 0 || marker != kFirstRestart + parts_.size() % 8;
    parts_.push_back({begin, size});
    begin = size;
  }
  std::memset(out + size, 0, kBeyond);
  return ended;
}

void HuffmanScan::TakeOver(jpeg_decompress_struct* library) {
  if (jpeg_has_multiple_scans(library) || library->progressive_mode || library->arith_code) return;
  interval_ = left_ = library->restart_interval;
  if (!Unstuff({library->src->next_input_byte, library->src->bytes_in_buffer})) return;
  for (int i = 0; i < library->blocks_in_MCU; ++i) {
    int component = library->MCU_membership[i];
    const jpeg_component_info& info = *library->cur_comp_info[component];
    const JHUFF_TBL* first = library->dc_huff_tbl_ptrs[info.dc_tbl_no];
    const JHUFF_TBL* others = library->ac_huff_tbl_ptrs[info.ac_tbl_no];
    if (!first || !others) return;  // a lossless picture has no others
    blocks_.push_back({CodesOf(*first, true), CodesOf(*others, false), component});
  }
  bits_ = {Bytes(), 0, 0};
  library->client_data = this;
  library->entropy->decode_mcu = ReadGroup;
}

}  // namespace ms::dataset
