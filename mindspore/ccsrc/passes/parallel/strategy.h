// The ways in which a node may be computed on a mesh, and a value may lie on it: for each axis of
// the mesh one choice. From the choices follow layouts of operands and results, those of their
// gradients, and what one device then computes and keeps.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>

#include "ir/shard_rule.h"
#include "passes/parallel/hints.h"

namespace ms::parallel {

// By axis. Of a node: a factor of its rule, or one of the numbers below. Of a value: a dimension.
using Choice = std::array<int8_t, kMaxAxes>;
inline constexpr int8_t kAlike = -1;    // all devices have, or compute, the same
inline constexpr int8_t kPass = -2;     // a partial sum goes through as it is
inline constexpr int8_t kReaders = -3;  // alike, and parts of a sum go through backwards
Choice AllAlike();
inline constexpr double kBackward = 2;  // what the gradient takes of what an op does

// Layouts by number, so that tables can be indexed by them.
class LayoutTable {
 public:
  int Number(const Layout& layout);
  const Layout& operator[](int number) const { return layouts_[static_cast<size_t>(number)]; }
  int size() const { return static_cast<int>(layouts_.size()); }

 private:
  std::vector<Layout> layouts_;
  std::unordered_map<Layout, int, LayoutHash> numbers_;
};

// Where a value enters or leaves: its layout and that of its gradient there.
struct End {
  Layout layout;
  Layout gradient;
};

// What one choice for all axes means.
struct Strategy {
  std::vector<End> inputs, outputs;
  double seconds = 0;  // that a device computes, forward and backward
  double bytes = 0;    // that a device keeps
};

// Nodes, or values, that are alike but for their place: what they may choose.
class Kind {
 public:
  virtual ~Kind() = default;
  int id = 0;
  // For an axis of more than one device.
  virtual const std::vector<int8_t>& options(int axis) const {
    static_cast<void>(axis);
    return options_;
  }
  bool cuts() const { return options_.size() > 1; }  // it need not be alike everywhere
  virtual bool shared() const { return false; }      // by readers of a value
  // Seconds that no choice can do without.
  virtual double Least(const Mesh& mesh) const {
    static_cast<void>(mesh);
    return 0;
  }
  // Choices that go together, from which one axis after the other can be varied.
  const Choice& start() const { return start_; }
  // False where the choices do not go together.
  virtual bool Build(const Mesh& mesh, const Choice& choice, Strategy* strategy) const = 0;
  // The only choice, where there is one.
  virtual const Choice* fixed() const { return nullptr; }

 protected:
  std::vector<int8_t> options_{kAlike};
  Choice start_ = AllAlike();
};

struct NodeFacts {
  bool trained = false;  // its gradient is computed: whether a result depends on a Parameter
  double times = 1;      // how often it runs in a step
  bool keeps = false;    // its results stay until the backward pass
  bool data = false;     // it depends on what comes from outside, not on Parameters alone
};

class ComputeKind : public Kind {
 public:
  ComputeKind(const Node& node, const NodeFacts& facts, const Device& device);
  bool Build(const Mesh& mesh, const Choice& choice, Strategy* strategy) const override;
  const std::optional<ShardRule>& rule() const { return rule_; }
  const std::vector<int8_t>& options(int axis) const override {
    return pinned_.empty() ? options_ : pinned_[static_cast<size_t>(axis)];
  }
  // Leaves what the pins want. ValueError, with the line, where the rule cannot have them.
  void Pin(const Node& node, const NodePins& pins, const Mesh& mesh);
  // Whether all choices mean the same for another node of the op, with the same types, facts and
  // pins.
  bool SameChoices(const ComputeKind& other) const;
  // Whether the factor is the first dimension of the first result.
  bool CutsBatch(int factor) const;
  bool data() const { return facts_.data; }
  bool trained() const { return facts_.trained; }
  double Least(const Mesh& mesh) const override;
  // What keeps dimensions from being cut; "": nothing.
  std::string WhyWhole() const;

 private:
  friend class Pinning;
  bool MayCut(const ShardFactor& factor) const;
  bool Cuts(const Mesh& mesh, const Choice& choice, std::vector<int64_t>* cuts) const;
  End Operand(const Mesh& mesh, const Choice& choice, size_t i) const;
  End Result(const Mesh& mesh, const Choice& choice, size_t i) const;
  void Count(const Mesh& mesh, const std::vector<int64_t>& cuts, Strategy* strategy) const;
  double Seconds(double flops, double bytes) const;

  Types inputs_, outputs_;
  std::optional<ShardRule> rule_;
  std::vector<bool> alone_;  // factors that are never part of a product
  std::vector<bool> reads_;  // operands that are read as a whole, not by positions
  NodeFacts facts_;
  Device device_;
  bool view_ = false;
  bool contracts_ = false;
  std::vector<std::vector<int8_t>> pinned_;  // options by axis, where pins leave fewer
};

class ValueKind : public Kind {
 public:
  struct Facts {
    std::optional<Layout> pin = {};
    double copies = 0;    // how many of it lie in memory: itself, a gradient, states
    bool shared = false;  // what several readers have in common: one move for all
    bool trained = false;
  };
  ValueKind(const Type& type, const Facts& facts);
  bool Build(const Mesh& mesh, const Choice& choice, Strategy* strategy) const override;
  const Choice* fixed() const override { return facts_.pin ? &fixed_ : nullptr; }
  bool shared() const override { return facts_.shared; }

 private:
  Type type_;
  Facts facts_;
  Choice fixed_;
};

}  // namespace ms::parallel
