#include "backends/cuda/libraries.h"

#include <dlfcn.h>
#include <link.h>

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

// CUDA's versions whose libraries this device takes, the newest first: their numbers, as the names
// of the libraries have them, and what the package calls those that it asks for.
struct Family {
  int number;
  const char* extra;
};
constexpr Family kFamilies[] = {{13, "cuda"}, {12, "cuda12"}};
constexpr int kOldestDriver = 12000;

// Tests put a library of their own in the place of NVIDIA's.
const char* Stub() { return std::getenv("MS_CUDA_DRIVER"); }
const char* Given() { return std::getenv("MS_CUDA_LIBRARIES"); }

struct Library {
  void* handle = nullptr;
  std::string what, remedy;  // for errors
  std::string path() const {
    link_map* map = nullptr;
    return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : what;
  }
};

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

std::string VersionOfCuda(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}
int DriverVersion() {
  int version = 0;
  Check(TheDriver().DriverGetVersion(&version), "cuDriverGetVersion");
  return version;
}

// How to get the libraries of a family, or of the newest one that the driver can use.
std::string Remedy(int family = 0) {
  int version = DriverVersion();
  for (const Family& f : kFamilies) {
    if (family ? f.number != family : f.number > version / 1000) continue;
    return fmt::format("pip install 'mindspore[{}]' brings one for the driver, which is of CUDA {}",
                       f.extra, VersionOfCuda(version));
  }
  return "its version must be one of CUDA 12 or 13";
}

// What this process has open already comes first, as two of one kind do not go together: PyTorch
// may have brought it. Then those of the wheels, then the system's.
void Look(Found& found, const std::string& name) {
  if (found.handle) return;
  found.handle = dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD);
  for (const std::string& folder : Where().folders) TryOpen(found, folder + "/" + name);
  if (!Given()) TryOpen(found, name);
}

// `names`: the best one first.
Library Open(const std::vector<std::string>& names, const char* what, std::string remedy) {
  Found found;
  if (Stub() && !Given()) {
    TryOpen(found, Stub());
  } else {
    for (const std::string& name : names) Look(found, name);
  }
  if (found.handle) return {found.handle, what, std::move(remedy)};
  Throw(ErrorKind::kRuntime, "{} is needed for the device 'GPU': {}{}", what, remedy, found.tried);
}

// `name` ends with the number of a family: of the newest one that is here and that the driver can
// use.
Library OpenOfFamilies(const char* name, const char* what) {
  std::vector<std::string> names;
  for (const Family& f : kFamilies) {
    if (f.number <= DriverVersion() / 1000) names.push_back(fmt::format("{}.{}", name, f.number));
  }
  return Open(names, what, Remedy());
}

template <class F>
void Fill(F& entry, const Library& library, const char* symbol) {
  entry = reinterpret_cast<F>(dlsym(library.handle, symbol));
  if (!entry) {
    Throw(ErrorKind::kRuntime, "{} lacks {}, so it is too old; {}", library.path(), symbol,
          library.remedy);
  }
}
#define MS_CUDA_FILL(name, symbol, ...) Fill(filled.name, library, symbol);

Driver LoadDriver() {
  Found found;
  TryOpen(found, Stub() ? Stub() : "libcuda.so.1");
  if (!found.handle) {
    Throw(ErrorKind::kRuntime,
          "NVIDIA's driver is missing: libcuda.so.1 comes with it (nvidia-smi shows whether it is "
          "installed), and in a container only if that was started with the devices, as docker's "
          "--gpus all does{}",
          found.tried);
  }
  Library library{found.handle, "NVIDIA's driver", "one of CUDA 12.0 or newer must be installed"};
  Driver filled;
  Fill(filled.DriverGetVersion, library, "cuDriverGetVersion");
  int version = 0;
  if (filled.DriverGetVersion(&version) == kSuccess && version < kOldestDriver) {
    Throw(ErrorKind::kRuntime,
          "NVIDIA's driver must be of CUDA 12.0 or newer, but it is of CUDA {}",
          VersionOfCuda(version));
  }
  MS_CUDA_DRIVER_ENTRIES(MS_CUDA_FILL)
#undef MS_CUDA_FILL
#define MS_CUDA_FILL(name, symbol, ...) \
  filled.name = reinterpret_cast<decltype(filled.name)>(dlsym(library.handle, symbol));
  MS_CUDA_BRANCH_ENTRIES(MS_CUDA_FILL)
#undef MS_CUDA_FILL
#define MS_CUDA_FILL(name, symbol, ...) Fill(filled.name, library, symbol);
  return filled;
}

Compiler LoadCompiler() {
  Library library = OpenOfFamilies("libnvrtc.so", "NVIDIA's compiler libnvrtc");
  Compiler filled;
  MS_CUDA_COMPILER_ENTRIES(MS_CUDA_FILL)
  return filled;
}

Products LoadProducts() {
  Library library = OpenOfFamilies("libcublasLt.so", "NVIDIA's library libcublasLt");
  Products filled;
  MS_CUDA_PRODUCTS_ENTRIES(MS_CUDA_FILL)
  return filled;
}

// It opens its parts by itself, from beside it, and finds the compiler and cuBLASLt of its own CUDA
// for those that need them where this process has them open.
Dnn LoadDnn() {
  Library library = Open({"libcudnn.so.9"}, "NVIDIA's library libcudnn, version 9,", Remedy());
  Dnn filled;
  MS_CUDA_DNN_ENTRIES(MS_CUDA_FILL)
  MS_CUDA_DNN_FACTS(MS_CUDA_FILL)
  auto cuda = static_cast<int>(filled.GetCudartVersion());
  if (filled.GetVersion() < kOldestDnn || cuda / 1000 > DriverVersion() / 1000) {
    Throw(ErrorKind::kRuntime,
          "libcudnn must be version 9, of CUDA {} or older, but {} is {}, of CUDA {}; {}",
          DriverVersion() / 1000, library.path(), DnnVersion(filled.GetVersion()),
          VersionOfCuda(cuda), library.remedy);
  }
  for (const char* name : {"libnvrtc.so", "libcublasLt.so"}) {
    std::string own = fmt::format("{}.{}", name, cuda / 1000);
    Open({own}, fmt::format("{}, which {} calls,", own, library.path()).c_str(),
         Remedy(cuda / 1000));
  }
  filled.path = library.path();
  return filled;
}

Comm LoadComm() {
  Library library = Open({"libnccl.so.2"}, "NVIDIA's library libnccl",
                         Remedy() + ", and MS_CUDA_NCCL=0 leaves what it does to the host");
  Comm filled;
  MS_CUDA_COMM_ENTRIES(MS_CUDA_FILL)
  MS_CUDA_COMM_FACTS(MS_CUDA_FILL)
  return filled;
}
#undef MS_CUDA_FILL

}  // namespace

void Prepare(const std::string& folders, int device) {
  Prepared& where = Where();
  where.folders.clear();
  where.device = device;
  const std::string all = Given() ? Given() : folders;
  for (size_t begin = 0; begin < all.size();) {
    size_t end = std::min(all.find(':', begin), all.size());
    if (end > begin) where.folders.push_back(all.substr(begin, end - begin));
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
std::string DnnVersion(size_t version) {
  size_t thousand = version < kOldestDnn ? 1000 : 10000;
  return fmt::format("{}.{}.{}", version / thousand, version % thousand / 100, version % 100);
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
