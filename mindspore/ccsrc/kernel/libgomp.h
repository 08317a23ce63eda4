// The entries of libgomp behind those of team_entries.cc.
#pragma once

namespace ms {

struct LibgompEntries {
  int (*omp_get_thread_num)();
  int (*omp_get_num_threads)();
  int (*omp_in_parallel)();
  void (*GOMP_parallel_start)(void (*)(void*), void*, unsigned);
  void (*GOMP_parallel_end)();
  void (*GOMP_barrier)();
  bool (*GOMP_loop_static_start)(long, long, long, long, long*, long*);
  bool (*GOMP_loop_static_next)(long*, long*);
  void (*GOMP_loop_end_nowait)();
};

const LibgompEntries& Libgomp();

}  // namespace ms
