// How a rank comes to rank 0.
#pragma once

#include "cluster/socket.h"
#include "cluster/watch.h"

namespace ms::cluster {

// The connection to rank 0 at `address`, once it has let us in. Asks until then, or until the
// options' time for joining is over (a name that nobody knows has less of it); throws what the
// problem is.
Channel Meet(int rank, int size, const Address& address, const WatchOptions& options);

}  // namespace ms::cluster
