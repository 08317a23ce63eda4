// Pieces of text that explanations are made of. Internal to explain.cc and explain_stages.cc.
#pragma once

#include <cstdint>
#include <string>

namespace ms::parallel {

std::string Quoted(const std::string& text);  // for JSON
std::string Time(double seconds);             // "1.5 ms"
std::string Size(int64_t bytes);              // "2.0 MiB"

template <class List, class F>
std::string JsonList(const List& list, F item) {
  std::string text = "[";
  for (const auto& entry : list) text += (text.size() > 1 ? ", " : "") + item(entry);
  return text + "]";
}

}  // namespace ms::parallel
