#include "passes/parallel/parts.h"

#include <algorithm>
#include <bit>
#include <map>

namespace ms::parallel {
namespace {

size_t At(int i) { return static_cast<size_t>(i); }

// What each variable is made of, as a number: equal ones for the same ops on the same.
class Classes {
 public:
  explicit Classes(const Problem& problem)
      : problem_(problem), in_(problem.variables.size()), of_(in_.size(), kUnknown) {
    for (size_t i = 0; i < problem.links.size(); ++i)
      in_[At(problem.links[i].to)].push_back(static_cast<int>(i));
    for (size_t v = 0; v < in_.size(); ++v) Of(static_cast<int>(v));
  }

  const std::vector<int>& of() const { return of_; }
  int count() const { return static_cast<int>(numbers_.size()); }
  // Whether the variable reads a Parameter, itself or where readers share it.
  bool ReadsParameter(int v) const {
    return std::any_of(in_[At(v)].begin(), in_[At(v)].end(), [&](int number) {
      int from = problem_.links[At(number)].from;
      return Stays(from) || (Shared(from) && ReadsParameter(from));
    });
  }

 private:
  static constexpr int kUnknown = -1, kAsked = -2;

  const Variable& Get(int v) const { return problem_.variables[At(v)]; }
  bool Shared(int v) const { return Get(v).kind->shared(); }
  bool Stays(int v) const { return !Get(v).node && !Shared(v) && !Get(v).kind->fixed(); }

  // Values lie somewhere, each for itself. What goes round in a circle is equal to nothing.
  int Of(int v) {
    if (of_[At(v)] != kUnknown) return of_[At(v)];
    of_[At(v)] = kAsked;
    std::vector<int> key{-1 - v};
    if (Get(v).node || Shared(v)) {
      const Keeping& keeping = Get(v).keeping;
      std::vector<int> made{Get(v).kind->id, keeping.how};
      for (double share : keeping.shares)
        made.push_back(std::bit_cast<int>(static_cast<float>(share)));
      bool known = true;
      for (int number : in_[At(v)]) {
        const Link& link = problem_.links[At(number)];
        bool later = Get(v).node && Get(link.from).node && link.from > v;  // not by chains of calls
        int from = later ? kAsked : Of(link.from);
        known = known && from != kAsked;
        for (int n : {link.to_end, from, link.from_end, link.type, static_cast<int>(link.back),
                      std::bit_cast<int>(link.times)})
          made.push_back(n);
      }
      if (known) key = std::move(made);
    }
    return of_[At(v)] = numbers_.try_emplace(std::move(key), count()).first->second;
  }

  const Problem& problem_;
  std::vector<std::vector<int>> in_;  // by variable: numbers of links
  std::vector<int> of_;
  std::map<std::vector<int>, int> numbers_;
};

}  // namespace

std::optional<EqualParts> FindEqualParts(const Problem& whole) {
  Classes classes(whole);
  EqualParts parts;
  parts.of = classes.of();
  parts.one.variables.resize(static_cast<size_t>(classes.count()));
  bool found = false;
  for (size_t v = 0; v < parts.of.size(); ++v) {
    Variable& one = parts.one.variables[At(parts.of[v])];
    if (one.kind) {
      ++one.times;
      found = found || (one.node && classes.ReadsParameter(static_cast<int>(v)));
    } else {
      one = whole.variables[v];
    }
  }
  if (!found) return std::nullopt;
  parts.one.types = whole.types;
  std::map<std::tuple<int, int, int, int, int, bool>, size_t> known;
  for (Link link : whole.links) {
    link.from = parts.of[At(link.from)], link.to = parts.of[At(link.to)];
    auto [place, fresh] =
        known.try_emplace({link.from, link.from_end, link.to, link.to_end, link.type, link.back},
                          parts.one.links.size());
    if (fresh)
      parts.one.links.push_back(link);
    else
      parts.one.links[place->second].times += link.times;
  }
  return parts;
}

}  // namespace ms::parallel
