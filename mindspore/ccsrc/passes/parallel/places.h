// How values lie in a program that is cut: a tensor by its layout, a function by those of what it
// takes and returns. Internal to the lowering.
#pragma once

#include <memory>
#include <vector>

#include "ir/type.h"
#include "passes/parallel/layout.h"

namespace ms::parallel {

struct FunctionPlaces;

struct Place {
  Layout layout;                                   // of a tensor
  std::shared_ptr<const FunctionPlaces> function;  // of a function
};
using Places = std::vector<Place>;

struct FunctionPlaces {
  Places parameters, results;
};

bool SamePlaces(const Type& whole, const Place& a, const Place& b);

// Whole everywhere, functions in all that they take and return.
Place Everywhere(const Type& whole);
Places Everywhere(const Types& whole);

// Of the tangent of a value: that of a part of a sum is the same in all processes.
Place TangentPlace(const Type& whole, const Place& place);
// Of those of the values that have a tangent.
Places TangentPlaces(const Types& whole, const Places& places);

// The places of Vjp(f) and Jvp(f), and of the backward function of a CustomGrad of f.
Place VjpPlace(const FunctionType& f, const FunctionPlaces& places);
Place JvpPlace(const Type& whole, const Place& place);
Place CustomBackwardPlace(const FunctionType& f, const FunctionPlaces& places);

// The type of a rank's piece.
Type LocalType(const Type& whole, const Place& place, const Mesh& mesh, int64_t rank);

Layout WithoutPartials(const Layout& layout);

}  // namespace ms::parallel
