// Transforms of the package, one after the other, without the interpreter. Neighbours that do less
// together are done together: a crop decodes only its part of a picture, and what flips, scales and
// moves bytes is one pass through a table.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dataset/random.h"
#include "dataset/row.h"

namespace ms::dataset {

// A number that is drawn for each value: any from low to high, or an integer of them.
struct Draw {
  size_t place;  // among the numbers of a transform
  double low, high;
  bool whole;
};

// A transform by its name and its numbers, as the classes of the language above spell them.
struct Transform {
  std::string name;
  std::vector<double> numbers;
  std::vector<Draw> draws = {};
  double probability = 1;

  // Whether it does the same with every value.
  bool certain() const { return draws.empty() && probability >= 1; }
  // The numbers for one value; none where it stays as it is.
  std::optional<std::vector<double>> Drawn(Random* random) const;
};

class Chain : public Operation {
 public:
  // `names` are what errors call the transforms.
  explicit Chain(std::vector<Transform> transforms);
  ~Chain() override;

  void Apply(std::span<Call> calls) const override;
  bool parallel() const override { return true; }
  // One value by itself, with the draws of `key`.
  Value Run(Value value, uint64_t key) const;

 private:
  struct Stage;
  std::vector<std::unique_ptr<Stage>> stages_;
};

// Pictures that are no JPEG this library decodes; throws ValueError for what is no picture.
using PictureReader = std::function<Value(const Value& bytes)>;
void SetPictureReader(PictureReader reader);

// Bytes as an RGB image.
Value DecodePicture(const Value& bytes);

}  // namespace ms::dataset
