// Which samples of a step are this process's. What draws a number for each element of a tensor
// draws, in every process, the part that belongs to its samples of what one process would draw for
// all.
#pragma once

#include <cstdint>

#include "tensor/tensor.h"

namespace ms {

// `first` samples are before those of this process, which has `rows`: or any numbers in that
// proportion, so {rank, 1} where all have as many.
struct SamplePart {
  int64_t first = 0, rows = 1;
};

void SetSamplePart(SamplePart part);

// Where a tensor begins in the joined one of all processes, counted in elements. Samples are along
// the leading axis; a tensor whose leading axis has no equal share for each of them belongs to all.
int64_t FirstElement(const Shape& shape);

}  // namespace ms
