// Kernels of every op with a scalar body: its trace as a tile program, split between threads.
#include "backends/cpu/cpu.h"
#include "backends/cpu/isa/tables.h"
#include "kernel/range_kernel.h"
#include "loops/tile_program.h"

namespace ms::cpu {
namespace {

class TileKernel : public RangeKernel {
 public:
  explicit TileKernel(loops::TileProgram program) : program_(std::move(program)) {
    SetWork(program_.size(), program_.ns_per_element());
  }

  void RunRange(const KernelArgs& args, int64_t begin, int64_t end) const override {
    program_.Run(args.in, args.out, begin, end);
  }

 private:
  loops::TileProgram program_;
};

// The body as the output's type wants it: a body traced from weak types may end in a wider one.
loops::LoopBody BodyOf(const KernelRequest& request) {
  std::vector<DType> dtypes;
  for (const Type& type : request.in) dtypes.push_back(type.dtype());
  loops::LoopBody body;
  body.nodes = TraceScalar(request.op, dtypes, request.attrs).nodes;
  int last = static_cast<int>(body.nodes.size()) - 1;
  if (body.nodes[last].dtype != request.out[0].dtype()) {
    ScalarNode cast{ScalarOp::kCast, request.out[0].dtype()};
    cast.args[0] = last++;
    body.nodes.push_back(cast);
  }
  body.outputs = {last};
  return body;
}

KernelChoice Compiled(const loops::LoopBody& body, const Types& in, const Shape& shape) {
  loops::TileProgram program;
  std::string refusal = program.Compile(body, in, shape, Vectors());
  if (!refusal.empty()) return No("{}", refusal);
  return std::make_unique<TileKernel>(std::move(program));
}

KernelChoice MakeTileKernel(const KernelRequest& request) {
  return Compiled(BodyOf(request), request.in, request.out[0].shape());
}

// Not a scalar op, since its weight broadcasts along axis 1; but with the weight's shape extended
// it is one.
KernelChoice MakePrelu(const KernelRequest& request) {
  DType t = request.dtype(0);
  Ints slopes(static_cast<size_t>(request.shape(0).rank()), 1);
  if (slopes.size() >= 2) slopes[1] = request.shape(1).size();
  auto node = [](ScalarOp op, DType dtype, int input, int a, int b, int c) {
    ScalarNode n{op, dtype};
    n.input = input;
    n.args[0] = a;
    n.args[1] = b;
    n.args[2] = c;
    return n;
  };
  loops::LoopBody body;
  body.nodes = {node(ScalarOp::kInput, t, 0, -1, -1, -1),
                node(ScalarOp::kInput, t, 1, -1, -1, -1),
                node(ScalarOp::kConstant, t, -1, -1, -1, -1),
                node(ScalarOp::kGreater, DType::kBool, -1, 0, 2, -1),
                node(ScalarOp::kMul, t, -1, 0, 1, -1),
                node(ScalarOp::kSelect, t, -1, 3, 0, 4)};
  body.outputs = {5};
  return Compiled(body, {request.in[0], Type(t, Shape(slopes))}, request.out[0].shape());
}

}  // namespace

void AddElementwise(KernelTable& table) {
  table.ForScalar().Try("tile", MakeTileKernel);
  table.For("PReLU").Try("tile", MakePrelu);
}

}  // namespace ms::cpu
