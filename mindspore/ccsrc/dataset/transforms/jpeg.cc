// See jpeg.h. libjpeg leaves by longjmp when it fails: the functions that it may leave have nothing
// to destroy.
#include "dataset/transforms/jpeg.h"

#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "dataset/transforms/jpeg_huffman.h"

namespace ms::dataset {

struct JpegDecoder::Machine {
  jpeg_error_mgr errors;  // first: the library hands out its address
  jpeg_decompress_struct library;
  jpeg_progress_mgr progress;
  bool endless;  // left, since there were too many scans
  std::jmp_buf back;

  bool Start(const unsigned char* bytes, unsigned long size);
  // Decodes into `rows` of `width` pixels; `line` has room for one row of the decoder, and `scan`
  // is fresh.
  bool Read(const Window& part, unsigned char* rows, unsigned char* line, HuffmanScan* scan);
};

namespace {

// Further pixels on both sides: those at the edge of what is decoded lack their neighbours, of
// which a part of the color is.
constexpr int64_t kMargin = 32;
constexpr int kChannels = 3;
// A head may lie about the size of what follows it.
constexpr int64_t kMostPixels = 1 << 28;
// Each scan goes over the whole picture, and may be a few bytes: programs write about ten.
constexpr int kMostScans = 500;

void Leave(j_common_ptr library) {
  std::longjmp(reinterpret_cast<JpegDecoder::Machine*>(library->err)->back, 1);
}

void Count(j_common_ptr library, int level) {
  if (level < 0) ++library->err->num_warnings;
}

void Silence(j_common_ptr) {}

void Reset(j_common_ptr library) { library->err->num_warnings = 0; }

void LeaveEndless(j_common_ptr library) {
  auto* machine = reinterpret_cast<JpegDecoder::Machine*>(library->err);
  machine->endless = machine->library.input_scan_number > kMostScans;
  if (machine->endless) Leave(library);
}

// All of what jpeg_std_error sets, which would write to stderr.
void Quiet(jpeg_error_mgr* errors) {
  errors->error_exit = Leave;
  errors->emit_message = Count;
  errors->output_message = Silence;
  errors->reset_error_mgr = Reset;
}

}  // namespace

bool JpegDecoder::Machine::Start(const unsigned char* bytes, unsigned long size) {
  Quiet(&errors);
  library.err = &errors;
  if (setjmp(back)) return false;
  jpeg_create_decompress(&library);
  jpeg_mem_src(&library, bytes, size);
  if (jpeg_read_header(&library, TRUE) != JPEG_HEADER_OK) return false;
  bool known = library.jpeg_color_space == JCS_GRAYSCALE || library.jpeg_color_space == JCS_YCbCr ||
               library.jpeg_color_space == JCS_RGB;
  library.out_color_space = JCS_RGB;
  library.dct_method = JDCT_ISLOW;
  return known && library.data_precision == 8;
}

bool JpegDecoder::Machine::Read(const Window& part, unsigned char* rows, unsigned char* line,
                                HuffmanScan* scan) {
  if (setjmp(back)) return false;
  progress.progress_monitor = LeaveEndless;
  library.progress = &progress;
  jpeg_start_decompress(&library);
  scan->TakeOver(&library);
  const auto height = static_cast<JDIMENSION>(part.height);
  const size_t bytes = static_cast<size_t>(part.width) * kChannels;
  size_t before = static_cast<size_t>(part.left) * kChannels;
  if (part.width + 2 * kMargin < library.output_width) {
    JDIMENSION left = static_cast<JDIMENSION>(part.left > kMargin ? part.left - kMargin : 0);
    auto right = static_cast<JDIMENSION>(part.left + part.width + kMargin);
    if (right > library.output_width) right = library.output_width;
    JDIMENSION width = right - left;
    jpeg_crop_scanline(&library, &left, &width);
    before -= static_cast<size_t>(left) * kChannels;
  }
  if (part.top > 0) jpeg_skip_scanlines(&library, static_cast<JDIMENSION>(part.top));
  const bool whole = static_cast<JDIMENSION>(part.width) == library.output_width;
  for (JDIMENSION row = 0; row < height; ++row) {
    unsigned char* target = rows + row * bytes;
    if (jpeg_read_scanlines(&library, whole ? &target : &line, 1) != 1) return false;
    if (!whole) std::memcpy(target, line + before, bytes);
  }
  // Damage of the rows that were read; whatever comes after them is of no interest.
  return library.err->num_warnings == 0;
}

JpegDecoder::JpegDecoder(std::span<const std::byte> bytes) : machine_(new Machine) {
  std::memset(machine_, 0, sizeof(Machine));
  auto* first = reinterpret_cast<const unsigned char*>(bytes.data());
  if (bytes.size() < 3 || first[0] != 0xff || first[1] != 0xd8 || first[2] != 0xff) return;
  good_ = machine_->Start(first, bytes.size());
  height_ = machine_->library.image_height;
  width_ = machine_->library.image_width;
  good_ = good_ && height_ * width_ <= kMostPixels;
}

JpegDecoder::~JpegDecoder() {
  // Does nothing where none was made.
  if (machine_->library.mem) jpeg_destroy_decompress(&machine_->library);
  delete machine_;
}

std::optional<Value> JpegDecoder::Decode(const Window& part) {
  Value image = Value::Make(Element::Of(DType::kUInt8), MakeDims({part.height, part.width, 3}));
  std::vector<unsigned char> line(static_cast<size_t>(width_ + 64) * kChannels);
  auto* rows = reinterpret_cast<unsigned char*>(image.memory());
  HuffmanScan scan;
  const bool read = machine_->Read(part, rows, line.data(), &scan);
  if (machine_->endless) {
    Throw(ErrorKind::kValue, "the input must be a picture of at most {} scans, but has more.",
          kMostScans);
  }
  if (!read) return std::nullopt;
  return image;
}

}  // namespace ms::dataset
