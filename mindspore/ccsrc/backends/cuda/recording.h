// What kernels do, recorded as a graph of the driver, and replayed by one launch:
// CudaStream::Record.
#pragma once

namespace ms::cuda {

// Of this process: how many were made, could not be made, and how often one was replayed.
struct RecordingCounts {
  int made = 0, refused = 0, replayed = 0;
};
RecordingCounts CountRecordings();

}  // namespace ms::cuda
