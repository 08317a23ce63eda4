#include "kernel/layout.h"

namespace ms {

const Layouts& Backend::layouts() const {
  static const Layouts none;
  return none;
}

}  // namespace ms
