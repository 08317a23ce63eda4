// From one layout of a tensor to another by the cheapest moves. The path that was costed is the
// path that is lowered. States are layouts, moves are collectives along axes; the way through them
// is found by Dijkstra, seconds first, then the largest piece that a device holds on the way. A sum
// over slow links so becomes: scatter inside, sum across, gather inside.
#pragma once

#include <memory>

#include "ir/type.h"
#include "passes/parallel/layout.h"

namespace ms::parallel {

struct Move {
  enum Kind : uint8_t {
    kSlice,          // replicated -> cut: each device keeps its piece; free
    kAllGather,      // cut -> replicated
    kAllToAll,       // the cut moves from one dimension to another
    kReduceScatter,  // partial -> cut
    kAllReduce,      // partial -> replicated
    kPermute,        // pieces change places: each device sends its own to one other
  };
  Kind kind = kSlice;
  AxisList axes;      // along which; kAllGather, kReduceScatter, kSlice: in the order of the cuts
  int from_dim = -1;  // kAllGather, kAllToAll
  int to_dim = -1;    // kSlice, kAllToAll, kReduceScatter
  Partial reduction = Partial::kNone;
  Layout after;
  int64_t bytes = 0;  // that a device sends
  double seconds = 0;
};
std::string_view Name(Move::Kind kind);  // "all-gather"

struct Path {
  std::vector<Move> moves;
  double seconds = 0;
  int64_t peak_bytes = 0;  // the largest piece of one device, ends included
};

class Redistributor {
 public:
  explicit Redistributor(const Mesh& mesh);
  ~Redistributor();
  Redistributor(const Redistributor&) = delete;

  // The way, which always exists. `to` may be partial only where `from` is. Stays valid.
  const Path& Find(const Type& global, const Layout& from, const Layout& to);
  // Its time alone, without making the path: what a search asks.
  double Seconds(const Type& global, const Layout& from, const Layout& to);
  // The same where it is quickly found; where many axes go different ways, that of one move for
  // each of them, and false.
  bool NearSeconds(const Type& global, const Layout& from, const Layout& to, double* seconds);
  const Mesh& mesh() const { return mesh_; }

 private:
  struct Tables;
  Mesh mesh_;
  std::unique_ptr<Tables> tables_;
};

// Of a permutation: the rank whose piece `rank` needs. Each rank is the source of one.
int64_t PermuteSource(const Mesh& mesh, const Layout& before, const Move& move, int64_t rank);

// Seconds of a collective along axes on `bytes` bytes of a device: of the result for kAllGather, of
// the operand otherwise.
double CollectiveSeconds(const Mesh& mesh, Move::Kind kind, const AxisList& axes, int64_t bytes);

}  // namespace ms::parallel
