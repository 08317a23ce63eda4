// Which place of a chain of calls the user wrote.
#pragma once

#include <string>

#include "ir/span.h"

namespace ms {

// Files whose path begins so are not the user's. "": all are.
void SetOwnFiles(std::string prefix);
// The innermost place of the chain in a file of the user; `id` itself where there is none.
SpanId UsersSpan(SpanId id);

}  // namespace ms
