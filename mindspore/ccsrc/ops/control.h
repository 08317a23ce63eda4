// Helpers around the structural ops of ops/control.cc.
#pragma once

#include "ir/type.h"

namespace ms {

// The result types of Vjp(f): what f returns, then `back`, which maps the tangents of those results
// that have one to (Box of the tangents of f's captures, tangents of those parameters that have
// one).
Type VjpType(const FunctionType& f);

// What becomes of a type under Jvp: functions take and return tangents too, after the values;
// tensors and boxes stay.
Type JvpType(const Type& type);
// A tensor type with `size` items along a new first axis.
Type BatchedType(const Type& type, int64_t size);
// What the backward function of a CustomGrad of f must be.
Type CustomBackwardType(const FunctionType& f);

// Tangent types (tensors and boxes) as the attribute of BoxGet, and back.
Ints EncodeTangentTypes(const Types& types);
Types DecodeTangentTypes(const Ints& code);
// The tangents of those of `types` that have one.
Types TangentTypes(const Types& types);

}  // namespace ms
