// A device that accepts every op and computes nothing: graphs compile for it on any machine.
#pragma once

#include "kernel/kernel.h"

namespace ms {

std::unique_ptr<Backend> MakeNullBackend();

}  // namespace ms
