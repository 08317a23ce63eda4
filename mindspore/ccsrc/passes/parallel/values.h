// Values that are one: parameters of graphs with what calls bind to them. Internal to the problem.
#pragma once

#include <algorithm>
#include <map>
#include <optional>

#include "ir/graph.h"
#include "passes/parallel/layout.h"

namespace ms::parallel {

class Values {
 public:
  struct Value {
    Type type;
    std::optional<Layout> pin;
    bool data = false;  // comes from outside, and is no Parameter
    bool trained = false;
    // Of Parameters, whole: each of them stays on the device. How many an optimizer updates, with
    // its states, which have become one value with them.
    double bytes = 0;
    int updated = 0;
    double kept = 0;  // how many of it stay until they are computed with again
    // Of the two, what is known to be in which stage; empty: nothing.
    std::vector<double> bytes_in = {}, kept_in = {};
  };

  int Of(const Node* parameter) { return Number(parameter, -1, parameter->outputs[0]); }
  int Of(const Graph* graph, size_t result) {
    return Number(graph, static_cast<int>(result), graph->outputs()[result].type());
  }
  Value& at(int value) { return values_[static_cast<size_t>(Find(value))]; }
  int Find(int value) const {
    while (parents_[static_cast<size_t>(value)] != value)
      value = parents_[static_cast<size_t>(value)];
    return value;
  }
  // False where they cannot lie alike.
  bool Join(int a, int b) {
    a = Find(a), b = Find(b);
    if (a == b) return true;
    Value &x = at(a), &y = at(b);
    if (!x.type.is_tensor() || !y.type.is_tensor() || !(x.type.shape() == y.type.shape()))
      return false;
    if (x.pin && y.pin && !(*x.pin == *y.pin)) return false;
    if (!x.pin) x.pin = y.pin;
    x.data |= y.data;
    x.bytes += y.bytes;
    x.updated += y.updated;
    x.kept += y.kept;
    Add(y.bytes_in, &x.bytes_in);
    Add(y.kept_in, &x.kept_in);
    x.trained |= y.trained;
    parents_[static_cast<size_t>(b)] = a;
    return true;
  }

  // Of two by stage, of which either may be empty.
  static void Add(const std::vector<double>& more, std::vector<double>* sum) {
    sum->resize(std::max(sum->size(), more.size()), 0);
    for (size_t s = 0; s < more.size(); ++s) (*sum)[s] += more[s];
  }

 private:
  int Number(const void* owner, int index, const Type& type) {
    auto [place, fresh] = numbers_.try_emplace({owner, index}, static_cast<int>(values_.size()));
    if (fresh) {
      values_.push_back({type, {}});
      parents_.push_back(place->second);
    }
    return place->second;
  }

  std::map<std::pair<const void*, int>, int> numbers_;
  std::vector<Value> values_;
  std::vector<int> parents_;
};

}  // namespace ms::parallel
