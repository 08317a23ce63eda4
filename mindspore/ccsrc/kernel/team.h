// Teams of threads that share the work of a launch: what libgomp does for `#pragma omp parallel` in
// this package and in libraries that its devices use, done here, so that a busy machine does not
// stop it.
//
// libgomp gives each thread of a team its part and waits for all. Where other processes use the
// processors, a thread that has none keeps the others waiting for a time slice, a hundred times
// what its part takes. Here the parts are the same, and so are all bits, but who is awake takes
// those that nobody has begun: a thread without a processor is not waited for.
//
// The entries of libgomp that compiled code calls are defined in team_entries.cc, in this library,
// which comes before libgomp where the loader looks names up for devices and what they link, and
// nowhere else. Where libgomp is before it all the same (a package loaded it for everybody, or
// LD_PRELOAD) everything goes to libgomp, as do the regions of who sets variables of libgomp's, and
// those of libraries that may use the rest of OpenMP: other people's devices, and what these link.
#pragma once

namespace ms::team {

using Body = void (*)(void*);

// A region: `body(data)` once as each of `count` threads. The caller, between the two, as number 0.
// Bodies that call more of OpenMP than is here (`single`, loops with other schedules) go to
// libgomp.
void Begin(Body body, void* data, unsigned count, bool here = true);
void End();

// Regions of the library in which this code lies come here from now on. It must take nothing else
// of OpenMP than what team_entries.cc has.
void Serve(const void* code);
bool IsKnown(Body body);

// Starts the threads that regions of the calling thread take; throws where the system has none to
// give. For regions whose threads wait for each other: the parts of others are then done by the
// caller, one by one.
void Reserve();

// Waits for all threads of the region.
void Barrier();

// Of the calling thread; outside of regions what libgomp says.
int Number();
int Count();
bool Inside();

// Whether regions have come here.
bool InUse();

// Whether waiting threads go to sleep at once.
void SleepAtOnce(bool yes);
bool SleepsAtOnce();

// The child of a fork has none of the threads.
void AfterForkInChild();

// Regions of libgomp itself.
void RunInLibgomp(Body body, void* data, unsigned count);

}  // namespace ms::team
