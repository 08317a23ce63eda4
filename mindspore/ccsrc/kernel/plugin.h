// Devices as shared libraries. Each has one entry, `ms_backend`, which says what it was built
// against: what differs from this process is refused before anything of it is used.
#pragma once

#include <ms_stamp.h>  // made when this is built

#include <string>

#include "kernel/kernel.h"

namespace ms {

struct Plugin {
  const char* stamp;
  Backend* (*make)();  // owned by the caller; throws where the device cannot be used
};

// In one source file of the library: MS_BACKEND(Class), a Backend that needs no arguments.
#define MS_BACKEND(Class)                                                         \
  extern "C" __attribute__((visibility("default"))) const ::ms::Plugin ms_backend \
      __attribute__((used)) = {MS_STAMP, []() -> ::ms::Backend* { return new Class; }};

// Opens a library and registers its device. ValueError where it is none for this process. Returns
// the device's name; that of a library that was opened before, again.
std::string LoadBackend(const std::string& path);

// A library that lies beside the core.
std::string BesideCore(const std::string& name);

}  // namespace ms
