// The states of the variables of a problem, and what links cost between them: tables that alike
// variables share. A search varies some axes at a time; the others are as a base has them.
#pragma once

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

class StateTables {
 public:
  StateTables(const Problem& problem, const Mesh& mesh);

  // What the kind may choose along `axes`, one bit each.
  const States& Of(const Kind& kind, const Choice& base, uint32_t axes);
  // Seconds of a link between each two states, as a table of the pool.
  int Table(const Link& link, const States& from, const States& to, TablePool* pool);
  double Seconds(const Link& link, const States& from, int i, const States& to, int j);
  Redistributor& redistributor() { return redistributor_; }

 private:
  struct StatesKey {
    int kind;
    uint32_t axes;
    Choice base;
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
  float Way(int type, int from, int to);

  const Problem& problem_;
  Mesh mesh_;
  Redistributor redistributor_;
  LayoutTable layouts_;
  std::unordered_map<StatesKey, std::unique_ptr<States>, KeyHash> states_;
  std::unordered_map<TableKey, int, KeyHash> tables_;
  int made_ = 0;
  std::vector<std::unordered_map<uint64_t, float>> ways_;  // by type
  std::vector<std::vector<float>> dense_;                  // by type, while layouts are few
  const TablePool* pool_ = nullptr;
};

}  // namespace ms::parallel
