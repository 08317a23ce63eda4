#include "backends/cpu/collectives/mpi.h"

#include <dlfcn.h>

#include <thread>

#include "base/error.h"
#include "cluster/watch.h"

namespace ms::cpu {
namespace {

template <class F>
void Take(void* library, const char* name, F* function) {
  *function = reinterpret_cast<F>(dlsym(library, name));
  if (!*function) {
    Throw(ErrorKind::kRuntime,
          "For 'init', the MPI library must be of MPI 3 or newer, but it has no '{}'.", name);
  }
}

MpiHandle Address(void* library, const char* name) {
  void* symbol = dlsym(library, name);
  if (!symbol) Throw(ErrorKind::kRuntime, "For 'init', this Open MPI has no '{}'.", name);
  return reinterpret_cast<MpiHandle>(symbol);
}

// The standard's library is told by its name: MPICH's own has the standard's functions, too, but
// not its values.
bool IsOfStandard(const void* function) {
  Dl_info info;
  return dladdr(function, &info) &&
         std::string_view(info.dli_fname).find("libmpi_abi") != std::string_view::npos;
}

constexpr int kWaitsForAName = 60;  // of 50 ms
constexpr int kLongestText = 8192;  // more than MPI_MAX_LIBRARY_VERSION_STRING of all of them

}  // namespace

Mpi::Mpi(const std::string& library_path) {
  void* library = dlopen(library_path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    Throw(ErrorKind::kOs, "For 'init', the MPI library '{}' does not open: {}.", library_path,
          dlerror());
  }
  Take(library, "MPI_Init_thread", &Init_thread);
  Take(library, "MPI_Initialized", &Initialized);
  Take(library, "MPI_Finalized", &Finalized);
  Take(library, "MPI_Finalize", &Finalize);
  Take(library, "MPI_Error_string", &Error_string);
  Take(library, "MPI_Get_library_version", &Get_library_version);
  Take(library, "MPI_Comm_rank", &Comm_rank);
  Take(library, "MPI_Comm_size", &Comm_size);
  Take(library, "MPI_Comm_set_errhandler", &Comm_set_errhandler);
  Take(library, "MPI_Comm_split_type", &Comm_split_type);
  Take(library, "MPI_Comm_group", &Comm_group);
  Take(library, "MPI_Comm_create_group", &Comm_create_group);
  Take(library, "MPI_Group_incl", &Group_incl);
  Take(library, "MPI_Group_free", &Group_free);
  Take(library, "MPI_Ialltoallv", &Ialltoallv);
  Take(library, "MPI_Iallgatherv", &Iallgatherv);
  Take(library, "MPI_Ibcast", &Ibcast);
  Take(library, "MPI_Isend", &Isend);
  Take(library, "MPI_Irecv", &Irecv);
  Take(library, "MPI_Test", &Test);
  Take(library, "MPI_Win_allocate_shared", &Win_allocate_shared);
  Take(library, "MPI_Win_shared_query", &Win_shared_query);

  if (dlsym(library, "ompi_mpi_comm_world")) {
    TakeOpenMpi(library);
  } else if (IsOfStandard(reinterpret_cast<const void*>(Init_thread))) {
    // What the standard's table of constants gives.
    world = 0x101, byte = 0x247, no_info = 0x130, errors_return = 0x143;
    shared = 221, serialized = 2048;
  } else {
    // What all MPICHs since 3.1, and those that share their interface, have.
    world = 0x44000000, byte = 0x4c00010d, no_info = 0x1c000000, errors_return = 0x54000001;
    shared = 1, serialized = 2, no_status = reinterpret_cast<void*>(1);
  }
  std::string text(kLongestText, '\0');
  int length = 0;
  Get_library_version(text.data(), &length);
  version = text.substr(0, text.find_first_of("\n\0", 0, 2));
}

void Mpi::TakeOpenMpi(void* library) {
  world = Address(library, "ompi_mpi_comm_world");
  byte = Address(library, "ompi_mpi_byte");
  no_info = Address(library, "ompi_mpi_info_null");
  errors_return = Address(library, "ompi_mpi_errors_return");
  shared = 0, serialized = 2;
}

void Mpi::Keep(std::unique_ptr<Flight> flight) {
  std::lock_guard lock(mutex);
  std::erase_if(kept_, [this](const std::unique_ptr<Flight>& old) {
    int done = 0;
    return !ended_ && !Test(&old->request, &done, no_status) && done;
  });
  kept_.push_back(std::move(flight));
}

void Mpi::End() {
  Do("end", Finalize);
  ended_ = true;
}

void Mpi::FailAfterTheEnd() {
  Throw(ErrorKind::kRuntime, "this process has left the others: its groups are no more");
}

void Mpi::Fail(const char* what, int code) {
  // Where a process is lost MPI may be the first to fail; the watch has its name a moment later.
  for (int i = 0; i < kWaitsForAName && cluster::Watch::Current(); ++i) {
    cluster::Watch::Current()->Check();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  std::string text(kLongestText, '\0');
  int length = 0;
  if (Error_string(code, text.data(), &length)) length = 0;
  Throw(ErrorKind::kRuntime, "MPI could not {}: {} (code {}).", what,
        text.substr(0, static_cast<size_t>(length)), code);
}

}  // namespace ms::cpu
