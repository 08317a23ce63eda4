// What kernels on oneDNN share: engine, stream, types, and the form most of them have, which is one
// primitive with a conversion of layout around those operands that it wants in another one.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "kernel/kernel.h"

namespace ms::cpu {

using Desc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;

const dnnl::engine& OneDnnEngine();
// Of the calling thread, which may take signals while it runs what it puts there.
dnnl::stream& OneDnnStream();
// c[m, n] = a b, of matrices as they are, c without gaps: the older entry point, whose calls cost
// little.
void Sgemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const float* a,
           int64_t lda, const float* b, int64_t ldb, float* c);
// c += alpha a b, where rows of c are ldc apart.
void AddSgemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, float alpha,
              const float* a, int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc);
// Scratch memory comes from the caller, so that one primitive can run in many threads.
dnnl::primitive_attr UserScratchpad();
// The activation of an attribute (ops/joined_activation.h) as a post-operation; '' adds nothing,
// and what is not known is a dnnl::error. Those that oneDNN would make 0 of NaN by are not added:
// Activated runs them over what the kernel has written.
bool KnowsActivation(const std::string& name);
void AppendActivation(dnnl::post_ops& after, const std::string& name);
std::unique_ptr<Kernel> Activated(std::unique_ptr<Kernel> kernel, const std::string& activation,
                                  const Type& out);
// Float32 and, where the processor computes with it, BFloat16.
bool OneDnnType(DType dtype, dnnl::memory::data_type* type);

// One input or output of a kernel as an operand of its primitive.
struct Operand {
  int role = 0;  // DNNL_ARG_SRC, ...
  bool output = false;
  size_t index = 0;  // among the inputs or outputs of the kernel
  Desc given;        // the layout at the kernel's border
  Desc wanted;       // the layout that the primitive asked for
};
inline Operand InputOperand(int role, size_t index, const Desc& given, const Desc& wanted) {
  return {role, false, index, given, wanted};
}
inline Operand OutputOperand(int role, size_t index, const Desc& given, const Desc& wanted) {
  return {role, true, index, given, wanted};
}

std::unique_ptr<Kernel> PrimitiveKernel(const dnnl::primitive& primitive, const Desc& scratchpad,
                                        std::vector<Operand> operands, double cost_ns);

// How many elements of a dtype a layout takes, filling included.
int64_t Elements(const Desc& desc, DType dtype);
// Kernel of an op that packs its input: from the plain layout to one of attribute `size` elements.
KernelChoice PackKernel(const KernelRequest& r, const Desc& given, const Desc& wanted);

// Runs a maker; what oneDNN cannot do becomes a refusal.
template <class F>
KernelChoice AskOneDnn(F&& make) {
  try {
    return make();
  } catch (const dnnl::error& error) {
    return No("oneDNN has no such primitive ({})", error.what());
  }
}

}  // namespace ms::cpu
