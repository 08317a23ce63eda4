// From one place to another in the program of one process: moves become ops of ops/sharded.cc, and
// a function whose places are not those that are wanted gets one around it. Internal to the
// lowering.
#pragma once

#include <map>
#include <string>

#include "ir/emitter.h"
#include "passes/parallel/lower.h"
#include "passes/parallel/places.h"

namespace ms::parallel {

using AxisMask = uint32_t;  // a bit for each axis of the mesh

// What all graphs of a lowered program share.
class Processes {
 public:
  // `first`: the number that rank 0 of the mesh has among all processes.
  Processes(Module* module, const Mesh& mesh, int64_t rank, std::string group_prefix,
            int64_t first = 0);

  Module* module() const { return module_; }
  const Mesh& mesh() const { return mesh_; }
  int64_t rank() const { return rank_; }
  Redistributor& redistributor() { return redistributor_; }
  // Those that differ from this one along axes, as attributes of an op: `number` is a new one.
  struct Members {
    std::vector<int64_t> ranks;
    NamedAttrs attrs;
    int64_t here = 0;  // which of them this process is
  };
  Members Along(const AxisList& axes);
  std::vector<ProcessGroup> groups() const;
  Type Local(const Type& whole, const Place& place) const {
    return LocalType(whole, place, mesh_, rank_);
  }

 private:
  Module* module_;
  const Mesh& mesh_;
  int64_t rank_;
  std::string prefix_;
  int64_t first_;
  Redistributor redistributor_;
  std::map<std::vector<int>, ProcessGroup> groups_;  // by axes, which are the same in all processes
  int64_t number_ = 0;
};

class Mover {
 public:
  Mover(Processes& processes, GraphEmitter& emitter) : processes_(processes), emitter_(emitter) {}

  // `entered`: axes along which it goes apart from here on; it must be the same in all processes
  // along them, at `to`.
  Var Bring(Var value, const Type& whole, const Place& from, const Place& to, AxisMask entered = 0);

 private:
  Var MoveTensor(Var value, const Type& whole, const Layout& from, const Layout& to,
                 AxisMask entered);
  Term Sum(const Term& x, const parallel::Move& move);
  Term Apply(const Term& x, const Shape& whole, const Layout& before, const parallel::Move& move,
             bool entered);
  Term AlongDim(const char* op, const Term& x, const Shape& whole, const AxisList& axes,
                const Layout& cut, int dim, bool entered = false);
  struct Trade {
    Ints sends, receives, shape;
  };
  Trade TradeOf(const Shape& whole, const Layout& before, const Layout& after, const AxisList& axes,
                const std::vector<int64_t>& ranks) const;
  Term Exchange(const Term& x, const Shape& whole, const Layout& before, const Layout& after);
  Var Around(Var function, const Type& whole, const Place& from, const Place& to);

  Processes& processes_;
  GraphEmitter& emitter_;
};

// The axes whose cuts of some dimension are other ones, or come after another one, in two layouts.
AxisList ChangedAxes(const Layout& a, const Layout& b);

}  // namespace ms::parallel
