#include "runtime/branches.h"

#include <algorithm>
#include <functional>
#include <iterator>

namespace ms {

// The first piece at or behind `at`, where none goes across.
Branches::Pieces::iterator Branches::Cut(uintptr_t at) {
  auto next = pieces_.lower_bound(at);
  if (next == pieces_.begin()) return next;
  Piece& across = std::prev(next)->second;
  if (across.end <= at) return next;
  Piece rest = across;
  across.end = at;
  return pieces_.emplace_hint(next, at, std::move(rest));
}

// Pieces that are these bytes, all of them.
std::pair<Branches::Pieces::iterator, Branches::Pieces::iterator> Branches::Cover(Bytes bytes) {
  auto begin = reinterpret_cast<uintptr_t>(bytes.begin), end = begin + bytes.size;
  auto it = Cut(begin);
  Cut(end);
  for (uintptr_t at = begin; at < end; at = it->second.end, ++it) {
    if (it != pieces_.end() && it->first == at) continue;
    uintptr_t next = it == pieces_.end() ? end : std::min(end, it->first);
    it = pieces_.emplace_hint(it, at, Piece{next});
  }
  return {pieces_.lower_bound(begin), pieces_.lower_bound(end)};
}

std::vector<uint32_t> Branches::Add(std::span<const Bytes> reads, std::span<const Bytes> writes) {
  auto launch = static_cast<uint32_t>(before_.size());
  std::vector<uint32_t> found;
  auto follow = [&](uint32_t earlier) {
    if (earlier != kNobody && earlier != launch) found.push_back(earlier);
  };
  for (Bytes bytes : reads) {
    for (auto [it, end] = Cover(bytes); it != end; ++it) {
      follow(it->second.writer);
      it->second.readers.push_back(launch);
    }
  }
  for (Bytes bytes : writes) {
    auto [first, end] = Cover(bytes);
    if (first == end) continue;
    for (auto it = first; it != end; ++it) {
      follow(it->second.writer);
      for (uint32_t reader : it->second.readers) follow(reader);
    }
    uintptr_t begin = first->first;
    pieces_.erase(first, end);
    pieces_[begin] = {begin + bytes.size, launch, {}};
  }
  std::sort(found.begin(), found.end(), std::greater<>());
  std::vector<bool>& before = before_.emplace_back(launch);
  std::vector<uint32_t> after;
  for (uint32_t earlier : found) {
    if (before[earlier]) continue;
    after.push_back(earlier);
    before[earlier] = true;
    for (uint32_t i = 0; i < earlier; ++i) {
      if (before_[earlier][i]) before[i] = true;
    }
  }
  return after;
}

}  // namespace ms
