#include "kernel/launch.h"

#include <new>

#include "kernel/host_call.h"

namespace ms {

void RethrowOf(const std::exception_ptr& thrown, const LaunchPlace* place) {
  if (!place) std::rethrow_exception(thrown);
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    if (error.late()) throw;  // of another launch, which it names
    throw error.Of(place->op->name).WithSpan(place->span);
  } catch (const HostError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::kMemory,
                fmt::format("For '{}', the memory is not enough.", place->op->name))
        .WithSpan(place->span);
  } catch (const std::exception& error) {
    throw Error(ErrorKind::kInternal,
                fmt::format("For '{}', the kernel failed: {}", place->op->name, error.what()))
        .WithSpan(place->span);
  } catch (...) {
    throw Error(ErrorKind::kInternal,
                fmt::format("For '{}', the kernel failed, and what it threw is no std::exception",
                            place->op->name))
        .WithSpan(place->span);
  }
}

Tensor BringTo(Memory& memory, const Tensor& value, std::string_view user) {
  if (&value.memory() == &memory) return value;
  if (value.on_host()) return value.In(memory);
  std::string_view here = memory.device(), there = value.memory().device();
  Throw(ErrorKind::kRuntime,
        "For '{}', all inputs must be on {}, where it runs, or on the host, but got one on {}. Use "
        "x.move_to('{}') for that input, or set_device('{}') before.",
        user, here, there, here, there);
}

}  // namespace ms
