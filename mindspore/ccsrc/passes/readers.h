// Who reads each value of a graph, in program order; results of the graph count as a reader that is
// null. Of the graph as it was when this was made.
#pragma once

#include <span>
#include <vector>

#include "ir/var_map.h"

namespace ms {

class Readers {
 public:
  explicit Readers(const Graph& graph) {
    uint32_t total = 0;
    Visit(graph, [&](const Var& v, Node*) { ++places_[v].count, ++total; });
    readers_.resize(total);
    uint32_t begin = 0;
    for (Place& place : places_.items()) {
      place.end = begin;  // until it is filled
      begin += place.count;
    }
    Visit(graph, [&](const Var& v, Node* reader) { readers_[places_[v].end++] = reader; });
  }

  std::span<Node* const> operator[](const Var& v) const {
    const Place* place = places_.Find(v);
    if (!place) return {};
    return std::span(readers_).subspan(place->end - place->count, place->count);
  }
  // Null where there is none, or more than one, or where it is a result.
  Node* Only(const Var& v) const {
    auto readers = (*this)[v];
    return readers.size() == 1 ? readers[0] : nullptr;
  }

 private:
  struct Place {
    uint32_t end = 0;
    uint32_t count = 0;
  };
  template <class F>
  static void Visit(const Graph& graph, F&& add) {
    for (Node* node : graph.nodes()) {
      for (const Var& v : node->inputs) add(v, node);
    }
    for (const Var& v : graph.outputs()) add(v, nullptr);
  }

  VarMap<Place> places_;
  std::vector<Node*> readers_;
};

}  // namespace ms
