// The states of the variables of a problem, and what links cost between them: tables that alike
// variables share. A search varies some axes at a time; the others are as a base has them.
#pragma once

#include <algorithm>
#include <limits>

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

// Seconds between layouts of one type, by their numbers: negative where the way was not looked for,
// which then takes about so long, and without an end where nobody has asked yet. The layouts that
// the type is met in are few of all there are: the first get places in a square.
class WayTable {
 public:
  float& at(int from, int to) {
    int row = PlaceOf(from), column = PlaceOf(to);
    if (std::max(row, column) >= kSquare) return Rest(row, column);
    if (std::max(row, column) >= width_) Widen();
    return seconds_[static_cast<size_t>(row) * static_cast<size_t>(width_) +
                    static_cast<size_t>(column)];
  }

  static constexpr float kNotAsked = -std::numeric_limits<float>::infinity();

 private:
  static constexpr int kSquare = 1024;  // 4 MB
  int PlaceOf(int layout) {
    auto at = static_cast<size_t>(layout);
    if (at >= places_.size()) places_.resize(at + 1, -1);
    return places_[at] >= 0 ? places_[at] : places_[at] = count_++;
  }
  void Widen();
  float& Rest(int row, int column) {
    auto key = static_cast<uint64_t>(row) << 32 | static_cast<uint32_t>(column);
    return rest_.try_emplace(key, kNotAsked).first->second;
  }

  std::vector<int> places_;  // by number of the layout
  int count_ = 0, width_ = 0;
  std::vector<float> seconds_;
  std::unordered_map<uint64_t, float> rest_;
};

class StateTables {
 public:
  StateTables(const Problem& problem, const Mesh& mesh);

  // What the kind may choose along `axes`, one bit each.
  const States& Of(const Kind& kind, const Choice& base, uint32_t axes) {
    return Of(kind, base, axes, {});
  }
  // The axes of each mask of `tied` go the same way, where the kind can do that along all of them.
  const States& Of(const Kind& kind, const Choice& base, uint32_t axes,
                   const std::vector<uint32_t>& tied);
  // Some choices of the kind, those that go together: the base does.
  const States& Among(const Kind& kind, const Choice& base, std::vector<Choice> choices);
  // So many ways are still looked for where many axes go different ways, which is much work.
  static constexpr int kAllWays = std::numeric_limits<int>::max();
  void LookForFarWays(int count) { far_ways_ = count; }
  // Seconds of a link between each two states, as a table of the pool: about so many where no more
  // far ways are looked for.
  int Table(const Link& link, const States& from, const States& to, TablePool* pool);
  double Seconds(const Link& link, const States& from, int i, const States& to, int j);
  Redistributor& redistributor() { return redistributor_; }

 private:
  struct StatesKey {
    int kind;
    uint32_t axes;
    Choice base;
    std::vector<uint32_t> tied;
    std::vector<Choice> among;  // instead of all this
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

  bool Add(const Kind& kind, const Choice& choice, States* states);
  std::vector<Choice> ChoicesOf(const Kind& kind, const Choice& first, uint32_t axes,
                                const std::vector<uint32_t>& tied) const;
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
