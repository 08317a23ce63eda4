// Devices that are wrong: refused when they come, or an error where they fail.
#include <gtest/gtest.h>

#include "ir/testing.h"
#include "kernel/launch.h"
#include "tensor/buffer.h"

namespace ms {
namespace {

class WrongMemory : public Memory {
 public:
  explicit WrongMemory(std::string device) : device_(std::move(device)) {}
  std::string_view device() const override { return device_; }
  void* Allocate(size_t) override { return nullptr; }
  void Free(void*, size_t) noexcept override {}
  void Store(void*, const void*, size_t) override {}
  void Copy(void*, const void*, size_t) override {}
  void Zero(void*, size_t) override {}

 private:
  void FetchNow(void*, const void*, size_t) override {}
  std::string device_;
};

class WrongBackend : public Backend {
 public:
  WrongBackend(std::string name, Memory& memory) : Backend(memory), name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  const KernelTable& kernels() const override { return table_; }

 private:
  std::string name_;
  KernelTable table_;
};

template <class F>
std::string ErrorOf(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

std::string Refusal(std::string name, std::string of_memory) {
  static auto* kept = new std::vector<std::unique_ptr<Memory>>;
  Memory& memory = *kept->emplace_back(std::make_unique<WrongMemory>(std::move(of_memory)));
  return ErrorOf([&] { RegisterBackend(std::make_unique<WrongBackend>(std::move(name), memory)); });
}

TEST(Devices, HaveOneName) {
  EXPECT_NE(Refusal("Abacus", "Slate").find("must have one name, but name() gives 'Abacus'"),
            std::string::npos);
  EXPECT_NE(Refusal("", "").find("must have a name"), std::string::npos);
}

TEST(Devices, AllocateAnAddress) {
  WrongMemory memory("Abacus");
  EXPECT_EQ(ErrorOf([&] { Buffer::Allocate(64, memory); }),
            "64 bytes must fit into the memory of Abacus, but it gave no address");
}

TEST(Devices, WithoutAKernelNameOpAndDevice) {
  WrongMemory memory("Abacus");
  WrongBackend backend("Abacus", memory);
  Types types{Type(DType::kFloat32, Shape{2})};
  Attrs attrs;
  EXPECT_NE(ErrorOf([&] {
              backend.kernels().Find({Ops().Get("Exp"), types, types, attrs}, "Abacus");
            }).find("Abacus has no kernel for 'Exp'"),
            std::string::npos);
}

TEST(Devices, MayThrowAnything) {
  auto choice = FunctionKernel([](const KernelArgs&) { throw 3; }, 0);
  LaunchPlace place{&Ops().Get("Exp"), 0};
  KernelArgs args{nullptr, nullptr, nullptr, nullptr, nullptr, &place};
  EXPECT_EQ(ErrorOf([&] { Launch(*choice.kernel, args); }),
            "For 'Exp', the kernel failed, and what it threw is no std::exception");
}

}  // namespace
}  // namespace ms
