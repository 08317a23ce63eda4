// The parser's view of the IR's text: characters, words, numbers, and the line for messages.
#pragma once

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "base/error.h"
#include "ir/text_detail.h"

namespace ms::text {

// Characters and words of the text, with the line for messages.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  int line() const { return line_; }
  size_t position() const { return at_; }
  void Seek(size_t position, int line) {
    at_ = position;
    line_ = line;
  }

  char Peek() {
    Skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool AtEnd() {
    Skip();
    return at_ >= text_.size();
  }
  bool TryChar(char c) {
    if (AtEnd() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void Expect(std::string_view token) {
    if (AtEnd() || !text_.substr(at_).starts_with(token))
      Fail(fmt::format("'{}' is expected", token));
    at_ += token.size();
  }
  [[noreturn]] void Fail(std::string_view what) {
    std::string_view rest = text_.substr(std::min(at_, text_.size()));
    rest = rest.substr(0, std::min<size_t>(rest.find('\n'), 24));
    Throw(ErrorKind::kValue, "{}, but got '{}'", what, rest);
  }

  std::string_view Name() {
    if (!IsNameStart(Peek())) Fail("a name is expected");
    size_t start = at_;
    while (at_ < text_.size() && IsNamePart(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }
  // What stands for a value: %12, or the name of a parameter.
  std::string_view Symbol() {
    if (Peek() != '%') return Name();
    size_t start = at_++;
    while (at_ < text_.size() && IsNamePart(text_[at_])) ++at_;
    if (at_ == start + 1) Fail("the number of a value is expected");
    return text_.substr(start, at_ - start);
  }
  bool TryWord(std::string_view word) {
    Skip();
    size_t end = at_ + word.size();
    if (!text_.substr(std::min(at_, text_.size())).starts_with(word)) return false;
    if (end < text_.size() && IsNamePart(text_[end])) return false;
    at_ = end;
    return true;
  }
  std::string NameOrQuoted() { return Peek() == '"' ? Quoted() : std::string(Name()); }
  std::string Quoted();
  // A run of the characters that numbers are made of.
  std::string_view Number() {
    Skip();
    size_t start = at_;
    while (at_ < text_.size() && InNumber(text_[at_])) ++at_;
    if (at_ == start) Fail("a number is expected");
    return text_.substr(start, at_ - start);
  }
  template <class T>
  T Parsed(std::string_view digits) {
    T value{};
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) {
      Throw(ErrorKind::kValue, "'{}' is not a number of the type that is needed here", digits);
    }
    return value;
  }
  int64_t Integer() { return Parsed<int64_t>(Number()); }
  template <class F>
  void List(char open, char close, F item) {
    Expect({&open, 1});
    if (TryChar(close)) return;
    do item();
    while (TryChar(','));
    Expect({&close, 1});
  }

 private:
  static bool InNumber(char c) {
    return IsDigit(c) || c == '.' || c == '-' || c == '+' || (c >= 'a' && c <= 'z');
  }
  void Skip() {
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (c == '\n' || c == ' ' || c == '\t' || c == '\r') {
        line_ += c == '\n';
        ++at_;
      } else {
        return;
      }
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
};

inline std::string Cursor::Quoted() {
  Expect("\"");
  std::string value;
  while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') {
    char c = text_[at_++];
    if (c != '\\') {
      value += c;
      continue;
    }
    char kind = at_ < text_.size() ? text_[at_++] : '\0';
    if (kind == 'n') {
      value += '\n';
    } else if (kind == '"' || kind == '\\') {
      value += kind;
    } else if (kind == 'x' && at_ + 2 <= text_.size()) {
      unsigned code = 0;
      const char* from = text_.data() + at_;
      if (std::from_chars(from, from + 2, code, 16).ptr != from + 2)
        Fail("two hexadecimal digits are expected");
      value += static_cast<char>(code);
      at_ += 2;
    } else {
      Fail("an escape is one of \\n, \\\", \\\\ and \\x00");
    }
  }
  if (at_ >= text_.size() || text_[at_] != '"') Fail("a string must end on its line");
  ++at_;
  return value;
}

}  // namespace ms::text
