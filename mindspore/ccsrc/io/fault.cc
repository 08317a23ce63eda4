#include "io/fault.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <string>

#include "base/mutex.h"

namespace ms {
namespace {

struct Plan {
  std::string text;  // the variable's value this plan was made from
  long at = 0;
  std::string kind;
  long count = 0;
};

}  // namespace

Fault NextFault() {
  static Mutex mutex;
  static Plan plan;
  static std::atomic<bool> planned{false};
  const char* text = std::getenv("MS_IO_FAULT");
  if (text == nullptr || *text == '\0') {
    if (planned.exchange(false)) {
      std::lock_guard lock(mutex);
      plan = {};
    }
    return Fault::kNone;
  }
  std::lock_guard lock(mutex);
  planned = true;
  if (plan.text != text) {
    char* end = nullptr;
    plan = Plan{text, std::strtol(text, &end, 10), "", 0};
    plan.kind = *end == ':' ? end + 1 : "";
  }
  if (++plan.count != plan.at) return Fault::kNone;
  if (plan.kind == "kill") {
    kill(getpid(), SIGKILL);
    pause();
  }
  if (plan.kind == "short") return Fault::kShort;
  errno = plan.kind == "enospc" ? ENOSPC : EIO;
  return Fault::kError;
}

}  // namespace ms
