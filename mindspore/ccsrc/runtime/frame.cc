#include "runtime/frame.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "runtime/arena.h"

namespace ms {
namespace {

constexpr size_t kFramesKept = 64;   // per plan and machine, between runs
constexpr size_t kBlock = 64 << 10;  // of frames, where more are needed
constexpr std::align_val_t kAlignment{64};
constexpr size_t kFrameBytes = (sizeof(Frame) + 63) / 64 * 64;

// In one piece of memory: the small arena, the frame, its pointers, its cells.
size_t BytesOf(const Plan& plan) {
  size_t tables = plan.pointer_count * sizeof(void*) + plan.cell_count * sizeof(Cell);
  return (plan.arena_in_frame + kFrameBytes + tables + 63) / 64 * 64;
}

void SetArena(Frame& frame, char* arena) {
  frame.arena = arena;
  for (auto [place, offset] : frame.plan->arena_pointers) frame.pointers[place] = arena + offset;
}

Frame* Make(const Plan& plan, char* block) {
  Frame* frame = new (block + plan.arena_in_frame) Frame;
  frame->plan = &plan;
  char* at = block + plan.arena_in_frame + kFrameBytes;
  frame->pointers = reinterpret_cast<void**>(at);
  std::memset(at, 0, plan.pointer_count * sizeof(void*));
  frame->cells = reinterpret_cast<Cell*>(at + plan.pointer_count * sizeof(void*));
  for (uint32_t i = 0; i < plan.cell_count; ++i) new (&frame->cells[i]) Cell;
  for (auto [place, constant] : plan.constant_pointers)
    frame->pointers[place] = plan.constants[constant].raw();
  if (plan.arena_in_frame) SetArena(*frame, block);
  return frame;
}

void Destroy(Frame* frame) {
  for (uint32_t i = 0; i < frame->plan->cell_count; ++i) frame->cells[i].~Cell();
  frame->~Frame();
}

}  // namespace

void TakeArenas(Frame& frame) {
  const Plan& plan = *frame.plan;
  Memory& memory = plan.program->backend().memory();
  if (plan.arena_apart) {
    frame.large_arena = TakeArena(plan.arena_bytes, frame.arena, memory);
    if (frame.large_arena->data() != frame.arena)
      SetArena(frame, static_cast<char*>(frame.large_arena->data()));
  }
  if (plan.spill_bytes > 0) {
    frame.spill = TakeArena(plan.spill_bytes, nullptr, memory.spill());
    char* begin = static_cast<char*>(frame.spill->data());
    for (auto [place, offset] : plan.spill_pointers) frame.pointers[place] = begin + offset;
  }
}

void GiveArenas(Frame& frame) {
  if (frame.large_arena) GiveArena(std::move(frame.large_arena));
  if (frame.spill) GiveArena(std::move(frame.spill));
}

Frame* NewLoneFrame(const Plan& plan) {
  return Make(plan, static_cast<char*>(::operator new(BytesOf(plan), kAlignment)));
}

void DeleteLoneFrame(Frame* frame) {
  char* block = reinterpret_cast<char*>(frame) - frame->plan->arena_in_frame;
  Destroy(frame);
  ::operator delete(block, kAlignment);
}

bool FramePool::deep() const { return frames_ > kFramesKept; }

Frame* FramePool::Take(const Plan& plan) {
  if (free_.empty()) return Make(plan, TakeBlock(BytesOf(plan)));
  Frame* frame = free_.back();
  free_.pop_back();
  return frame;
}

void FramePool::Give(Frame* frame) {
  for (uint32_t i = 0; i < frame->plan->cell_count; ++i) {
    if (frame->cells[i].buffer || frame->cells[i].object) frame->cells[i] = {};
  }
  free_.push_back(frame);
}

char* FramePool::TakeBlock(size_t bytes) {
  if (at_ == end_) {
    size_t count = frames_ == 0 ? 1 : std::clamp<size_t>(kBlock / bytes, 1, frames_);
    at_ = static_cast<char*>(::operator new(count * bytes, kAlignment));
    end_ = at_ + count * bytes;
    blocks_.push_back(at_);
    frames_ += count;
  }
  return std::exchange(at_, at_ + bytes);
}

void FramePool::Clear() {
  for (Frame* frame : free_) Destroy(frame);
  for (char* block : blocks_) ::operator delete(block, kAlignment);
  free_.clear();
  blocks_.clear();
  frames_ = 0;
  at_ = end_ = nullptr;
}

}  // namespace ms
