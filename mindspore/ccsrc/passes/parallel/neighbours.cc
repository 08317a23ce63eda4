#include "passes/parallel/neighbours.h"

#include <algorithm>

namespace ms::parallel {
namespace {

bool May(const Kind& kind, int axis, int8_t option) {
  const std::vector<int8_t>& options = kind.options(axis);
  return std::find(options.begin(), options.end(), option) != options.end();
}

}  // namespace

std::vector<Choice> Neighbours(const Kind& kind, const Choice& choice, const std::vector<int>& axes,
                               bool pairs) {
  std::vector<Choice> all{choice};
  auto place = [](Choice* c, int axis) -> int8_t& { return (*c)[static_cast<size_t>(axis)]; };
  auto of = [&](int axis) { return choice[static_cast<size_t>(axis)]; };
  for (size_t i = 0; i < axes.size(); ++i) {
    Choice one = choice;
    for (int8_t option : kind.options(axes[i])) {
      place(&one, axes[i]) = option;
      all.push_back(one);
      for (size_t j = i + 1; pairs && j < axes.size(); ++j) {
        bool alike = of(axes[j]) == of(axes[i]);
        if (!alike || !May(kind, axes[j], option)) continue;
        Choice two = one;
        place(&two, axes[j]) = option;
        all.push_back(two);
      }
    }
    for (size_t j = i + 1; pairs && j < axes.size(); ++j) {
      Choice swapped = choice;
      std::swap(place(&swapped, axes[i]), place(&swapped, axes[j]));
      bool may = May(kind, axes[i], place(&swapped, axes[i])) &&
                 May(kind, axes[j], place(&swapped, axes[j]));
      if (may) all.push_back(swapped);
    }
  }
  return all;
}

}  // namespace ms::parallel
