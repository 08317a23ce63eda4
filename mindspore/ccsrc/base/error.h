// The one exception of the core. Its kind decides the Python type; the binding adds the user's
// source line.
#pragma once

#include <fmt/format.h>

#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace ms {

enum class ErrorKind {
  kType,
  kValue,
  kIndex,
  kRuntime,
  kMemory,
  kInternal,
  kAttribute,
  kName,
  kNotImplemented,
  kOs,
  kZeroDivision,
  kUnknownValue,  // a value that is known only when the graph runs
  kSymbolic,      // a dynamic size met code that needs the number: the compile specialises
};

class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message) : kind_(kind), message_(std::move(message)) {}

  const char* what() const noexcept override { return message_.c_str(); }
  ErrorKind kind() const { return kind_; }
  const std::string& message() const { return message_; }
  // Where the failing node was written, when the thrower knows it (0: unknown; see ir/span.h).
  uint32_t span() const { return span_; }
  // With the name of the op or function in front, unless it has one.
  Error Of(std::string_view name) const {
    if (message_.starts_with("For '")) return *this;
    std::string_view text = message_;
    if (text.ends_with('.')) text.remove_suffix(1);
    Error named = Error(kind_, fmt::format("For '{}', {}.", name, text)).WithSpan(span_);
    named.late_ = late_;
    return named;
  }
  // Whether a device found it, after the call that it is about.
  bool late() const { return late_; }
  Error Late() && {
    late_ = true;
    return std::move(*this);
  }
  Error WithSpan(uint32_t span) && {
    if (span_ == 0) span_ = span;
    return std::move(*this);
  }

 private:
  ErrorKind kind_;
  std::string message_;
  uint32_t span_ = 0;
  bool late_ = false;
};

template <class... Args>
[[noreturn]] void Throw(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(kind, fmt::format(format, std::forward<Args>(args)...));
}

[[noreturn]] void AssertFailed(const char* condition, const char* file, int line);

// Checks are for users (Throw); asserts are for us: a failure is a bug of the framework.
#define MS_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::ms::AssertFailed(#condition, __FILE__, __LINE__))

}  // namespace ms
