#include "python/same_inputs.h"

#include "io/crc32c.h"
#include "kernel/collectives.h"
#include "python/world.h"

namespace ms::python {
namespace {

// The first rank that has the same piece of the input as `rank`.
int64_t FirstLike(const parallel::Lowered& program, size_t input, int64_t rank) {
  const parallel::Layout& layout = program.inputs[input];
  const Shape& shape = program.whole_inputs[input].shape();
  parallel::Box mine = layout.BoxOf(shape, program.mesh, rank);
  for (int64_t other = 0; other < rank; ++other) {
    if (layout.BoxOf(shape, program.mesh, other) == mine) return other;
  }
  return rank;
}

std::string Ranks(const std::vector<int64_t>& ranks) {
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "));
}

// Of how the program was cut, what all have in common.
uint32_t CutOf(const parallel::Lowered& program) {
  std::string text;
  for (const parallel::MeshAxis& axis : program.mesh.axes)
    text += fmt::format("{} {}\n", axis.name, axis.size);
  if (program.held.empty()) {
    for (const parallel::Layout& layout : program.inputs)
      text += layout.ToString(program.mesh) + "\n";
  }
  return static_cast<uint32_t>(std::hash<std::string>()(text));
}

// Of the program and of its cut, before the sums of what is given.
constexpr size_t kHead = 2;

// `all` has so many sums of each rank.
void CheckHeads(const std::vector<uint32_t>& all, size_t each) {
  constexpr const char* kWhat[kHead] = {
      "must be the same program in all processes, but that of {} has other ops, or other types, "
      "than that of rank 0: what is called may depend on the rank",
      "must be cut alike in all processes, but that of {} is not cut as that of rank 0 is: the "
      "settings of set_auto_parallel_context and set_context may depend on the rank"};
  for (size_t i = 0; i < kHead; ++i) {
    std::vector<int64_t> differ;
    for (size_t at = i; at < all.size(); at += each) {
      if (all[at] != all[i]) differ.push_back(static_cast<int64_t>(at / each));
    }
    if (differ.empty()) continue;
    Throw(ErrorKind::kValue, "For 'parallel_mode', a function that is divided {}.",
          fmt::format(fmt::runtime(kWhat[i]), Ranks(differ)));
  }
}

}  // namespace

void SameInputs::Check(const parallel::Lowered& program, std::span<const GivenInput> given) const {
  int64_t devices = program.mesh.devices();
  auto transport = CurrentTransport();
  if (devices == 1 || !transport || transport->size() != devices) return;
  std::vector<uint32_t> mine{program.outline, CutOf(program)};
  for (const GivenInput& g : given) {
    std::span<const std::byte> bytes(g.value.data<std::byte>(), g.value.bytes());
    mine.push_back(Crc32c(0, bytes));
  }
  std::vector<uint32_t> all(mine.size() * static_cast<size_t>(devices));
  auto bytes = static_cast<int64_t>(mine.size() * sizeof(uint32_t));
  std::vector<int64_t> counts(static_cast<size_t>(devices), bytes);
  FindGroup(kWorld)->AllGather({"what a divided function is given"}, mine.data(), all.data(),
                               counts);
  CheckHeads(all, mine.size());
  for (size_t i = 0; i < given.size(); ++i) {
    std::vector<int64_t> differ;
    int64_t from = 0;
    for (int64_t rank = 0; rank < devices; ++rank) {
      auto sum = [&](int64_t r) { return all[static_cast<size_t>(r) * mine.size() + kHead + i]; };
      int64_t first = FirstLike(program, given[i].input, rank);
      if (sum(first) == sum(rank)) continue;
      if (differ.empty()) from = first;
      differ.push_back(rank);
    }
    if (differ.empty()) continue;
    Throw(ErrorKind::kValue,
          "For 'parallel_mode', argument {} of a function that is divided, {}, must have the same "
          "values in all processes that are given {}, but those of {} differ from those of rank "
          "{}: let all read "
          "the same batches (set_seed, where they are shuffled), or "
          "set_auto_parallel_context(dataset_strategy=\"data_parallel\") where each has its own "
          "rows.",
          given[i].number, program.whole_inputs[given[i].input],
          program.inputs[given[i].input].replicated() ? "the whole batch" : "the same part of it",
          Ranks(differ), from);
  }
}

}  // namespace ms::python
