// MPI as it is found when the program runs: no MPI is needed to build, and one binary serves the
// three interfaces that there are (Open MPI's, MPICH's, and the standard one of MPI 5). Bytes are
// moved and nothing else: sums are ours (sums.h), so that they have the same bits everywhere.
#pragma once

#include <cstdint>
#include <string>

#include "base/mutex.h"

namespace ms::cpu {

// A handle of MPI: an int in MPICH, an address in Open MPI, a number as wide as an address in the
// standard. As an argument the first passes like the others; what is returned by address fills the
// low half of a zero.
using MpiHandle = intptr_t;

// The functions, their values of MPI_Comm and so on as handles. All return a code, 0 for success.
struct Mpi {
  explicit Mpi(const std::string& library);  // OSError, RuntimeError

  int (*Init_thread)(int*, char***, int, int*);
  int (*Initialized)(int*);
  int (*Finalized)(int*);
  int (*Finalize)();
  int (*Error_string)(int, char*, int*);
  int (*Get_library_version)(char*, int*);
  int (*Comm_rank)(MpiHandle, int*);
  int (*Comm_size)(MpiHandle, int*);
  int (*Comm_set_errhandler)(MpiHandle, MpiHandle);
  int (*Comm_split_type)(MpiHandle, int, int, MpiHandle, MpiHandle*);
  int (*Comm_group)(MpiHandle, MpiHandle*);
  int (*Comm_create_group)(MpiHandle, MpiHandle, int, MpiHandle*);
  int (*Comm_free)(MpiHandle*);
  int (*Group_incl)(MpiHandle, int, const int*, MpiHandle*);
  int (*Group_free)(MpiHandle*);
  int (*Ialltoallv)(const void*, const int*, const int*, MpiHandle, void*, const int*, const int*,
                    MpiHandle, MpiHandle, MpiHandle*);
  int (*Iallgatherv)(const void*, int, MpiHandle, void*, const int*, const int*, MpiHandle,
                     MpiHandle, MpiHandle*);
  int (*Ibcast)(void*, int, MpiHandle, int, MpiHandle, MpiHandle*);
  int (*Ibarrier)(MpiHandle, MpiHandle*);
  int (*Isend)(const void*, int, MpiHandle, int, int, MpiHandle, MpiHandle*);
  int (*Irecv)(void*, int, MpiHandle, int, int, MpiHandle, MpiHandle*);
  int (*Test)(MpiHandle*, int*, void*);
  int (*Win_allocate_shared)(intptr_t, int, MpiHandle, MpiHandle, void*, MpiHandle*);
  int (*Win_shared_query)(MpiHandle, int, intptr_t*, int*, void*);
  int (*Win_free)(MpiHandle*);

  MpiHandle world = 0, byte = 0, no_info = 0, errors_return = 0;
  int shared = 0;      // MPI_COMM_TYPE_SHARED
  int serialized = 0;  // MPI_THREAD_SERIALIZED
  void* no_status = nullptr;
  std::string version;  // "Open MPI v5.0.11, ..."

  // One thread at a time is in MPI.
  Mutex mutex;
  // Calls a function of MPI; RuntimeError with MPI's own words where it fails.
  template <class F, class... Args>
  void Do(const char* what, F function, Args... args) {
    std::lock_guard lock(mutex);
    if (int code = function(args...)) Fail(what, code);
  }

 private:
  void TakeOpenMpi(void* library);
  [[noreturn]] void Fail(const char* what, int code);
};

}  // namespace ms::cpu
