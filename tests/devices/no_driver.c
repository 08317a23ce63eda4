// Stands for NVIDIA's driver where cuDNN plans for a chip that is not there: kernels seem to be
// loaded, and nothing else works. Compiled by cudnn_judge.py.
#define LOADED(name)         \
  int name(void** handle) {  \
    *handle = (void*)handle; \
    return 0;                \
  }
#define DONE(name) \
  int name(void) { return 0; }
#define NO_DEVICE(name) \
  int name(void) { return 100; }

LOADED(cuLibraryLoadData)
LOADED(cuLibraryGetKernel)
LOADED(cuKernelGetFunction)
LOADED(cuModuleLoadData)
LOADED(cuModuleGetFunction)
DONE(cuLibraryUnload)
DONE(cuModuleUnload)
DONE(cuKernelSetAttribute)
int cuKernelGetAttribute(int* value) {
  *value = 0;
  return 0;
}
int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}
int cuGetErrorName(int error, const char** name) {
  (void)error;
  *name = "CUDA_ERROR_NO_DEVICE";
  return 0;
}
int cuGetErrorString(int error, const char** text) { return cuGetErrorName(error, text); }
NO_DEVICE(cuCtxGetCurrent)
NO_DEVICE(cuCtxGetLimit)
NO_DEVICE(cuCtxPopCurrent)
NO_DEVICE(cuCtxPushCurrent)
NO_DEVICE(cuDeviceGet)
NO_DEVICE(cuDeviceGetCount)
NO_DEVICE(cuLaunchCooperativeKernel)
NO_DEVICE(cuLaunchKernel)
NO_DEVICE(cuLaunchKernelEx)
NO_DEVICE(cuLibraryLoadFromFile)
NO_DEVICE(cuLinkAddData)
NO_DEVICE(cuLinkComplete)
NO_DEVICE(cuLinkCreate)
NO_DEVICE(cuLinkDestroy)
NO_DEVICE(cuOccupancyMaxPotentialClusterSize)
NO_DEVICE(cuStreamGetCtx)
NO_DEVICE(cuTensorMapEncodeIm2col)
NO_DEVICE(cuTensorMapEncodeTiled)
