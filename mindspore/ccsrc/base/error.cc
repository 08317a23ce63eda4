#include "base/error.h"

namespace ms {

void AssertFailed(const char* condition, const char* file, int line) {
  throw Error(ErrorKind::kInternal,
              fmt::format("'{}' does not hold ({}:{})", condition, file, line));
}

}  // namespace ms
