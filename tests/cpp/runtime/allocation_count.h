// Counts calls of operator new, so that tests can say "allocates nothing". Sanitizers keep their
// own operator new, and the count is always 0 there.
#pragma once

namespace ms::testing {

long AllocationCount();  // by this thread

}  // namespace ms::testing
