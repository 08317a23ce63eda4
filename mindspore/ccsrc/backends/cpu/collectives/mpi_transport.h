// Processes of one or several hosts, by MPI.
#pragma once

#include "kernel/collectives.h"

namespace ms::cpu {

// Starts MPI from a library, unless somebody in this process has. `windows`: members of one host
// read each other's memory, where there is enough of it that can be shared.
std::unique_ptr<Transport> StartMpi(const std::string& library, bool windows);

}  // namespace ms::cpu
