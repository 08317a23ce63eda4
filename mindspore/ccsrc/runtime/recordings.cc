#include "runtime/recordings.h"

#include <algorithm>

#include "kernel/launch.h"
#include "runtime/branches.h"

namespace ms {
namespace {

constexpr uint32_t kLeast = 4;       // launches of a range that is worth recording
constexpr size_t kMostVariants = 4;  // recordings of a range, for other addresses
constexpr int kMostAttempts = 12;    // to record a range, before it is left as it is

KernelArgs ArgsOf(const Frame& frame, void* const* pointers, uint32_t index, Stream* stream,
                  RandomState* random) {
  const PlannedLaunch& launch = frame.plan->launches[index];
  return {pointers + launch.in,
          pointers + launch.out,
          frame.arena + launch.workspace,
          random,
          stream,
          &frame.plan->infos[index].place};
}

// f(place of its address, bytes, whether it is written) for each operand of a launch.
template <class F>
void VisitOperands(const Plan& plan, uint32_t index, F&& f) {
  const PlannedLaunch& launch = plan.launches[index];
  const LaunchInfo& info = plan.infos[index];
  const Type* types = plan.types.data() + info.types;
  uint32_t inputs = launch.out - launch.in;
  for (uint32_t k = 0; k < inputs; ++k) f(launch.in + k, types[k].bytes(), false);
  for (uint32_t k = 0; k < info.outputs; ++k) f(launch.out + k, types[inputs + k].bytes(), true);
}

// What processes do together as well: NCCL wants it recorded by all of them or by none, and each
// decides for itself what it records.
bool HasOwnOrder(const LaunchInfo& info) {
  Effect effect = info.place.op->effect;
  return effect == Effect::kIo || effect == Effect::kComm;
}

}  // namespace

std::unique_ptr<Recordings> Recordings::For(const Backend& backend) {
  auto* recorder = dynamic_cast<Recorder*>(&backend.stream());
  if (!recorder) return nullptr;
  return std::unique_ptr<Recordings>(new Recordings(*recorder, backend.memory(), backend.stream()));
}

void Recordings::Run(const Frame& frame, const Instruction& code, RandomState* random,
                     uint32_t* at) {
  const Plan& plan = *frame.plan;
  if (recorder_.generation() == 0 || plan.spill_bytes > 0)
    return RunAsUsual(frame, code.launches, random, at);
  Parts& parts = PartsOf(plan, code);
  for (size_t i = 0; i < parts.size(); ++i) {
    *at = parts[i].launches.begin;
    if (!parts[i].alone) {
      if (parts[i].generation == recorder_.generation()) {
        std::vector<uint32_t> refused;
        if (Replay(frame, parts[i], random)) continue;
        if (parts[i].attempts < kMostAttempts) refused = Record(frame, parts[i]);
        if (!refused.empty()) {
          Split(plan, code, parts, i, refused[0]);
        } else if (Replay(frame, parts[i], random)) {
          continue;
        }
      }
      Look(frame, parts[i]);
    }
    RunAsUsual(frame, parts[i].launches, random, at);
  }
}

void Recordings::RunAsUsual(const Frame& frame, Range launches, RandomState* random,
                            uint32_t* at) const {
  for (*at = launches.begin; *at != launches.end; ++*at)
    Launch(*frame.plan->launches[*at].kernel, ArgsOf(frame, frame.pointers, *at, &stream_, random));
}

// ---- what is recorded
Recordings::Parts& Recordings::PartsOf(const Plan& plan, const Instruction& code) {
  auto [it, fresh] = parts_.try_emplace(&code);
  if (!fresh) return it->second;
  Parts& parts = it->second;
  uint32_t begin = code.launches.begin;
  auto add = [&](uint32_t end) {
    if (end > begin) parts.push_back(MakePart(plan, code, {begin, end}));
    begin = end;
  };
  for (uint32_t i = code.launches.begin; i < code.launches.end; ++i) {
    if (!HasOwnOrder(plan.infos[i])) continue;
    add(i);
    add(i + 1);
  }
  add(code.launches.end);
  return parts;
}

Recordings::Part Recordings::MakePart(const Plan& plan, const Instruction& code,
                                      Range launches) const {
  Part part;
  part.launches = launches;
  part.alone = launches.size() < kLeast;
  if (part.alone) return part;
  constexpr uint32_t kNone = ~0u;
  std::vector<uint32_t> cell_at(plan.pointer_count, kNone), value_of(plan.cell_count, kNone);
  for (uint32_t cell = 0; cell < plan.cell_count; ++cell) {
    for (uint32_t i = plan.patch_begin[cell]; i < plan.patch_begin[cell + 1]; ++i)
      cell_at[plan.patches[i]] = cell;
  }
  auto add = [&](uint32_t place, size_t bytes, bool written) {
    uint32_t cell = cell_at[place];
    if (cell == kNone) return;
    if (value_of[cell] == kNone) {
      value_of[cell] = static_cast<uint32_t>(part.values.size());
      part.values.push_back({cell, place, 0});
    }
    Value& value = part.values[value_of[cell]];
    value.bytes = std::max(value.bytes, bytes);
    value.read |= !written && !value.written;
    value.written |= written;
    // What the caller gave is his: written where it lies.
    value.pinned = value.written && (value.read || cell < plan.input_types.size());
  };
  for (uint32_t i = launches.begin; i < launches.end; ++i) VisitOperands(plan, i, add);
  for (uint32_t i = code.allocations.begin; i < code.allocations.end; ++i) {
    const Allocation& allocation = plan.allocations[i];
    uint32_t own = value_of[allocation.cell];
    if (own == kNone) continue;
    Value& value = part.values[own];
    value.bytes = std::max(value.bytes, allocation.bytes);
    if (allocation.update < 0) continue;
    value.pinned = true;  // and the input that it overwrites
    uint32_t old = value_of[static_cast<uint32_t>(allocation.update)];
    if (old != kNone) part.values[old].pinned = true;
  }
  return part;
}

// Where values lie now; what does not lie where it lay before is one that moves.
void Recordings::Look(const Frame& frame, Part& part) const {
  for (Value& value : part.values) {
    const void* now = frame.pointers[value.place];
    if (part.runs > 0 && now != value.last && !value.pinned) value.moves = true;
    value.last = now;
  }
  ++part.runs;
  part.generation = recorder_.generation();
}

// The launch runs alone; what is before and behind it may still be recorded.
void Recordings::Split(const Plan& plan, const Instruction& code, Parts& parts, size_t i,
                       uint32_t launch) {
  Range all = parts[i].launches;
  Parts pieces;
  for (Range range :
       {Range{all.begin, launch}, Range{launch, launch + 1}, Range{launch + 1, all.end}}) {
    if (range.size() > 0) pieces.push_back(MakePart(plan, code, range));
  }
  parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i));
  parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(i),
               std::make_move_iterator(pieces.begin()), std::make_move_iterator(pieces.end()));
}

// ---- recording
// With values at these places.
RecordedOrder Recordings::OrderOf(const Frame& frame, Range launches, void* const* pointers) {
  const Plan& plan = *frame.plan;
  RecordedOrder order;
  Branches branches;
  for (uint32_t i = launches.begin; i < launches.end; ++i) {
    std::vector<Bytes> reads, writes;
    VisitOperands(plan, i, [&](uint32_t place, size_t bytes, bool written) {
      (written ? writes : reads).push_back({pointers[place], bytes});
    });
    const PlannedLaunch& launch = plan.launches[i];
    writes.push_back({frame.arena + launch.workspace, launch.kernel->workspace_bytes()});
    order.push_back(branches.Add(reads, writes));
  }
  return order;
}

std::vector<uint32_t> Recordings::Record(const Frame& frame, Part& part) {
  ++part.attempts;
  Look(frame, part);
  auto copies = static_cast<uint32_t>(std::count_if(part.values.begin(), part.values.end(),
                                                    [](const Value& v) { return v.moves; }));
  if (2 * copies > part.launches.size()) return {};  // no gain
  const Plan& plan = *frame.plan;
  Made made;
  made.generation = recorder_.generation();
  made.arena = frame.arena;
  std::vector<void*> pointers(frame.pointers, frame.pointers + plan.pointer_count);
  for (const Value& value : part.values) {
    made.addresses.push_back(value.moves ? nullptr : frame.pointers[value.place]);
    made.buffers.emplace_back();
    if (!value.moves) continue;
    made.buffers.back() = Buffer::Allocate(value.bytes, memory_);
    for (uint32_t i = plan.patch_begin[value.cell]; i < plan.patch_begin[value.cell + 1]; ++i)
      pointers[plan.patches[i]] = made.buffers.back()->data();
  }
  uint32_t done = 0;   // steps
  bool began = false;  // not where another thread is recording
  made.recording = recorder_.Record(
      OrderOf(frame, part.launches, pointers.data()),
      [&](size_t step, Stream& stream, RandomState& random) {
        began = true;
        done = static_cast<uint32_t>(step);
        uint32_t at = part.launches.begin + done;
        plan.launches[at].kernel->Run(ArgsOf(frame, pointers.data(), at, &stream, &random));
        ++done;
      });
  if (!made.recording) {
    if (began && done != part.launches.size()) return {part.launches.begin + done};
    if (began) part.attempts = kMostAttempts;  // who knows why
    return {};
  }
  if (part.made.size() == kMostVariants) part.made.erase(part.made.begin());
  part.made.push_back(std::move(made));
  return {};
}

bool Recordings::Fits(const Made& made, const Frame& frame, const Part& part, uint64_t generation) {
  if (made.generation != generation || made.arena != frame.arena) return false;
  for (size_t i = 0; i < part.values.size(); ++i) {
    if (made.addresses[i] && made.addresses[i] != frame.pointers[part.values[i].place])
      return false;
  }
  return true;
}

bool Recordings::Replay(const Frame& frame, Part& part, RandomState* random) {
  uint64_t generation = recorder_.generation();
  auto made = std::find_if(part.made.rbegin(), part.made.rend(),
                           [&](const Made& m) { return Fits(m, frame, part, generation); });
  if (made == part.made.rend()) return false;
  auto copy = [&](bool written) {
    for (size_t i = 0; i < part.values.size(); ++i) {
      const Value& value = part.values[i];
      if (!made->buffers[i] || value.written != written) continue;
      void *own = made->buffers[i]->data(), *given = frame.pointers[value.place];
      memory_.Copy(written ? given : own, written ? own : given, value.bytes);
    }
  };
  copy(false);
  made->recording->Replay(random);
  copy(true);
  return true;
}

}  // namespace ms
