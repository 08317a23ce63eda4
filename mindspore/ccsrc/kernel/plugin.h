// Devices as shared libraries. Each has one entry, `ms_backend`, which says what it was built
// against: what differs from this process is refused before anything of it is used.
#pragma once

#include <ms_stamp.h>  // made when this is built

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernel/kernel.h"

namespace ms {

struct Plugin {
  const char* stamp;
  Backend* (*make)();  // owned by the caller; throws where the device cannot be used
  uint64_t layout;
};

// How what crosses the border lies in memory, as this is compiled: macros and flags change it.
template <class... T>
constexpr uint64_t LayoutOf() {
  uint64_t layout = 0;
  ((layout = layout * 1000003 + sizeof(T) * 64 + alignof(T)), ...);
  return layout;
}
constexpr uint64_t kLayout =
    LayoutOf<std::string, std::vector<int>, std::unordered_map<int, int>, std::function<void()>,
             std::shared_ptr<int>, ErrorKind, Tensor, Type, OpDef, KernelRequest, KernelArgs,
             KernelChoice, KernelTable, Kernel, Backend, Memory, Stream>();

// In one source file of the library: MS_BACKEND(Class), a Backend that needs no arguments.
#define MS_BACKEND(Class)                                                              \
  extern "C" __attribute__((visibility("default"))) const ::ms::Plugin ms_backend      \
      __attribute__((used)) = {MS_STAMP, []() -> ::ms::Backend* { return new Class; }, \
                               ::ms::kLayout};

// Opens a library and registers its device. ValueError where it is none for this process. Returns
// the device's name; that of a library that was opened before, again.
std::string LoadBackend(const std::string& path);

// A library that lies beside the core.
std::string BesideCore(const std::string& name);

}  // namespace ms
