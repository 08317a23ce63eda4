// See sources.h.
#include "dataset/sources.h"

#include <optional>

namespace ms::dataset {
namespace {

class ListedIndices : public Indices {
 public:
  explicit ListedIndices(std::vector<int64_t> indices) : indices_(std::move(indices)) {}
  int64_t size() const override { return static_cast<int64_t>(indices_.size()); }
  int64_t At(int64_t position) const override { return indices_[static_cast<size_t>(position)]; }

 private:
  std::vector<int64_t> indices_;
};

class RegularIndices : public Indices {
 public:
  RegularIndices(RegularOrder order, uint64_t key) : order_(order) {
    if (order.shuffled) permutation_.emplace(order.length, key);
  }
  int64_t size() const override { return order_.count; }
  int64_t At(int64_t position) const override {
    int64_t place = (order_.first + order_.stride * position) % order_.length;
    if (place < 0) place += order_.length;
    return permutation_ ? (*permutation_)[place] : place;
  }

 private:
  RegularOrder order_;
  std::optional<Permutation> permutation_;
};

class Regular : public Order {
 public:
  explicit Regular(RegularOrder order) : order_(order) {}
  std::unique_ptr<Indices> Open(const Run& run, const Node& node, int64_t epoch) const override {
    bool common = order_.common && !run.seeded();
    uint64_t key = common ? Mix(0, static_cast<uint64_t>(epoch)) : run.Key(node, epoch);
    return std::make_unique<RegularIndices>(order_, key);
  }
  std::optional<int64_t> Size() const override { return order_.count; }
  bool Shuffles() const override { return order_.shuffled; }

 private:
  RegularOrder order_;
};

class DrawnIndices : public Indices {
 public:
  DrawnIndices(int64_t length, int64_t count, uint64_t key)
      : length_(length), count_(count), key_(key) {}
  int64_t size() const override { return count_; }
  int64_t At(int64_t position) const override {
    return Random(Mix(key_, static_cast<uint64_t>(position))).Below(length_);
  }

 private:
  int64_t length_, count_;
  uint64_t key_;
};

class Drawn : public Order {
 public:
  Drawn(int64_t length, int64_t count) : length_(length), count_(count) {}
  std::unique_ptr<Indices> Open(const Run& run, const Node& node, int64_t epoch) const override {
    return std::make_unique<DrawnIndices>(length_, count_, run.Key(node, epoch));
  }
  std::optional<int64_t> Size() const override { return count_; }
  bool Shuffles() const override { return true; }

 private:
  int64_t length_, count_;
};

class SequenceView : public View {
 public:
  SequenceView(std::unique_ptr<Indices> indices, std::shared_ptr<const Step> load, uint64_t key)
      : indices_(std::move(indices)), load_(std::move(load)), key_(key) {}
  int64_t size() const override { return indices_->size(); }
  Row At(int64_t position) override {
    Row row;
    row.pending.push_back({load_, key_, indices_->At(position)});
    return row;
  }

 private:
  std::unique_ptr<Indices> indices_;
  std::shared_ptr<const Step> load_;
  uint64_t key_;
};

class Sequence : public Node {
 public:
  Sequence(std::shared_ptr<const Order> order, std::shared_ptr<const Step> load, bool parallel,
           bool coarse)
      : Node({}),
        order_(std::move(order)),
        load_(std::move(load)),
        parallel_(parallel),
        coarse_(coarse) {}
  ViewRef OpenView(const RunRef& run, int64_t epoch) const override {
    return std::make_unique<SequenceView>(order_->Open(*run, *this, epoch), load_,
                                          run->Key(*this, epoch));
  }
  std::optional<int64_t> Size() const override { return order_->Size(); }
  bool Shuffles() const override { return order_->Shuffles(); }
  bool Parallel() const override { return parallel_; }
  bool Coarse() const override { return coarse_; }
  bool Repeatable() const override { return true; }
  bool Interpreted() const override { return load_->interpreted(); }
  const Spent* spent() const override { return &load_->spent; }

 private:
  std::shared_ptr<const Order> order_;
  std::shared_ptr<const Step> load_;
  bool parallel_, coarse_;
};

}  // namespace

std::unique_ptr<Indices> IndicesOf(std::vector<int64_t> indices) {
  return std::make_unique<ListedIndices>(std::move(indices));
}

std::shared_ptr<const Order> MakeRegularOrder(RegularOrder order) {
  if (order.length == 0) order.count = 0;
  return std::make_shared<Regular>(order);
}

std::shared_ptr<const Order> MakeDrawnOrder(int64_t length, int64_t count) {
  return std::make_shared<Drawn>(length, length == 0 ? 0 : count);
}

NodeRef MakeSequence(std::shared_ptr<const Order> order, std::shared_ptr<const Step> load,
                     bool parallel, bool coarse) {
  return std::make_shared<Sequence>(std::move(order), std::move(load), parallel, coarse);
}

}  // namespace ms::dataset
