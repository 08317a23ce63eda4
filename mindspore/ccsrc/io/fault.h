// Fault injection for the tests of file writing. MS_IO_FAULT=<n>:<kill|eio|enospc|short> makes the
// n-th system call of the writer (open, write, fsync, rename, close) fail in that way, counted from
// 1 since the variable was set to this text.
#pragma once

namespace ms {

enum class Fault { kNone, kError, kShort };

// Counts one call. kError: errno is set and the call must not be made. kShort: a write takes only a
// part. With `kill` it does not return. Costs one getenv when the variable is not set.
Fault NextFault();

}  // namespace ms
