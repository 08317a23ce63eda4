#include "backends/cpu/codegen/tile_program.h"

#include <algorithm>

#include "backends/cpu/codegen/tile_compiler.h"

namespace ms::cpu {
std::string TileProgram::Compile(const loops::LoopBody& body, const Types& inputs,
                                 const Shape& shape, const VectorTable& table) {
  std::vector<loops::Access> accesses;
  for (const Type& type : inputs) accesses.push_back(loops::Broadcast(type.shape(), shape));
  return Compile(body, std::move(accesses), shape.ToInts(), table);
}

std::string TileProgram::Compile(const loops::LoopBody& body, std::vector<loops::Access> accesses,
                                 Ints sizes, const VectorTable& table) {
  return TileCompiler(body, std::move(accesses), std::move(sizes), table, this).Compile();
}

void TileProgram::Run(const void* const* in, void* const* out, int64_t begin, int64_t end) const {
  if (begin >= end) return;
  alignas(64) char scratch[kScratchBytes];
  char* base[kMaxSlots];
  for (size_t s = 0; s < slots_.size(); ++s) {
    const Slot& slot = slots_[s];
    switch (slot.place) {
      case Place::kInput:
        base[s] = static_cast<char*>(const_cast<void*>(in[slot.index]));
        break;
      case Place::kOutput:
        base[s] = static_cast<char*>(out[slot.index]);
        break;
      case Place::kRegister:
        base[s] = scratch + slot.index * register_bytes_;
        break;
    }
  }
  int64_t n = std::min(tile_, end - begin);
  for (const Fill& fill : fills_) {
    fill.fill(base[fill.slot], fill.input < 0 ? fill.value : in[fill.input], n);
  }
  for (const Instruction& i : once_) {
    i.fn(base[i.out], base[i.args[0]], base[i.args[1]], base[i.args[2]], n);
  }
  for (; begin < end; begin += n) {
    n = std::min(tile_, end - begin);
    for (const Expansion& e : expansions_) {
      e.walk.Expand(in[e.input], begin, n, e.item, e.fill, base[e.slot]);
    }
    auto at = [&](int slot) { return base[slot] + begin * slots_[slot].step; };
    for (const Instruction& i : steps_) {
      i.fn(at(i.out), at(i.args[0]), at(i.args[1]), at(i.args[2]), n);
    }
  }
}

bool TileProgram::MayOverwrite(int o, int i) const {
  auto is = [&](int slot, Place place, int index) {
    return slots_[slot].place == place && slots_[slot].index == index;
  };
  int written = -1;
  int read = -1;
  for (int s = 0; s < static_cast<int>(steps_.size()); ++s) {
    if (written < 0 && is(steps_[s].out, Place::kOutput, o)) written = s;
    for (int arg : steps_[s].args) {
      if (is(arg, Place::kInput, i)) read = s;
    }
  }
  // An input that is filled or expanded from is read again in later tiles.
  for (const Expansion& e : expansions_) {
    if (e.input == i) return false;
  }
  return read <= written;
}

}  // namespace ms::cpu
