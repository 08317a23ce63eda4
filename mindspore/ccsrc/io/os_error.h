// A system call that failed on a file: in Python the OSError of its errno.
#pragma once

#include <cstring>
#include <string>
#include <utility>

#include "base/error.h"

namespace ms {

class OsError : public Error {
 public:
  // `what` could not be done, e.g. "Cannot write 'a.ckpt'".
  OsError(int number, const std::string& what)
      : Error(ErrorKind::kOs,
              fmt::format("{}: {} (errno {}).", what, std::strerror(number), number)),
        number_(number) {}

  int number() const { return number_; }

 private:
  int number_;
};

}  // namespace ms
