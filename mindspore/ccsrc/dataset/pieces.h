// Sources whose rows are pieces of larger files: lines, records of CSV, records of TFRecord. The
// files are gone through once for where the pieces lie; then each row is read by its number.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/row.h"

namespace ms::dataset {

// A file, or what one holds after its decompression.
struct PieceFile {
  std::string path;
  std::optional<std::string> content;
};

struct Piece {
  uint64_t offset;
  uint64_t size;
};

// Where the pieces of several files lie, numbered through all of them.
class Pieces {
 public:
  explicit Pieces(std::vector<PieceFile> files);
  ~Pieces();

  // To be called for each file before anything is read.
  void Add(std::vector<Piece> pieces);
  std::string Content(size_t file) const;

  size_t files() const { return files_.size(); }
  const std::string& path(size_t file) const { return files_[file].path; }
  uint64_t FileSize(size_t file) const;
  void ReadFile(size_t file, uint64_t offset, uint64_t count, void* out) const;

  size_t size() const { return pieces_.size(); }
  std::vector<int64_t> Counts() const;
  std::string Bytes(size_t piece) const;
  // "The file 'a.txt', row 3" of a piece; rows count from 1 in each file.
  std::string Where(size_t piece) const;

 private:
  size_t FileOf(size_t piece) const;

  std::vector<PieceFile> files_;
  struct Opened;
  std::unique_ptr<Opened> opened_;
  std::vector<Piece> pieces_;
  std::vector<size_t> ends_;  // number of the first piece after each file
};
using PiecesRef = std::shared_ptr<const Pieces>;

// Lines without their ends and without a mark at the start of the file.
PiecesRef FindLines(std::vector<PieceFile> files, bool keep_empty);
// Records of CSV: a quoted field may hold line ends. `headed`: the first one of each file is left
// out.
PiecesRef FindRecords(std::vector<PieceFile> files, bool headed);
// Records of TFRecord files; the checksums of their lengths are checked here, those of the contents
// when they are read.
PiecesRef FindExamples(std::vector<PieceFile> files);

// The values of a row from its bytes; `where` is of texts of errors.
class PieceForm {
 public:
  virtual ~PieceForm() = default;
  virtual void Parse(std::string_view bytes, const std::string& where,
                     std::vector<Value>* values) const = 0;
};
std::shared_ptr<const PieceForm> MakeLineForm();
// What a column of CSV holds.
struct CsvColumn {
  enum Kind { kText, kInt32, kFloat32 } kind;
};
std::shared_ptr<const PieceForm> MakeCsvForm(char delimiter, std::vector<CsvColumn> columns);
std::vector<std::string> SplitRecord(std::string_view record, char delimiter,
                                     const std::string& where);

std::shared_ptr<const Step> MakePieceStep(PiecesRef pieces, std::shared_ptr<const PieceForm> form);

}  // namespace ms::dataset
