// Where a node was written: a place in the user's source and the chain of calls that led there.
// Spans are interned for the life of the process; the id 0 means "unknown".
#pragma once

#include <cstdint>
#include <string>

namespace ms {

using SpanId = uint32_t;

struct Span {
  std::string file;
  int line = 0;
  int column = 0;  // 1-based; 0: unknown
  int end_line = 0;
  int end_column = 0;
  std::string function;  // "Net.construct"
  SpanId caller = 0;     // the call through which this function was inlined
  bool operator==(const Span&) const = default;
};

SpanId InternSpan(const Span& span);
const Span& GetSpan(SpanId id);  // id must not be 0
// "net.py:14", or "" when unknown.
std::string ShortSpan(SpanId id);

}  // namespace ms
