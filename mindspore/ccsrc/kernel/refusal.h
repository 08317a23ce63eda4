// What a kernel table throws where no kernel takes a request. Any other error of a maker is one.
#pragma once

#include "base/error.h"

namespace ms {

class Refusal : public Error {
 public:
  explicit Refusal(std::string message) : Error(ErrorKind::kType, std::move(message)) {}
};

}  // namespace ms
