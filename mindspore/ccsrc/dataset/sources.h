// Nodes that rows come from: sequences with an order of indices.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "dataset/node.h"

namespace ms::dataset {

// Which rows of a source are read, and in what order. `length` is the number of rows that there
// are.
class Order {
 public:
  virtual ~Order() = default;
  // The indices of an epoch by position; of `node`, whose numbers the draws depend on.
  virtual std::unique_ptr<class Indices> Open(const Run& run, const Node& node,
                                              int64_t epoch) const = 0;
  virtual std::optional<int64_t> Size() const = 0;
  virtual bool Shuffles() const = 0;
};

class Indices {
 public:
  virtual ~Indices() = default;
  virtual int64_t size() const = 0;
  virtual int64_t At(int64_t position) const = 0;
};
std::unique_ptr<Indices> IndicesOf(std::vector<int64_t> indices);

// `count` indices from `first` on in steps of `stride`, over and over [0, length): in order, or
// through a random permutation. `common`: the same one for all who have set no seed, as shards
// need.
struct RegularOrder {
  int64_t length, first, stride, count;
  bool shuffled, common;
};
std::shared_ptr<const Order> MakeRegularOrder(RegularOrder order);
// `count` independent draws of [0, length).
std::shared_ptr<const Order> MakeDrawnOrder(int64_t length, int64_t count);

// What a step of a source gets as the number of a pending row is its index.
NodeRef MakeSequence(std::shared_ptr<const Order> order, std::shared_ptr<const Step> load,
                     bool parallel, bool coarse);

}  // namespace ms::dataset
