// See meet.h.
#include "cluster/meet.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "base/clock.h"
#include "base/error.h"
#include "cluster/monitor.h"

namespace ms::cluster {
namespace {

constexpr int64_t kAnswer = 10'000;    // ms that rank 0 has to answer
constexpr int64_t kFindHost = 30'000;  // ms that a name may be unknown

std::string Host() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

enum class Met { kWelcome, kNobody, kStranger };

Met Greet(Channel& channel, const Address& address, int rank, int size, std::string* problem) {
  channel.Send(std::move(Packer(frame::kHello)
                             .Text(frame::kGreeting)
                             .Text(address.word)
                             .Number(rank)
                             .Number(size)
                             .Number(getpid())
                             .Text(Host())));
  for (int64_t end = NowInMilliseconds() + kAnswer; NowInMilliseconds() < end;) {
    bool alive = channel.Pump();
    if (std::optional<Unpacker> answer = channel.Next()) {
      if (answer->type() == frame::kWelcome) return Met::kWelcome;
      *problem = answer->type() == frame::kRefused ? answer->Text() : "what answers is no rank 0";
      return Met::kStranger;
    }
    if (!alive) {
      *problem = "what listens there does not answer as rank 0 does";
      return channel.broken() ? Met::kStranger : Met::kNobody;
    }
    pollfd ready{channel.fd(), POLLIN, 0};
    poll(&ready, 1, 100);
  }
  *problem = "what listens there does not answer";
  return Met::kNobody;
}

}  // namespace

Channel Meet(int rank, int size, const Address& address, const WatchOptions& options) {
  int64_t start = NowInMilliseconds();
  std::string problem;
  for (int64_t pause = 10;; pause = std::min<int64_t>(2 * pause, 200)) {
    bool found = true;
    Socket socket = Connect(address, 2000, &problem, &found);
    if (socket) {
      Channel channel(std::move(socket));
      Met met = Greet(channel, address, rank, size, &problem);
      if (met == Met::kWelcome) return channel;
      if (met == Met::kStranger) break;
    }
    options.interrupt();
    int64_t waited = NowInMilliseconds() - start;
    if (waited >= (found ? options.join.count() : std::min(options.join.count(), kFindHost))) break;
    usleep(pause * 1000);
  }
  Throw(ErrorKind::kRuntime, "rank {} cannot join rank 0 at {}: {}.", rank, address.Text(),
        problem);
}

}  // namespace ms::cluster
