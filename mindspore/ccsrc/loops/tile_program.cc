#include "loops/tile_program.h"

#include <algorithm>
#include <cstring>

#include "loops/tile_compiler.h"

namespace ms::loops {
namespace {

template <class T>
void FillAs(void* out, const void* value, int64_t n) {
  T v;
  std::memcpy(&v, value, sizeof(T));
  std::fill_n(static_cast<T*>(out), n, v);
}

struct Pair {
  uint64_t words[2];
};

void FillRegister(void* out, const void* value, size_t item, int64_t n) {
  switch (item) {
    case 1:
      return FillAs<uint8_t>(out, value, n);
    case 2:
      return FillAs<uint16_t>(out, value, n);
    case 4:
      return FillAs<uint32_t>(out, value, n);
    case 8:
      return FillAs<uint64_t>(out, value, n);
    default:
      return FillAs<Pair>(out, value, n);
  }
}

}  // namespace

std::string TileProgram::Compile(const LoopBody& body, const Types& inputs, const Shape& shape,
                                 const VectorTable& table) {
  return TileCompiler(body, inputs, shape, table, this).Compile();
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
    FillRegister(base[fill.slot], fill.input < 0 ? fill.value : in[fill.input], fill.item, n);
  }
  for (const Instruction& i : once_) {
    i.fn(base[i.out], base[i.args[0]], base[i.args[1]], base[i.args[2]], n);
  }
  for (; begin < end; begin += n) {
    n = std::min(tile_, end - begin);
    for (const Expansion& e : expansions_) {
      e.walk.Expand(in[e.input], begin, n, e.item, base[e.slot]);
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

}  // namespace ms::loops
