#include "ir/attr.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace ms {
namespace {

bool SameBits(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape())) return false;
  return a.raw() == b.raw() || std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

// Small tensors differ in their values more often than in their shapes.
size_t HashHead(const Tensor& t) {
  size_t sampled = std::min<size_t>(t.bytes(), 256);
  std::string_view head(static_cast<const char*>(t.raw()), sampled);
  return HashCombine(t.shape().Hash(), std::hash<std::string_view>()(head));
}

}  // namespace

bool Equal(const Attr& a, const Attr& b) {
  if (a.index() != b.index()) return false;
  if (const auto* t = std::get_if<Tensor>(&a)) return SameBits(*t, std::get<Tensor>(b));
  return std::visit(
      [&](const auto& x) {
        using T = std::decay_t<decltype(x)>;
        if constexpr (std::is_same_v<T, Tensor>)
          return false;
        else if constexpr (std::is_same_v<T, double>) {
          double y = std::get<double>(b);
          return std::memcmp(&x, &y, sizeof x) == 0;  // nan equals itself, -0 differs from 0
        } else
          return x == std::get<T>(b);
      },
      a);
}

bool Equal(const Attrs& a, const Attrs& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!Equal(a[i], b[i])) return false;
  }
  return true;
}

size_t Hash(const Attr& attr) {
  size_t hash = attr.index() + 1;
  return HashCombine(hash, std::visit(
                               [](const auto& x) -> size_t {
                                 using T = std::decay_t<decltype(x)>;
                                 if constexpr (std::is_same_v<T, std::monostate>)
                                   return 0;
                                 else if constexpr (std::is_same_v<T, DType>)
                                   return static_cast<size_t>(x);
                                 else if constexpr (std::is_same_v<T, Tensor>)
                                   return HashHead(x);
                                 else if constexpr (std::is_same_v<T, Ints> ||
                                                    std::is_same_v<T, std::vector<double>>) {
                                   size_t h = x.size();
                                   for (auto v : x) h = HashCombine(h, std::hash<decltype(v)>()(v));
                                   return h;
                                 } else
                                   return std::hash<T>()(x);
                               },
                               attr));
}

size_t Hash(const Attrs& attrs) {
  size_t hash = attrs.size();
  for (const Attr& a : attrs) hash = HashCombine(hash, Hash(a));
  return hash;
}

namespace {

std::string DoubleText(double v) {
  std::string text = fmt::format("{}", v);
  bool integral = text.find_first_not_of("-0123456789") == std::string::npos;
  return integral ? text + ".0" : text;
}

}  // namespace

std::string ToString(const Attr& attr) {
  return std::visit(
      [](const auto& x) -> std::string {
        using T = std::decay_t<decltype(x)>;
        if constexpr (std::is_same_v<T, std::monostate>)
          return "none";
        else if constexpr (std::is_same_v<T, bool>)
          return x ? "true" : "false";
        else if constexpr (std::is_same_v<T, int64_t>)
          return Dim::FromCode(x).ToString();
        else if constexpr (std::is_same_v<T, double>)
          return DoubleText(x);
        else if constexpr (std::is_same_v<T, std::string>)
          return fmt::format("\"{}\"", x);
        else if constexpr (std::is_same_v<T, DType>)
          return std::string(Name(x));
        else if constexpr (std::is_same_v<T, Ints>)
          return fmt::format("[{}]", fmt::join(DimsFromCodes(x), ", "));
        else if constexpr (std::is_same_v<T, std::vector<double>>) {
          std::string text;
          for (double v : x) text += (text.empty() ? "" : ", ") + DoubleText(v);
          return "[" + text + "]";
        } else if constexpr (std::is_same_v<T, Tensor>)
          return x.ToString();
        else
          return "@graph";
      },
      attr);
}

}  // namespace ms
