// Reading of files that rows come from: whole ones, and pieces at an offset. A failure names the
// file.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "dataset/value.h"

namespace ms::dataset {

class SourceFile {
 public:
  explicit SourceFile(const std::string& path);
  ~SourceFile();
  SourceFile(const SourceFile&) = delete;

  uint64_t size() const { return size_; }
  const std::string& path() const { return path_; }
  // All of these bytes; the file was long enough when it was opened.
  void Read(uint64_t offset, uint64_t count, void* out) const;

 private:
  std::string path_;
  int file_;
  uint64_t size_ = 0;
};

// The bytes of a file as UInt8[n].
Value ReadWhole(const std::string& path);

}  // namespace ms::dataset
