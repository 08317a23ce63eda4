// Graphs as text, for those who ask cuDNN itself what it thinks of them (cudnn_judge.py): a line for
// each, in the file that MS_CUDA_STUB_GRAPHS names.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <cstdlib>

#include "dnn.h"

namespace stub::dnn {
namespace {

std::string TextOf(const Desc& d);

std::string ValuesOf(const Desc& d, int attribute, int type) {
  switch (type) {
    case 2:
      return d.Get<bool>(attribute) ? "true" : "false";
    case 3:
      return fmt::format("{}", fmt::join(d.All<int64_t>(attribute), ", "));
    case 4:
      return fmt::format("{}", fmt::join(d.All<float>(attribute), ", "));
    case 5:
      return fmt::format("{}", fmt::join(d.All<double>(attribute), ", "));
    case 15: {
      std::vector<std::string> parts;
      for (const Desc* part : d.All<Desc*>(attribute)) parts.push_back(TextOf(*part));
      return fmt::format("{}", fmt::join(parts, ", "));
    }
    default:
      return fmt::format("{}", fmt::join(d.All<int>(attribute), ", "));
  }
}

std::string TextOf(const Desc& d) {
  std::vector<std::string> facts;
  for (const auto& [attribute, value] : d.attributes) {
    if (value.type != 0)  // a handle
      facts.push_back(
          fmt::format("[{}, {}, [{}]]", attribute, value.type, ValuesOf(d, attribute, value.type)));
  }
  return fmt::format(R"({{"kind": {}, "set": [{}]}})", d.kind, fmt::join(facts, ", "));
}

}  // namespace

void Record(const Desc& graph) {
  const char* path = std::getenv("MS_CUDA_STUB_GRAPHS");
  std::FILE* file = path ? std::fopen(path, "a") : nullptr;
  if (!file) return;
  std::fputs((TextOf(graph) + "\n").c_str(), file);
  std::fclose(file);
}

}  // namespace stub::dnn
