// Eager execution: an op runs as soon as it is applied; under a gradient scope it is recorded too.
// The record, the tape, is an ordinary graph whose values are kept, so gradients are the same
// reverse walk as in compiled code.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>

#include "grad/backward.h"
#include "kernel/cache.h"
#include "kernel/ledger.h"

namespace ms {

// What an op gave: a few tensors in place, as nearly all ops give, or any number on the heap.
class EagerOutputs {
 public:
  void Resize(size_t count) {
    if (count > kInline) heap_.resize(count);
    count_ = count;
  }
  size_t size() const { return count_; }
  Tensor* data() { return count_ > kInline ? heap_.data() : inline_.data(); }
  Tensor& operator[](size_t i) { return data()[i]; }
  // The inputs of a kernel that others could run beside, as it read them; else nothing.
  std::vector<Tensor> inputs;

 private:
  static constexpr size_t kInline = 4;
  std::array<Tensor, kInline> inline_;
  std::vector<Tensor> heap_;
  size_t count_ = 0;
};

// Runs ops on one thread and one device.
class EagerRunner {
 public:
  explicit EagerRunner(const Backend& backend);
  Memory& memory() const { return memory_; }
  // Pairs of outputs and inputs: an output is another value of an input, and takes over its memory
  // where nobody else holds it, and nobody asks for the old value (`take`).
  using InPlace = std::vector<std::pair<int, int>>;
  // The prepared entry (valid until the next call) and the outputs.
  Prepared& Run(const OpDef& op, std::span<const Tensor* const> inputs, const AttrsRef& attrs,
                EagerOutputs& outputs, const InPlace* in_place = nullptr, bool take = true);
  // What the program around us does, set once, before use. `run_long` launches a kernel that is
  // long enough to let other threads run meanwhile; `place` says for which line the next op of a
  // device runs, whose errors are found later.
  struct Hooks {
    void (*run_long)(const Kernel&, const KernelArgs&) = nullptr;
    SpanId (*place)() = nullptr;
  };
  static void SetHooks(const Hooks& hooks);
  // Each op of a device that works later ends before the next begins: its errors come at its line.
  static void SetBlocking(bool blocking);

 private:
  Prepared& RunUnnamed(const OpDef& op, std::span<const Tensor* const> inputs,
                       const AttrsRef& attrs, EagerOutputs& outputs, const InPlace* in_place,
                       bool take);
  void RunExpanded(const OpDef& op, std::span<const Tensor* const> inputs, const AttrsRef& attrs,
                   EagerOutputs& outputs);
  void RequireInputs(const OpDef& op, std::span<const Tensor* const> inputs) const;
  // Scratch memory: kernels are not re-entrant on one thread.
  void* Workspace(size_t bytes);

  Memory& memory_;
  Ledger* const ledger_;  // of the memory; null: it keeps none
  Stream& stream_;
  KernelCache cache_;
  BufferRef workspace_;
};

// The runner of the calling thread, for the current default device.
EagerRunner& CurrentRunner();
// Where a value is, if no other device may read it; else the current one.
EagerRunner& RunnerFor(const Memory& memory);

// What random ops of the calling thread draw from: the state of the process, unless the thread has
// one of its own. Whoever draws holds it as long as he does: another seed is another state, so that
// no draw has the seed of one and the offset of the other.
std::shared_ptr<RandomState> DefaultRandom();
std::shared_ptr<RandomState> NewRandom(uint64_t seed, uint64_t offset);
void SetDefaultRandom(std::shared_ptr<RandomState> state);
// Gives the thread a state of its own; null: takes it away. Returns what it had.
std::shared_ptr<RandomState> DrawFrom(std::shared_ptr<RandomState> own);

class Tape;

// The gradient of a step of the tape that is not an op: tangents of its outputs (null: zero) to
// tangents of its inputs. With `keep`, what it computes is to be recorded on the tape.
class BackwardFunction {
 public:
  virtual ~BackwardFunction() = default;
  virtual Vars Run(Tape& tape, const Vars& tangents, bool keep) = 0;
};

// Sees, and may replace, the tangent of one value when it is complete.
class TangentHook {
 public:
  virtual ~TangentHook() = default;
  virtual Var Run(Tape& tape, const Var& tangent, bool keep) = 0;
};

// A graph under construction whose nodes are run at once. Values are kept where a gradient will
// read them.
class Tape : public Emitter {
 public:
  Tape();
  uint64_t id() const { return id_; }  // never reused
  size_t size() const { return graph_->nodes().size(); }

  Var Leaf(const Tensor& value);
  // Appends a node for an op that has run. Inputs without a Var on this tape (null) are constants.
  // Returns the first output's node.
  Node* Record(Prepared& prepared, const AttrsRef& attrs, Vars inputs,
               std::span<const Tensor* const> values, std::span<const Tensor> outputs);
  // A step with a gradient of its own; null inputs are constants.
  Node* RecordCall(std::shared_ptr<BackwardFunction> back, Vars inputs,
                   std::span<const Tensor> outputs);
  // What nodes from `first` on read of the values before them, and then these nodes become
  // constants that hold no memory.
  Vars Forget(size_t first);
  // What nodes from `first` on gave has left the call `name`, which runs again for its gradient,
  // otherwise than as a result: to use it from here on is an error, for its gradient is lost.
  void Close(size_t first, std::string name);
  void AddHook(const Var& v, std::shared_ptr<TangentHook> hook) {
    hooks_[v].push_back(std::move(hook));
  }
  const Tensor& Value(const Var& v) const;
  void Keep(const Var& v, const Tensor& value);  // as the value of v, from here on

  // Gradients of recorded outputs; nodes before `first` count as constants. With `keep`, what the
  // walk emits stays on the tape (it may be differentiated again, for the tangents too); without,
  // saved values and tangents are freed as they are consumed.
  std::vector<Tensor> Gradient(const Vars& outputs, const Vars& tangents, const Vars& wrt,
                               size_t first, bool keep, Vars* result_vars);
  // The same walk, but what it emits goes onto `target`, another tape, as do the tangents; this
  // tape stays as it is, so that the walk may be repeated. `temporary`: nothing of `target` but the
  // result is asked for, and values are freed as they are consumed.
  Vars GradientOnto(Tape& target, const Vars& outputs, const Vars& tangents, const Vars& wrt,
                    size_t first, bool temporary);

  bool freed() const { return freed_; }  // by a walk that consumed saved values

  // Emitter: what gradient rules call.
  Vars Emit(const OpDef& op, const Vars& inputs, AttrsRef attrs) override;
  Var Constant(Tensor value, bool weak) override;

 private:
  friend class TapeHost;
  friend class OtherTapeHost;
  void Drop(const Var& v);
  // Where an op that is recorded now reads the value of v, as it is at present.
  Var Read(const Var& v, const Tensor& present);
  void RequireOpen(const Vars& inputs) const;

  struct Closed {
    size_t first, end;
    std::string name;
  };

  Module module_;
  Graph* graph_;
  uint64_t id_;
  bool freed_ = false;
  std::vector<Closed> closed_;
  std::vector<std::vector<Tensor>> values_;  // by node id, then output; undefined where not kept
  std::unordered_map<const Node*, std::shared_ptr<BackwardFunction>> calls_;
  std::unordered_map<Var, std::vector<std::shared_ptr<TangentHook>>, VarHash> hooks_;
};

// Fills Prepared::saved_*: runs the gradient rule once on an empty graph.
void FindSaved(Prepared& prepared);

}  // namespace ms
