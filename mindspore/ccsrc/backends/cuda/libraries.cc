#include "backends/cuda/libraries.h"

#include <dlfcn.h>

#include <cstdlib>
#include <vector>

#include "base/error.h"

namespace ms::cuda {
namespace {

struct Prepared {
  std::vector<std::string> folders;
  int device = 0;
};
Prepared& Where() {
  static auto* where = new Prepared;
  return *where;
}

constexpr char kInstall[] = "pip install 'mindspore[cuda]'";

// Tests put a library of their own in the place of all of NVIDIA's.
const char* Stub() { return std::getenv("MS_CUDA_DRIVER"); }

struct Found {
  void* handle = nullptr;
  std::string tried;
};

void TryOpen(Found& found, const std::string& path) {
  if (found.handle) return;
  found.handle = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (found.handle) return;
  const char* why = dlerror();
  found.tried += fmt::format("; {}", why ? why : path);
}

// `names`: newest version first. In the wheels' folders before the system's.
void* OpenBeside(const std::vector<std::string>& names, const char* what) {
  Found found;
  if (const char* stub = Stub()) {
    TryOpen(found, stub);
  } else {
    for (const std::string& name : names) {
      for (const std::string& folder : Where().folders) TryOpen(found, folder + "/" + name);
      TryOpen(found, name);
    }
  }
  if (found.handle) return found.handle;
  Throw(ErrorKind::kRuntime, "{} is needed for the device 'GPU': {} brings it{}", what, kInstall,
        found.tried);
}

void* OpenDriver() {
  Found found;
  TryOpen(found, Stub() ? Stub() : "libcuda.so.1");
  if (found.handle) return found.handle;
  Throw(ErrorKind::kRuntime,
        "NVIDIA's driver is missing: libcuda.so.1 comes with it (nvidia-smi shows whether it is "
        "installed), and in a container only if that was started with the devices, as docker's "
        "--gpus all does{}",
        found.tried);
}

template <class F>
void Fill(F& entry, void* library, const char* symbol, const char* remedy) {
  entry = reinterpret_cast<F>(dlsym(library, symbol));
  if (!entry) Throw(ErrorKind::kRuntime, "the entry {} is missing: {}", symbol, remedy);
}

Driver LoadDriver() {
  void* library = OpenDriver();
  Driver d;
#define MS_CUDA_FILL(name, symbol, ...) \
  Fill(d.name, library, symbol, "NVIDIA's driver is too old; one for CUDA 12 or newer is needed");
  MS_CUDA_DRIVER_ENTRIES(MS_CUDA_FILL)
#undef MS_CUDA_FILL
#define MS_CUDA_FILL(name, symbol, ...) \
  d.name = reinterpret_cast<decltype(d.name)>(dlsym(library, symbol));
  MS_CUDA_BRANCH_ENTRIES(MS_CUDA_FILL)
#undef MS_CUDA_FILL
  return d;
}

Compiler LoadCompiler() {
  void* library = OpenBeside({"libnvrtc.so.13", "libnvrtc.so.12"}, "NVIDIA's compiler libnvrtc");
  Compiler c;
#define MS_CUDA_FILL(name, symbol, ...) Fill(c.name, library, symbol, kInstall);
  MS_CUDA_COMPILER_ENTRIES(MS_CUDA_FILL)
#undef MS_CUDA_FILL
  return c;
}

Products LoadProducts() {
  void* library =
      OpenBeside({"libcublasLt.so.13", "libcublasLt.so.12"}, "NVIDIA's library libcublasLt");
  Products p;
#define MS_CUDA_FILL(name, symbol, ...) Fill(p.name, library, symbol, kInstall);
  MS_CUDA_PRODUCTS_ENTRIES(MS_CUDA_FILL)
#undef MS_CUDA_FILL
  return p;
}

// It opens its parts by itself, from beside it, and finds the compiler and cuBLASLt for those that
// need them where this process has them open already.
Dnn LoadDnn() {
  TheCompiler();
  TheProducts();
  void* library = OpenBeside({"libcudnn.so.9"}, "NVIDIA's library libcudnn, version 9,");
  Dnn d;
#define MS_CUDA_FILL(name, symbol, ...) Fill(d.name, library, symbol, kInstall);
  MS_CUDA_DNN_ENTRIES(MS_CUDA_FILL)
#undef MS_CUDA_FILL
  Fill(d.GetLastErrorString, library, "cudnnGetLastErrorString", kInstall);
  return d;
}

Comm LoadComm() {
  void* library = OpenBeside({"libnccl.so.2"}, "NVIDIA's library libnccl");
  Comm c;
#define MS_CUDA_FILL(name, symbol, ...) Fill(c.name, library, symbol, kInstall);
  MS_CUDA_COMM_ENTRIES(MS_CUDA_FILL)
#undef MS_CUDA_FILL
  Fill(c.GetErrorString, library, "ncclGetErrorString", kInstall);
  Fill(c.GetLastError, library, "ncclGetLastError", kInstall);
  return c;
}

}  // namespace

void Prepare(const std::string& folders, int device) {
  Prepared& where = Where();
  where.folders.clear();
  where.device = device;
  for (size_t begin = 0; begin < folders.size();) {
    size_t end = std::min(folders.find(':', begin), folders.size());
    if (end > begin) where.folders.push_back(folders.substr(begin, end - begin));
    begin = end + 1;
  }
}
int ChosenDevice() { return Where().device; }

// Never destroyed: threads may still run when others end. One that throws is tried again.
const Driver& TheDriver() {
  static const auto* driver = new Driver(LoadDriver());
  return *driver;
}
const Compiler& TheCompiler() {
  static const auto* compiler = new Compiler(LoadCompiler());
  return *compiler;
}
const Products& TheProducts() {
  static const auto* products = new Products(LoadProducts());
  return *products;
}
const Dnn& TheDnn() {
  static const auto* dnn = new Dnn(LoadDnn());
  return *dnn;
}
const Comm& TheComm() {
  static const auto* comm = new Comm(LoadComm());
  return *comm;
}

void Check(int result, const char* what) {
  if (result == kSuccess) return;
  const char *name = nullptr, *text = nullptr;
  TheDriver().GetErrorName(result, &name);
  TheDriver().GetErrorString(result, &text);
  Throw(ErrorKind::kRuntime, "the driver refuses {}: {} ({})", what, text ? text : "unknown error",
        name ? name : fmt::format("{}", result).c_str());
}
void CheckCompiler(int result, const char* what) {
  if (result) Throw(ErrorKind::kRuntime, "the compiler refuses {}: error {}", what, result);
}
void CheckProducts(int result, const char* what) {
  if (result) Throw(ErrorKind::kRuntime, "libcublasLt refuses {}: status {}", what, result);
}
std::string DnnError(int result) {
  char text[512] = "";
  TheDnn().GetLastErrorString(text, sizeof(text));
  return fmt::format("status {}{}{}", result, *text ? ", " : "", text);
}
void CheckDnn(int result, const char* what) {
  if (result) Throw(ErrorKind::kRuntime, "libcudnn refuses {}: {}", what, DnnError(result));
}

}  // namespace ms::cuda
