#include "passes/parallel/places.h"

namespace ms::parallel {
namespace {

std::shared_ptr<const FunctionPlaces> Function(Places parameters, Places results) {
  return std::make_shared<const FunctionPlaces>(
      FunctionPlaces{std::move(parameters), std::move(results)});
}

Places Joined(Places a, const Places& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

bool SamePlaces(const Types& whole, const Places& a, const Places& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!SamePlaces(whole[i], a[i], b[i])) return false;
  }
  return true;
}

}  // namespace

bool SamePlaces(const Type& whole, const Place& a, const Place& b) {
  if (whole.is_tensor()) return a.layout == b.layout;
  if (!whole.is_function() || a.function == b.function) return true;
  const FunctionType& type = whole.function();
  return SamePlaces(type.parameters, a.function->parameters, b.function->parameters) &&
         SamePlaces(type.results, a.function->results, b.function->results);
}

Place Everywhere(const Type& whole) {
  if (whole.is_tensor()) return {Layout::Replicated(whole.shape().rank()), nullptr};
  if (!whole.is_function()) return {};
  const FunctionType& type = whole.function();
  return {{}, Function(Everywhere(type.parameters), Everywhere(type.results))};
}

Places Everywhere(const Types& whole) {
  Places places;
  for (const Type& type : whole) places.push_back(Everywhere(type));
  return places;
}

Layout WithoutPartials(const Layout& layout) {
  Layout result = layout;
  for (int axis = 0; axis < kMaxAxes; ++axis) {
    if (result.partial(axis) != Partial::kNone) result = result.Free(axis);
  }
  return result;
}

Place TangentPlace(const Type& whole, const Place& place) {
  return whole.is_tensor() ? Place{WithoutPartials(place.layout), nullptr} : Place{};
}

Places TangentPlaces(const Types& whole, const Places& places) {
  Places tangents;
  for (size_t i = 0; i < whole.size(); ++i) {
    if (whole[i].has_tangent()) tangents.push_back(TangentPlace(whole[i], places[i]));
  }
  return tangents;
}

Place VjpPlace(const FunctionType& f, const FunctionPlaces& places) {
  Places back_results =
      Joined(Places(1), TangentPlaces(f.parameters, places.parameters));  // first a Box
  Places results = places.results;
  results.push_back({{}, Function(TangentPlaces(f.results, places.results), back_results)});
  return {{}, Function(places.parameters, std::move(results))};
}

Place JvpPlace(const Type& whole, const Place& place) {
  if (!whole.is_function()) return place;
  auto doubled = [](const Types& types, const Places& of) {
    Places result;
    for (size_t i = 0; i < types.size(); ++i) result.push_back(JvpPlace(types[i], of[i]));
    for (size_t i = 0; i < types.size(); ++i) {
      if (types[i].is_tensor() && types[i].has_tangent()) result.push_back(of[i]);
    }
    return result;
  };
  const FunctionType& type = whole.function();
  return {{},
          Function(doubled(type.parameters, place.function->parameters),
                   doubled(type.results, place.function->results))};
}

Place CustomBackwardPlace(const FunctionType& f, const FunctionPlaces& places) {
  Places parameters = Joined(places.parameters, places.results);
  parameters = Joined(parameters, TangentPlaces(f.results, places.results));
  return {{}, Function(std::move(parameters), TangentPlaces(f.parameters, places.parameters))};
}

Type LocalType(const Type& whole, const Place& place, const Mesh& mesh, int64_t rank) {
  if (whole.is_tensor())
    return {whole.dtype(), place.layout.Local(whole.shape(), mesh, rank), whole.weak()};
  if (!whole.is_function()) return whole;
  auto local = [&](const Types& types, const Places& of) {
    Types result;
    for (size_t i = 0; i < types.size(); ++i)
      result.push_back(LocalType(types[i], of[i], mesh, rank));
    return result;
  };
  const FunctionType& type = whole.function();
  return Type::Function(local(type.parameters, place.function->parameters),
                        local(type.results, place.function->results));
}

}  // namespace ms::parallel
