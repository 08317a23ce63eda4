// Zstandard by the system's library: what is packed comes back, damage is told, and a missing
// library is an error that names it.
#include "dataset/mindrecord/zstd.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace ms {
namespace {

bool Missing() {
  try {
    Zstd::Get();
    return false;
  } catch (const Error&) {
    return true;
  }
}

TEST(Zstd, GivesBackWhatItTook) {
  if (Missing()) GTEST_SKIP();
  const Zstd& zstd = Zstd::Get();
  for (size_t size : {0, 1, 1000, 1 << 20}) {
    std::string content(size, 'x'), back = "before";
    std::string frame = zstd.Pack(content);
    EXPECT_LT(frame.size(), 200U);
    EXPECT_TRUE(zstd.Unpack(frame, size, &back));
    EXPECT_EQ(back, "before" + content);
    if (size > 0) {
      EXPECT_FALSE(zstd.Unpack(frame, size - 1, &back));
    }
    EXPECT_FALSE(zstd.Unpack(frame.substr(0, frame.size() - 1), size, &back));
    EXPECT_FALSE(zstd.Unpack(frame + "x", size, &back));
  }
  std::string back;
  EXPECT_FALSE(zstd.Unpack("", 100, &back));
  EXPECT_FALSE(zstd.Unpack("no frame at all", 100, &back));
}

TEST(Zstd, SaysWhatIsMissing) {
  try {
    Zstd("libnothing.so.7");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kRuntime);
    EXPECT_NE(error.message().find("'libnothing.so.7'"), std::string::npos);
  }
  EXPECT_THROW(Zstd("libc.so.6"), Error);
}

}  // namespace
}  // namespace ms
