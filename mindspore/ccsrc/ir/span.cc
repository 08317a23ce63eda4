#include "ir/span.h"

#include <deque>
#include <unordered_map>

#include "base/error.h"
#include "base/mutex.h"
#include "base/shape.h"

namespace ms {
namespace {

struct SpanHash {
  size_t operator()(const Span& s) const {
    size_t hash = std::hash<std::string>()(s.file);
    for (size_t part : {static_cast<size_t>(s.line), static_cast<size_t>(s.column),
                        static_cast<size_t>(s.end_line), static_cast<size_t>(s.end_column),
                        static_cast<size_t>(s.caller), std::hash<std::string>()(s.function)}) {
      hash = HashCombine(hash, part);
    }
    return hash;
  }
};

struct SpanTable {
  Mutex mutex;
  std::deque<Span> spans{Span{}};
  std::unordered_map<Span, SpanId, SpanHash> ids;
};

SpanTable& Table() {
  static auto* table = new SpanTable;
  return *table;
}

}  // namespace

SpanId InternSpan(const Span& span) {
  SpanTable& table = Table();
  std::lock_guard lock(table.mutex);
  auto [it, fresh] = table.ids.try_emplace(span, static_cast<SpanId>(table.spans.size()));
  if (fresh) table.spans.push_back(span);
  return it->second;
}

const Span& GetSpan(SpanId id) {
  SpanTable& table = Table();
  std::lock_guard lock(table.mutex);
  MS_ASSERT(id != 0 && id < table.spans.size());
  return table.spans[id];
}

std::string ShortSpan(SpanId id) {
  if (id == 0) return "";
  const Span& span = GetSpan(id);
  return fmt::format("{}:{}", span.file.substr(span.file.find_last_of('/') + 1), span.line);
}

}  // namespace ms
