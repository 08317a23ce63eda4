// The states of the variables of a problem, and what links cost between them: tables that alike
// variables share. A search varies some axes at a time; the others are as a base has them.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "passes/parallel/eliminate.h"
#include "passes/parallel/problem.h"

namespace ms::parallel {

struct States {
  int id = 0;
  std::vector<Choice> choices;
  std::vector<float> seconds;
  std::vector<float> bytes;
  // By end and state: numbers of the layout and of the gradient's.
  struct Numbers {
    int layout, gradient;
    bool operator==(const Numbers&) const = default;
  };
  std::vector<std::vector<Numbers>> inputs, outputs;

  int size() const { return static_cast<int>(choices.size()); }
};

// Seconds of a way, as far as they are known.
class WaySeconds {
 public:
  bool asked() const { return value_ != kNotAsked; }
  bool exact() const { return value_ >= 0; }
  float about() const { return std::abs(value_); }
  float Exactly(float seconds) { return value_ = seconds; }
  float About(float seconds) { return value_ = -seconds, seconds; }

 private:
  static constexpr float kNotAsked = -std::numeric_limits<float>::infinity();
  float value_ = kNotAsked;  // what is not exact is negative
};

// Those between the layouts of one type, by their numbers. The layouts that the type is met in are
// few of all there are: the first get places in a square.
class WayTable {
 public:
  WaySeconds& at(int from, int to) {
    int row = PlaceOf(from), column = PlaceOf(to);
    if (std::max(row, column) >= kSquare) return Rest(row, column);
    if (std::max(row, column) >= width_) Widen();
    return ways_[static_cast<size_t>(row) * static_cast<size_t>(width_) +
                 static_cast<size_t>(column)];
  }

 private:
  static constexpr int kSquare = 1024;  // 4 MB
  int PlaceOf(int layout) {
    auto at = static_cast<size_t>(layout);
    if (at >= places_.size()) places_.resize(at + 1, -1);
    return places_[at] >= 0 ? places_[at] : places_[at] = count_++;
  }
  void Widen();
  WaySeconds& Rest(int row, int column) {
    return rest_[static_cast<uint64_t>(row) << 32 | static_cast<uint32_t>(column)];
  }

  std::vector<int> places_;  // by number of the layout
  int count_ = 0, width_ = 0;
  std::vector<WaySeconds> ways_;
  std::unordered_map<uint64_t, WaySeconds> rest_;
};

class StateTables {
 public:
  StateTables(const Problem& problem, const Mesh& mesh);

  // What the kind may choose along `axes`, one bit each. The axes of each mask of `tied` go the
  // same way, where the kind can do that along all of them.
  const States& Of(const Kind& kind, const Choice& base, uint32_t axes,
                   const std::vector<uint32_t>& tied = {});
  // The one state of a choice.
  const States& Of(const Kind& kind, const Choice& choice) { return Among(kind, {choice}); }
  // Of some choices of the kind, those that go together: one of them does.
  const States& Among(const Kind& kind, std::vector<Choice> choices);
  // So many ways are still looked for where many axes go different ways, which is much work.
  static constexpr int kAllWays = std::numeric_limits<int>::max();
  void LookForFarWays(int count) { far_ways_ = count; }
  // Seconds of a link between each two states, as a table of the pool: about so many where no more
  // far ways are looked for.
  int Table(const Link& link, const States& from, const States& to, TablePool* pool);
  double Seconds(const Link& link, const States& from, int i, const States& to, int j);
  Redistributor& redistributor() { return redistributor_; }

 private:
  // By what was asked for: choices along axes that differ from a base, or some by name.
  struct StatesKey {
    int kind;
    uint32_t axes;
    std::vector<uint32_t> tied;
    std::vector<Choice> choices;
    bool operator==(const StatesKey&) const = default;
  };
  struct TableKey {
    int type, from, from_end, to, to_end;
    bool back;
    float times;
    bool operator==(const TableKey&) const = default;
  };
  struct KeyHash {
    size_t operator()(const StatesKey& k) const;
    size_t operator()(const TableKey& k) const;
  };

  template <class F>
  const States& Once(const Kind& kind, StatesKey key, F choices);
  void Add(const Kind& kind, const Choice& choice, States* states);
  std::vector<Choice> ChoicesOf(const Kind& kind, const Choice& first, uint32_t axes,
                                const std::vector<uint32_t>& tied) const;
  std::optional<std::vector<int8_t>> OptionsOfAll(const Kind& kind, uint32_t axes) const;
  float Way(int type, int from, int to);
  float AboutWay(int type, int from, int to);

  const Problem& problem_;
  Mesh mesh_;
  Redistributor redistributor_;
  LayoutTable layouts_;
  std::unordered_map<StatesKey, std::unique_ptr<States>, KeyHash> states_;
  std::unordered_map<TableKey, int, KeyHash> tables_;
  int made_ = 0;
  std::vector<WayTable> ways_;  // by type
  const TablePool* pool_ = nullptr;
  int far_ways_ = 0;
};

}  // namespace ms::parallel
