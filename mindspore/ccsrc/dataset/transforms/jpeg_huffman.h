// The Huffman codes of JPEG pictures, which take most of the time of decoding one. libjpeg finds a
// code, then the number behind it; here one look into a table gives both, and the bytes that only
// mark others are out of the way. All else stays libjpeg's, and the numbers are the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <vector>

#include <jpeglib.h>

#include "tensor/buffer.h"

namespace ms::dataset {

class HuffmanScan {
 public:
  // Reads the scan that `library` has just begun instead of it, until that is destroyed. Pictures
  // of several scans, and codes of other kinds, it leaves alone.
  void TakeOver(jpeg_decompress_struct* library);

 private:
  static constexpr int kLook = 10;  // bits that a table knows

  // What some bits begin with. Of the first number of a block: the length of its code and `number`,
  // how many bits follow. Of others: a number, and the steps from the one before to its place;
  // then what follows it, where the bits give that, too, else the same number, no step further.
  struct Found {
    int16_t number = 0, second = 0;
    uint8_t steps = 0, bits = kCode;  // kCode: of the code alone, as above; with 0 it is longer
    uint8_t all_steps = 0, all_bits = 0;
  };
  static constexpr uint8_t kCode = 0x80;
  static constexpr uint8_t kEnd = 64;  // steps behind the last place

  struct Codes {
    std::array<Found, 1 << kLook> found;
    std::array<uint32_t, 17> limits;  // of codes of a length, the first one beyond; as 16 bits
    std::array<int32_t, 17> symbols;  // where the symbols of a length begin, less their first code
    JHUFF_TBL table;
    bool first;  // of first numbers of blocks, whose symbols know no steps

    Codes(const JHUFF_TBL& given, bool of_first);
    void Join();
    bool Is(const JHUFF_TBL& given, bool of_first) const;
    Found Of(uint8_t symbol, int length) const;
    bool Search(uint64_t bits, Found* entry) const;
  };
  using CodesRef = std::shared_ptr<const Codes>;
  struct Bits {
    const uint8_t* next;
    uint64_t held;  // the next ones, the first one uppermost
    int count;      // of them

    void Fill();
    void Drop(int size);
    int Number(int size);
  };
  struct Part {  // between two restarts
    size_t begin, end;
  };
  struct Block {
    CodesRef first, others;
    int component;
  };

  static CodesRef CodesOf(const JHUFF_TBL& table, bool of_first);
  bool Unstuff(std::span<const uint8_t> bytes);
  const uint8_t* Bytes() const { return static_cast<const uint8_t*>(clean_->data()); }
  int64_t Left() const;
  bool Read(JBLOCKROW* blocks);
  bool Begin();
  static bool ReadCode(Bits* bits, const Codes& codes, Found* found);
  static bool ReadBlock(Bits* bits, const Codes& codes, JCOEF* block);
  static boolean ReadGroup(j_decompress_ptr library, JBLOCKROW* blocks);

  std::vector<Block> blocks_;  // of a group
  std::array<uint32_t, MAX_COMPS_IN_SCAN> last_{};
  BufferRef clean_;  // without the bytes that mark others
  std::vector<Part> parts_;
  size_t part_ = 0;
  unsigned int interval_ = 0, left_ = 0;  // groups between restarts, and to the next
  Bits bits_{};
};

}  // namespace ms::dataset
