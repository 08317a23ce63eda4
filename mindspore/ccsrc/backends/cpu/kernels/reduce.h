// Parts of AddReduce that live in files of their own.
#pragma once

#include "kernel/kernel.h"

namespace ms::cpu {

void AddArgReduce(KernelTable& table);
void AddScan(KernelTable& table);
void AddRunning(KernelTable& table);
void AddSort(KernelTable& table);

// An axis with what lies before and behind it.
struct AxisView {
  int64_t outer = 1, size = 1, inner = 1;
};
inline AxisView ViewAxis(const Shape& shape, int64_t axis) {
  if (shape.rank() == 0) return {};
  int at = static_cast<int>(axis < 0 ? axis + shape.rank() : axis);
  return {shape.Product(0, at), shape[at], shape.Product(at + 1, shape.rank())};
}

}  // namespace ms::cpu
