// Frames, in which the values of one activation of a plan lie, and the memory that they take.
#pragma once

#include <vector>

#include "runtime/plan.h"

namespace ms {

struct Frame {
  const Plan* plan = nullptr;
  const Instruction* pc = nullptr;
  void** pointers = nullptr;
  Cell* cells = nullptr;
  char* arena = nullptr;
  BufferRef large_arena;  // taken for each run from the shared ones
  BufferRef spill;        // likewise, of the memory that takes what does not fit
};

// What a plan needs beside its frame. On an error what was taken stays with the frame.
void TakeArenas(Frame& frame);
void GiveArenas(Frame& frame);

// Of a plan of another program: nobody asks for a second one.
Frame* NewLoneFrame(const Plan& plan);
void DeleteLoneFrame(Frame* frame);

// Frames of one plan. They lie side by side in blocks: a deep recursion makes many, and gives them
// back at its end.
class FramePool {
 public:
  FramePool() = default;
  ~FramePool() { Clear(); }
  FramePool(const FramePool&) = delete;

  Frame* Take(const Plan& plan);
  // Empties the cells of a frame that is not used any more.
  void Give(Frame* frame);
  // Frees all frames, none of which is in use.
  void Clear();
  // Whether there are more than are worth keeping between runs.
  bool deep() const;

 private:
  char* TakeBlock(size_t bytes);

  std::vector<Frame*> free_;
  std::vector<char*> blocks_;
  size_t frames_ = 0;  // in all blocks
  char* at_ = nullptr;
  char* end_ = nullptr;
};

}  // namespace ms
