// A slow link, for tests: MS_COMM_DELAY has calls of all members take longer, as between hosts.
#pragma once

#include <memory>

#include "kernel/collectives.h"

namespace ms::cpu {

// The group itself, where nothing is asked for. ValueError for what is no delay.
std::unique_ptr<Group> Delayed(std::unique_ptr<Group> group);

}  // namespace ms::cpu
