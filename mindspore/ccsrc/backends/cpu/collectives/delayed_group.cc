#include "backends/cpu/collectives/delayed_group.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <thread>

#include "base/error.h"

namespace ms::cpu {
namespace {

struct Delay {
  double call_us = 0, byte_ns = 0;
};

// The processor is free meanwhile, as it is while a network card works.
class DelayedGroup : public Group {
 public:
  DelayedGroup(std::unique_ptr<Group> group, Delay delay)
      : Group(group.get()), group_(std::move(group)), delay_(delay) {}

  bool takes_time() const override { return true; }
  int64_t join_bytes() const override { return int64_t{1} << 24; }

  void AllReduce(const Exchange& call, const void* in, void* out, int64_t count, DType dtype,
                 Reduction reduction) override {
    Wait(count * static_cast<int64_t>(ItemSize(dtype)));
    group_->AllReduce(call, in, out, count, dtype, reduction);
  }
  void ReduceScatter(const Exchange& call, const void* in, void* out, Counts counts, DType dtype,
                     Reduction reduction) override {
    Wait(Sum(counts) * static_cast<int64_t>(ItemSize(dtype)));
    group_->ReduceScatter(call, in, out, counts, dtype, reduction);
  }
  void AllGather(const Exchange& call, const void* in, void* out, Counts bytes) override {
    Wait(Sum(bytes));
    group_->AllGather(call, in, out, bytes);
  }
  void AllToAll(const Exchange& call, const void* in, Counts sends, void* out,
                Counts receives) override {
    Wait(Sum(sends));
    group_->AllToAll(call, in, sends, out, receives);
  }
  void Broadcast(const Exchange& call, void* data, int64_t bytes, int root) override {
    Wait(bytes);
    group_->Broadcast(call, data, bytes, root);
  }
  void Barrier(const Exchange& call) override {
    Wait(0);
    group_->Barrier(call);
  }
  void Send(const Exchange& call, const void* in, int64_t bytes, DType dtype, int to,
            int tag) override {
    group_->Send(call, in, bytes, dtype, to, tag);
  }
  void Receive(const Exchange& call, void* out, int64_t bytes, DType dtype, int from,
               int tag) override {
    Wait(bytes);
    group_->Receive(call, out, bytes, dtype, from, tag);
  }

 private:
  static int64_t Sum(Counts counts) {
    return std::accumulate(counts.begin(), counts.end(), int64_t{0});
  }
  void Wait(int64_t bytes) const {
    double ns = 1e3 * delay_.call_us + delay_.byte_ns * static_cast<double>(bytes);
    std::this_thread::sleep_for(std::chrono::nanoseconds(static_cast<int64_t>(ns)));
  }

  std::unique_ptr<Group> group_;
  Delay delay_;
};

}  // namespace

std::unique_ptr<Group> Delayed(std::unique_ptr<Group> group) {
  const char* text = std::getenv("MS_COMM_DELAY");
  if (!text || !*text) return group;
  Delay delay;
  int read = 0;
  bool good = std::sscanf(text, "%lf,%lf%n", &delay.call_us, &delay.byte_ns, &read) == 2 &&
              text[read] == '\0' && delay.call_us >= 0 && delay.call_us <= 1e6 &&
              delay.byte_ns >= 0 && delay.byte_ns <= 1e6;
  if (!good) {
    Throw(ErrorKind::kValue,
          "For 'init', MS_COMM_DELAY must be microseconds for a call and nanoseconds for a byte, "
          "as in '200,1', but got '{}'.",
          text);
  }
  return std::make_unique<DelayedGroup>(std::move(group), delay);
}

}  // namespace ms::cpu
