// See pieces.h.
#include "dataset/pieces.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <list>
#include <mutex>

#include "base/mutex.h"
#include "dataset/files.h"
#include "dataset/text.h"

namespace ms::dataset {
namespace {

// So many files are kept open: a process may have few.
constexpr size_t kOpenFiles = 32;
constexpr size_t kBlock = 1 << 20;

}  // namespace

struct Pieces::Opened {
  Mutex mutex;
  std::list<std::pair<size_t, std::shared_ptr<const SourceFile>>> files;  // last used first

  std::shared_ptr<const SourceFile> Get(size_t number, const std::string& path) {
    std::lock_guard lock(mutex);
    auto found = std::find_if(files.begin(), files.end(),
                              [number](const auto& entry) { return entry.first == number; });
    if (found == files.end()) {
      files.emplace_front(number, std::make_shared<SourceFile>(path));
      if (files.size() > kOpenFiles) files.pop_back();
    } else {
      files.splice(files.begin(), files, found);
    }
    return files.front().second;
  }
};

Pieces::Pieces(std::vector<PieceFile> files)
    : files_(std::move(files)), opened_(std::make_unique<Opened>()) {}
Pieces::~Pieces() = default;

void Pieces::Add(std::vector<Piece> pieces) {
  pieces_.insert(pieces_.end(), pieces.begin(), pieces.end());
  ends_.push_back(pieces_.size());
}

uint64_t Pieces::FileSize(size_t file) const {
  if (files_[file].content) return files_[file].content->size();
  return opened_->Get(file, files_[file].path)->size();
}

void Pieces::ReadFile(size_t file, uint64_t offset, uint64_t count, void* out) const {
  if (const auto& content = files_[file].content) {
    std::memcpy(out, content->data() + offset, count);
  } else {
    opened_->Get(file, files_[file].path)->Read(offset, count, out);
  }
}

std::vector<int64_t> Pieces::Counts() const {
  std::vector<int64_t> counts;
  size_t start = 0;
  for (size_t end : ends_) {
    counts.push_back(static_cast<int64_t>(end - start));
    start = end;
  }
  return counts;
}

size_t Pieces::FileOf(size_t piece) const {
  return static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), piece) - ends_.begin());
}

std::string Pieces::Bytes(size_t piece) const {
  std::string bytes(pieces_[piece].size, '\0');
  ReadFile(FileOf(piece), pieces_[piece].offset, bytes.size(), bytes.data());
  return bytes;
}

std::string Pieces::Where(size_t piece) const {
  size_t file = FileOf(piece), first = file == 0 ? 0 : ends_[file - 1];
  return fmt::format("The file '{}', row {},", path(file), piece - first + 1);
}

namespace {

// Goes through the bytes of a file block by block.
template <class Each>
void EachByte(const Pieces& pieces, size_t file, Each&& each) {
  std::string block(kBlock, '\0');
  uint64_t size = pieces.FileSize(file);
  for (uint64_t start = 0; start < size; start += kBlock) {
    uint64_t count = std::min<uint64_t>(kBlock, size - start);
    pieces.ReadFile(file, start, count, block.data());
    for (uint64_t i = 0; i < count; ++i) each(block[i], start + i);
  }
}

// Where the text of a file starts, behind a byte order mark.
uint64_t TextStart(const Pieces& pieces, size_t file) {
  std::string head(std::min<uint64_t>(pieces.FileSize(file), 3), '\0');
  pieces.ReadFile(file, 0, head.size(), head.data());
  return head.size() - WithoutMark(head).size();
}

// Pieces between line ends; with `quotes`, those outside of quoted text.
class LineFinder {
 public:
  LineFinder(const Pieces& pieces, size_t file, bool quotes, bool keep_empty)
      : quotes_(quotes), keep_empty_(keep_empty), start_(TextStart(pieces, file)) {
    uint64_t size = pieces.FileSize(file), mark = start_;
    EachByte(pieces, file, [&](char byte, uint64_t place) {
      if (place < mark) return;
      if (byte == '\n' && !quoted_) {
        End(place);
        start_ = place + 1;
      } else if (byte == '"' && quotes_) {
        quoted_ = !quoted_;
      }
      before_ = byte;
    });
    if (start_ < size) End(size);
    if (quoted_) {
      Throw(ErrorKind::kRuntime, "The file '{}' must end each quoted text, but row {} has none.",
            pieces.path(file), found_.size());
    }
  }
  std::vector<Piece> Take() && { return std::move(found_); }

 private:
  void End(uint64_t place) {
    uint64_t size = place - start_;
    if (size > 0 && before_ == '\r') --size;
    if (size > 0 || keep_empty_) found_.push_back({start_, size});
  }

  bool quotes_, keep_empty_;
  bool quoted_ = false;
  char before_ = 0;
  uint64_t start_;
  std::vector<Piece> found_;
};

}  // namespace

PiecesRef FindLines(std::vector<PieceFile> files, bool keep_empty) {
  auto pieces = std::make_shared<Pieces>(std::move(files));
  for (size_t i = 0; i < pieces->files(); ++i) {
    pieces->Add(LineFinder(*pieces, i, false, keep_empty).Take());
  }
  return pieces;
}

PiecesRef FindRecords(std::vector<PieceFile> files, bool headed) {
  auto pieces = std::make_shared<Pieces>(std::move(files));
  for (size_t i = 0; i < pieces->files(); ++i) {
    std::vector<Piece> found = LineFinder(*pieces, i, true, false).Take();
    if (headed && !found.empty()) found.erase(found.begin());
    pieces->Add(std::move(found));
  }
  return pieces;
}

namespace {

class LineForm : public PieceForm {
 public:
  void Parse(std::string_view bytes, const std::string& where,
             std::vector<Value>* values) const override {
    values->push_back(TextOf(bytes, where));
  }
};

template <class T>
Value NumberOf(const std::string& field, size_t column, const char* kind,
               const std::string& where) {
  T number{};
  const char* end = field.data() + field.size();
  auto [stop, error] = std::from_chars(field.data(), end, number);
  if (error != std::errc() || stop != end) {
    Throw(ErrorKind::kRuntime, "{} must have {} in column {}, but got '{:.60}'.", where, kind,
          column, field);
  }
  return Value::Scalar<T>(number);
}

std::string Stripped(std::string text) {
  auto space = [](char c) { return c == ' ' || c == '\t'; };
  auto first = std::find_if_not(text.begin(), text.end(), space);
  auto last = std::find_if_not(text.rbegin(), text.rend(), space).base();
  return first < last ? std::string(first, last) : std::string();
}

class CsvForm : public PieceForm {
 public:
  CsvForm(char delimiter, std::vector<CsvColumn> columns)
      : delimiter_(delimiter), columns_(std::move(columns)) {}
  void Parse(std::string_view bytes, const std::string& where,
             std::vector<Value>* values) const override {
    std::vector<std::string> fields = SplitRecord(bytes, delimiter_, where);
    if (fields.size() != columns_.size()) {
      Throw(ErrorKind::kRuntime, "{} must have {} columns, but got {}.", where, columns_.size(),
            fields.size());
    }
    for (size_t i = 0; i < fields.size(); ++i) {
      if (columns_[i].kind == CsvColumn::kText) {
        values->push_back(TextOf(fields[i], where));
      } else if (columns_[i].kind == CsvColumn::kInt32) {
        values->push_back(NumberOf<int32_t>(Stripped(fields[i]), i, "an int32", where));
      } else {
        values->push_back(NumberOf<float>(Stripped(fields[i]), i, "a float32", where));
      }
    }
  }

 private:
  char delimiter_;
  std::vector<CsvColumn> columns_;
};

class PieceStep : public Step {
 public:
  PieceStep(PiecesRef pieces, std::shared_ptr<const PieceForm> form)
      : pieces_(std::move(pieces)), form_(std::move(form)) {}
  void Run(std::span<Row> rows, size_t depth) const override {
    for (Row& row : rows) {
      auto number = static_cast<size_t>(row.pending[depth].number);
      form_->Parse(pieces_->Bytes(number), pieces_->Where(number), &row.values);
    }
  }

 private:
  PiecesRef pieces_;
  std::shared_ptr<const PieceForm> form_;
};

}  // namespace

std::vector<std::string> SplitRecord(std::string_view record, char delimiter,
                                     const std::string& where) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < record.size(); ++i) {
    char byte = record[i];
    bool twice = byte == '"' && i + 1 < record.size() && record[i + 1] == '"';
    if (quoted && twice) {
      fields.back() += record[++i];
    } else if (byte == '"') {
      quoted = !quoted;
    } else if (byte == delimiter && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += byte;
    }
  }
  if (quoted) Throw(ErrorKind::kRuntime, "{} must end its quoted text, but does not.", where);
  return fields;
}

std::shared_ptr<const PieceForm> MakeLineForm() { return std::make_shared<LineForm>(); }

std::shared_ptr<const PieceForm> MakeCsvForm(char delimiter, std::vector<CsvColumn> columns) {
  return std::make_shared<CsvForm>(delimiter, std::move(columns));
}

std::shared_ptr<const Step> MakePieceStep(PiecesRef pieces, std::shared_ptr<const PieceForm> form) {
  return std::make_shared<PieceStep>(std::move(pieces), std::move(form));
}

}  // namespace ms::dataset
