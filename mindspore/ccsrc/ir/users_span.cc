#include "ir/users_span.h"

#include <mutex>

#include "base/mutex.h"

namespace ms {
namespace {

struct Prefix {
  Mutex mutex;
  std::string text;
};

Prefix& Own() {
  static auto* own = new Prefix;
  return *own;
}

}  // namespace

void SetOwnFiles(std::string prefix) {
  std::lock_guard lock(Own().mutex);
  Own().text = std::move(prefix);
}

SpanId UsersSpan(SpanId id) {
  std::string own;
  {
    std::lock_guard lock(Own().mutex);
    own = Own().text;
  }
  if (own.empty()) return id;
  for (SpanId at = id; at != 0; at = GetSpan(at).caller) {
    if (!GetSpan(at).file.starts_with(own)) return at;
  }
  return id;
}

}  // namespace ms
