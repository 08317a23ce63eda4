// A question for a way between two layouts, made small: the axes that move and those that may help,
// with those that go the same way over equal links as one; the dimensions that matter, with what
// all else leaves of the tensor. Many questions on many axes so become few on few.
#pragma once

#include "passes/parallel/redistribute.h"

namespace ms::parallel {

struct FoldedAxis {
  AxisList members;  // of the mesh, the outermost first
  int links = 0;     // number of the kind of links
  int64_t size = 1;
};

struct FoldedWay {
  std::vector<FoldedAxis> axes;
  std::vector<int> dims;  // of the tensor
  Shape shape;            // of a tensor on the folded axes alone
  size_t item = 0;        // bytes of what stands for an element of it
  bool uneven = false;    // ends have pieces of different sizes
  Layout from, to;
};

class Folder {
 public:
  explicit Folder(const Mesh& mesh);
  FoldedWay Fold(const Type& global, const Layout& from, const Layout& to) const;
  // The mesh of the folded axes.
  Mesh MeshOf(const FoldedWay& way) const;
  // The path of the folded question as one of the mesh.
  Path Unfold(const FoldedWay& way, const Layout& from, const Path& path) const;

 private:
  const Mesh& mesh_;
  std::vector<int> links_;  // by axis: the first with equal ones
};

}  // namespace ms::parallel
