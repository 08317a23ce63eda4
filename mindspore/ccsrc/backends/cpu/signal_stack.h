// A stack of their own for the signals of threads that run oneDNN.
//
// oneDNN's generated products of matrices keep the stack pointer in a matrix of theirs while they
// run. A signal that arrives then would have its frame written into that memory, and spoil the
// heap: Ctrl-C, a timer or a profiler is enough. Handlers installed with SA_ONSTACK, as Python's
// are, run on the thread's alternate stack where there is one.
#pragma once

namespace ms::cpu {

// Gives the calling thread and the OpenMP threads that work for it such a stack. Costs nothing once
// they have it; one that somebody else installed stays.
void ShelterSignals();

}  // namespace ms::cpu
