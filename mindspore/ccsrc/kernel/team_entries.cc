// What compiled code calls for `#pragma omp parallel`, under libgomp's names (see team.h). The
// meaning is OpenMP's, the names and arguments those of GCC's calls.
#include <dlfcn.h>
#include <omp.h>

#include <algorithm>

#include "kernel/libgomp.h"
#include "kernel/team.h"

#pragma GCC diagnostic ignored "-Wmissing-declarations"

namespace ms {
namespace {

template <class F>
void Find(F*& entry, const char* name) {
  entry = reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

// Which part of a loop is whose: as `schedule(static)` and `schedule(static, chunk)` say.
struct StaticLoop {
  long begin, step, trips, chunk;
  long next;  // of this thread's chunks; with chunk 0 there is one
};
constinit thread_local StaticLoop loop{};

bool NextOfLoop(long* begin, long* end) {
  const long number = team::Number(), count = team::Count();
  long from, to;
  // A region inside of another has one thread, whose share is the loop: `loop` is the outer one's.
  if (count == 1) return false;
  if (loop.chunk == 0) {
    if (loop.next++ > 0) return false;
    long each = loop.trips / count, more = loop.trips % count;
    from = each * number + std::min(number, more);
    to = from + each + (number < more ? 1 : 0);
  } else {
    from = (loop.next++ * count + number) * loop.chunk;
    to = std::min(from + loop.chunk, loop.trips);
  }
  if (from >= to) return false;
  *begin = loop.begin + from * loop.step;
  *end = loop.begin + to * loop.step;
  return true;
}

bool Ours() { return team::Inside() && !Libgomp().omp_in_parallel(); }

}  // namespace

const LibgompEntries& Libgomp() {
  static const LibgompEntries entries = [] {
    LibgompEntries found;
    Find(found.omp_get_thread_num, "omp_get_thread_num");
    Find(found.omp_get_num_threads, "omp_get_num_threads");
    Find(found.omp_in_parallel, "omp_in_parallel");
    Find(found.GOMP_parallel_start, "GOMP_parallel_start");
    Find(found.GOMP_parallel_end, "GOMP_parallel_end");
    Find(found.GOMP_barrier, "GOMP_barrier");
    Find(found.GOMP_loop_static_start, "GOMP_loop_static_start");
    Find(found.GOMP_loop_static_next, "GOMP_loop_static_next");
    Find(found.GOMP_loop_end_nowait, "GOMP_loop_end_nowait");
    return found;
  }();
  return entries;
}

}  // namespace ms

extern "C" {

void GOMP_parallel_start(void (*body)(void*), void* data, unsigned count) {
  ms::team::Begin(body, data, count, ms::team::IsKnown(body));
}

void GOMP_parallel_end() { ms::team::End(); }

void GOMP_parallel(void (*body)(void*), void* data, unsigned count, unsigned) {
  ms::team::Begin(body, data, count, ms::team::IsKnown(body));
  body(data);
  ms::team::End();
}

void GOMP_barrier() { ms::team::Barrier(); }

int omp_get_thread_num() noexcept { return ms::team::Number(); }

int omp_get_num_threads() noexcept { return ms::team::Count(); }

int omp_in_parallel() noexcept { return ms::team::Inside() ? 1 : 0; }

bool GOMP_loop_static_start(long begin, long end, long step, long chunk, long* from, long* to) {
  if (!ms::Ours()) return ms::Libgomp().GOMP_loop_static_start(begin, end, step, chunk, from, to);
  long beyond = step > 0 ? step - 1 : step + 1;
  long trips = std::max(0L, (end - begin + beyond) / step);
  if (ms::team::Count() == 1) {
    *from = begin;
    *to = begin + trips * step;
    return trips > 0;
  }
  ms::loop = {begin, step, trips, chunk, 0};
  return ms::NextOfLoop(from, to);
}

bool GOMP_loop_static_next(long* from, long* to) {
  return ms::Ours() ? ms::NextOfLoop(from, to) : ms::Libgomp().GOMP_loop_static_next(from, to);
}

void GOMP_loop_end_nowait() {
  if (!ms::Ours()) ms::Libgomp().GOMP_loop_end_nowait();
}
}
