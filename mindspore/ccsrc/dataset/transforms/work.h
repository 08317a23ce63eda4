// A value on its way through a chain, and the functions that the families of transforms give it.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "dataset/random.h"
#include "dataset/value.h"

namespace ms::dataset {

// An image on its way: of encoded bytes, a part is decoded when a crop has chosen it.
struct Work {
  Value value;
  bool encoded = false;  // Decode was asked for and is not done
  bool pillow = false;   // is a PIL image, of which resizing averages
  Random random;
};

using Numbers = std::vector<double>;
using Function = void (*)(Work*, const Numbers&);
using FunctionTable = std::unordered_map<std::string, Function>;

void AddColors(FunctionTable* functions);
void AddFilters(FunctionTable* functions);
void AddSounds(FunctionTable* functions);
void AddWarps(FunctionTable* functions);

// The numbers from `first` on.
inline Numbers From(const Numbers& numbers, size_t first) {
  return {numbers.begin() + static_cast<std::ptrdiff_t>(first), numbers.end()};
}

}  // namespace ms::dataset
