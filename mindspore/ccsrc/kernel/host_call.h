// Functions of the program around us (Python's) that a graph calls while it runs: to print, to
// raise, to compute what no op computes. A node names one by number, so that graphs stay values.
#pragma once

#include <exception>
#include <functional>
#include <vector>

#include "kernel/kernel.h"

namespace ms {

// Gets copies of the arguments; what it returns is checked against the declared types.
using HostFunction = std::function<std::vector<Tensor>(std::vector<Tensor>)>;

int64_t RegisterHostFunction(HostFunction function);
void ForgetHostFunction(int64_t number);

// What a host function throws to end the run: passes through the runtime as it is.
class HostError : public std::exception {
 public:
  virtual void Restore() const = 0;  // makes it the error of the program around us
};

KernelChoice MakeHostCall(const KernelRequest& request);

}  // namespace ms
