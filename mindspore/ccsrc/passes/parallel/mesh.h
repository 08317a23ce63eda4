// The devices as a grid with named axes. Each axis has the speed of its links, so a collective
// along it has a cost: alpha (seconds for each message) and beta (seconds for each byte).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ms::parallel {

inline constexpr int kMaxAxes = 12;

// Numbers of axes of a mesh, in an order that means something: a small value.
class AxisList {
 public:
  AxisList() = default;
  AxisList(std::initializer_list<int> axes) {  // NOLINT: a list is its axes
    for (int a : axes) push_back(a);
  }
  void push_back(int axis) { items_[size_++] = static_cast<uint8_t>(axis); }
  void pop_back() { --size_; }
  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int operator[](int i) const { return items_[i]; }
  int back() const { return items_[size_ - 1]; }
  const uint8_t* begin() const { return items_; }
  const uint8_t* end() const { return items_ + size_; }
  bool contains(int axis) const;
  bool operator==(const AxisList& other) const;

 private:
  uint8_t items_[kMaxAxes] = {};
  uint8_t size_ = 0;
};

struct MeshAxis {
  std::string name;
  int64_t size = 1;
  double alpha = 0;  // seconds for each message
  double beta = 0;   // seconds for each byte through a link
  bool operator==(const MeshAxis&) const = default;
};

struct Mesh {
  std::vector<MeshAxis> axes;  // outermost first: ranks are row-major in the axes

  int64_t devices() const;
  int64_t size(int axis) const { return axes[static_cast<size_t>(axis)].size; }
  int count() const { return static_cast<int>(axes.size()); }
  std::vector<int64_t> Coordinates(int64_t rank) const;
  int64_t Coordinate(int64_t rank, int axis) const;
  // Ranks that differ from `rank` along these axes alone, by their coordinates in the order of
  // `axes`, the first the slowest to change.
  std::vector<int64_t> Members(int64_t rank, const AxisList& axes) const;
  int Find(std::string_view name) const;  // -1: no such axis
  // ValueError for too many axes, sizes below 1, names that are empty, not names or used twice.
  void Check() const;
  bool operator==(const Mesh&) const = default;
};

// The same devices under the same names, however fast their links are taken to be.
bool SameAxes(const Mesh& a, const Mesh& b);
// "dp, tp"
std::string AxesText(const AxisList& axes, const Mesh& mesh);

// What one device does in a second.
struct Device {
  double flops = 1e11;   // of products of matrices in float32
  double bytes = 2e10;   // of memory
  double launch = 2e-6;  // seconds that an op takes at least
  int64_t memory = 0;    // bytes; 0: not known
};

}  // namespace ms::parallel
