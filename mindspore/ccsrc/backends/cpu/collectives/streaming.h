// Copies for another core.
#pragma once

#include <cstdint>

namespace ms::cpu {

// Copies what another core reads next. From some bytes on it goes past the caches: to take a line
// that another core has just read back into this one's, and to fetch it from there afterwards,
// takes several times as long as memory does, where the two share no cache. What is written is
// seen by whoever sees what this thread stores (release) afterwards.
void CopyForOthers(char* to, const char* from, int64_t bytes);

}  // namespace ms::cpu
