// MPI as it is found when the program runs: no MPI is needed to build, and one binary serves the
// three interfaces that there are (Open MPI's, MPICH's, and the standard one of MPI 5). Bytes are
// moved and nothing else: sums are ours (sums.h), so that they have the same bits everywhere.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"

namespace ms::cpu {

// A handle of MPI: an int in MPICH, an address in Open MPI, a number as wide as an address in the
// standard. As an argument the first passes like the others; what is returned by address fills the
// low half of a zero.
using MpiHandle = intptr_t;

// Numbers of bytes as MPI counts them, and where each part begins.
struct Parts {
  std::vector<int> sizes, starts;
  int64_t total = 0;
};

// What MPI reads and writes while a call is under way. It is never memory of the program: that of
// a call which is given up would be another tensor's by the time a late message comes.
struct Flight {
  MpiHandle request = 0;
  std::unique_ptr<char[]> from, to;
  Parts sends, receives;
};

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
  int (*Group_incl)(MpiHandle, int, const int*, MpiHandle*);
  int (*Group_free)(MpiHandle*);
  int (*Ialltoallv)(const void*, const int*, const int*, MpiHandle, void*, const int*, const int*,
                    MpiHandle, MpiHandle, MpiHandle*);
  int (*Iallgatherv)(const void*, int, MpiHandle, void*, const int*, const int*, MpiHandle,
                     MpiHandle, MpiHandle*);
  int (*Ibcast)(void*, int, MpiHandle, int, MpiHandle, MpiHandle*);
  int (*Isend)(const void*, int, MpiHandle, int, int, MpiHandle, MpiHandle*);
  int (*Irecv)(void*, int, MpiHandle, int, int, MpiHandle, MpiHandle*);
  int (*Test)(MpiHandle*, int*, void*);
  int (*Win_allocate_shared)(intptr_t, int, MpiHandle, MpiHandle, void*, MpiHandle*);
  int (*Win_shared_query)(MpiHandle, int, intptr_t*, int*, void*);

  MpiHandle world = 0, byte = 0, no_info = 0, errors_return = 0;
  int shared = 0;      // MPI_COMM_TYPE_SHARED
  int serialized = 0;  // MPI_THREAD_SERIALIZED
  void* no_status = nullptr;
  std::string version;  // "Open MPI v5.0.11, ..."

  // One thread at a time is in MPI.
  Mutex mutex;
  // A call that nobody waits for any more: its memory stays until MPI has done with it.
  void Keep(std::unique_ptr<Flight> flight);
  // Calls a function of MPI; RuntimeError with MPI's own words where it fails.
  template <class F, class... Args>
  void Do(const char* what, F function, Args... args) {
    std::lock_guard lock(mutex);
    if (ended_) FailAfterTheEnd();
    if (int code = function(args...)) Fail(what, code);
  }

  // Ends MPI; what is called afterwards fails.
  void End();
  bool has_ended() const { return ended_; }
  [[noreturn]] static void FailAfterTheEnd();

 private:
  void TakeOpenMpi(void* library);
  [[noreturn]] void Fail(const char* what, int code);

  std::atomic<bool> ended_{false};
  std::vector<std::unique_ptr<Flight>> kept_;
};

}  // namespace ms::cpu
