#include "passes/parallel/mesh.h"

#include <algorithm>

#include "base/error.h"

namespace ms::parallel {

bool AxisList::contains(int axis) const {
  return std::find(begin(), end(), static_cast<uint8_t>(axis)) != end();
}

bool AxisList::operator==(const AxisList& other) const {
  return std::equal(begin(), end(), other.begin(), other.end());
}

int64_t Mesh::devices() const {
  int64_t product = 1;
  for (const MeshAxis& axis : axes) product *= axis.size;
  return product;
}

std::vector<int64_t> Mesh::Coordinates(int64_t rank) const {
  std::vector<int64_t> coordinates(axes.size());
  for (size_t i = axes.size(); i-- > 0;) {
    coordinates[i] = rank % axes[i].size;
    rank /= axes[i].size;
  }
  return coordinates;
}

int64_t Mesh::Coordinate(int64_t rank, int axis) const {
  for (int i = count() - 1; i > axis; --i) rank /= size(i);
  return rank % size(axis);
}

std::vector<int64_t> Mesh::Members(int64_t rank, const AxisList& along) const {
  std::vector<int64_t> strides(axes.size(), 1);
  for (size_t i = axes.size(); i-- > 1;) strides[i - 1] = strides[i] * axes[i].size;
  std::vector<int64_t> members{rank};
  for (int axis : along) members[0] -= Coordinate(rank, axis) * strides[static_cast<size_t>(axis)];
  for (int axis : along) {
    std::vector<int64_t> more;
    for (int64_t first : members) {
      for (int64_t i = 0; i < size(axis); ++i)
        more.push_back(first + i * strides[static_cast<size_t>(axis)]);
    }
    members = std::move(more);
  }
  return members;
}

bool SameAxes(const Mesh& a, const Mesh& b) {
  return std::equal(
      a.axes.begin(), a.axes.end(), b.axes.begin(), b.axes.end(),
      [](const MeshAxis& x, const MeshAxis& y) { return x.name == y.name && x.size == y.size; });
}

std::string AxesText(const AxisList& axes, const Mesh& mesh) {
  std::string text;
  for (int axis : axes)
    text += (text.empty() ? "" : ", ") + mesh.axes[static_cast<size_t>(axis)].name;
  return text;
}

int Mesh::Find(std::string_view name) const {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

void Mesh::Check() const {
  if (axes.size() > kMaxAxes)
    Throw(ErrorKind::kValue,
          "For 'device_num', the devices must be at most {} axes of the sizes that Layouts and "
          "strategies ask for, but got {}.",
          kMaxAxes, axes.size());
  auto inner = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (const MeshAxis& axis : axes) {
    if (axis.name.empty() || !std::all_of(axis.name.begin(), axis.name.end(), inner))
      Throw(ErrorKind::kValue, "For 'mesh', an axis must have a name, but got '{}'.", axis.name);
    if (axis.size < 1)
      Throw(ErrorKind::kValue, "For 'mesh', axis '{}' must have at least 1 device, but got {}.",
            axis.name, axis.size);
    if (Find(axis.name) != static_cast<int>(&axis - axes.data()))
      Throw(ErrorKind::kValue, "For 'mesh', axes must have different names, but got '{}' twice.",
            axis.name);
  }
  int64_t product = 1;
  for (const MeshAxis& axis : axes) {
    if (axis.size > (int64_t{1} << 31) / product)
      Throw(ErrorKind::kValue, "For 'device_num', there must be fewer than 2^31 devices.");
    product *= axis.size;
  }
}

}  // namespace ms::parallel
