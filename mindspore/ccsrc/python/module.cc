// The extension module mindspore._core: registers ops and backends, then binds, topic by topic.
#include <pybind11/pybind11.h>

#include "kernel/plugin.h"
#include "ops/all.h"
#include "python/dim_object.h"
#include "python/dtype_object.h"
#include "python/errors.h"
#include "python/module.h"
#include "python/op_call.h"
#include "python/tensor_object.h"
#include "python/trace.h"
#include "python/views.h"

PYBIND11_MODULE(_core, m) {
  using namespace ms::python;  // NOLINT: the bindings' own namespace
  ms::SetOpSource(ms::DefineAllOps);
  ms::LoadBackend(ms::BesideCore("libms_cpu.so"));
  BindErrors(m);
  BindDTypes(m);
  BindDim(m);
  BindTensor(m);
  BindViews(m);
  BindOps(m);
  BindShardRules(m);
  BindCheckedFunctions(m);
  BindTrace(m);
  BindHost(m);
  BindGrad(m);
  BindCustomGradients(m);
  BindRuntime(m);
  BindDevices(m);
  BindGuards(m);
  BindCallKey(m);
  BindCellPrint(m);
  BindCompile(m);
  BindParallel(m);
  BindIo(m);
  BindCollectives(m);
  BindWatch(m);
  BindDataset(m);
  BindSink(m);
  BindMindRecord(m);
  BindMindIr(m);
  BindAssembler(m);
}
