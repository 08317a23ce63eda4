// Round trips and damage below Python; under the sanitizers this is the fuzz test of the reader.
#include "io/checkpoint.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "base/error.h"
#include "io/atomic_file.h"
#include "io/crc32c.h"

namespace ms {
namespace {

class CheckpointTest : public testing::Test {
 protected:
  void SetUp() override {
    // Memory where there is some: a disk may flush a file whenever it is overwritten.
    std::filesystem::path base = "/dev/shm";
    if (!std::filesystem::exists(base)) base = std::filesystem::temp_directory_path();
    folder_ = base / ("ms_checkpoint_test_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    path_ = (folder_ / "a.ckpt").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  template <class T>
  static CheckpointEntry Entry(std::string name, std::string dtype, std::vector<int64_t> dims,
                               const std::vector<T>& values) {
    return {std::move(name), std::move(dtype), std::move(dims), std::as_bytes(std::span(values))};
  }

  std::vector<CheckpointEntry> Entries() const {
    return {Entry("w", "Float32", {2, 3}, floats_), Entry("n", "Int64", {4}, longs_),
            Entry("empty", "Int8", {0}, std::vector<int8_t>{})};
  }

  std::string Contents() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void Overwrite(const std::string& content) const {
    std::ofstream(path_, std::ios::binary) << content;
  }

  static std::string Text(const Checkpoint& checkpoint) {
    std::string text;
    for (const CheckpointValue& value : checkpoint.values) {
      const Tensor& t = value.tensor;
      text += value.name + ":" + t.ToString() + ":";
      text.append(t.data<char>(), t.bytes());
    }
    return text;
  }

  std::filesystem::path folder_;
  std::string path_;
  std::vector<float> floats_{1, 2, 3, 4, 5, 6};
  std::vector<int64_t> longs_{-1, 0, 1, 1LL << 60};
};

TEST_F(CheckpointTest, RoundTrip) {
  for (uint64_t slice : {uint64_t{1} << 29, uint64_t{7}}) {
    for (bool native : {false, true}) {
      SaveCheckpoint(path_, Entries(), {native, slice, {}});
      Checkpoint loaded = LoadCheckpoint(path_, {});
      EXPECT_TRUE(loaded.checked);
      ASSERT_EQ(loaded.values.size(), 3U);
      EXPECT_EQ(loaded.values[0].tensor.shape(), (Shape{2, 3}));
      EXPECT_EQ(std::memcmp(loaded.values[1].tensor.raw(), longs_.data(), 32), 0);
    }
  }
}

TEST_F(CheckpointTest, OnlyWhatIsChosenIsKept) {
  SaveCheckpoint(path_, Entries(), {false, 7, {}});
  Checkpoint loaded =
      LoadCheckpoint(path_, {{}, [](const std::string& name) { return name == "n"; }});
  EXPECT_TRUE(loaded.checked);
  ASSERT_EQ(loaded.values.size(), 1U);
  EXPECT_EQ(std::memcmp(loaded.values[0].tensor.raw(), longs_.data(), 32), 0);
}

TEST_F(CheckpointTest, PatchesReplaceWhatWasWritten) {
  auto bytes = [](std::string_view text) { return std::as_bytes(std::span(text)); };
  const std::string large(5 << 20, 'x');
  {
    AtomicFile file(path_);
    file.Write(bytes("0000"));
    EXPECT_EQ(file.WriteSummed(bytes(large), 5), Crc32c(5, bytes(large)));
    file.Patch(1, bytes("ab"));
    file.Write(bytes("end"));
    file.Patch(4 + large.size(), bytes("END"));
    file.Commit();
  }
  EXPECT_EQ(Contents(), "0ab0" + large + "END");
}

TEST_F(CheckpointTest, DamageIsNeverSilent) {
  SaveCheckpoint(path_, Entries(), {});
  const std::string content = Contents();
  const std::string wanted = Text(LoadCheckpoint(path_, {}));
  std::mt19937 random(1);
  for (int round = 0; round < 1000; ++round) {
    std::string data = content;
    size_t at = random() % data.size();
    switch (random() % 5) {
      case 0:
        data.resize(at);
        break;
      case 1:
        data[at] = static_cast<char>(data[at] ^ (1 << random() % 8));
        break;
      case 2:
        data.insert(at, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01");
        break;
      case 3:
        data.erase(at, random() % 20 + 1);
        break;
      default:
        data.replace(at, 8, 8, static_cast<char>(random()));
    }
    if (data == content) continue;
    Overwrite(data);
    EXPECT_THROW(LoadCheckpoint(path_, {}), Error);
  }
  Overwrite(content);
  EXPECT_EQ(Text(LoadCheckpoint(path_, {})), wanted);
}

// Fields without any checksum in front of the reader: it may accept them, but must not read
// outside.
TEST_F(CheckpointTest, RandomFieldsAreSafe) {
  std::mt19937 random(2);
  const std::string pieces[] = {"\x0a",
                                "\x12",
                                "\x08",
                                "\x1a",
                                "\x07"
                                "Float32",
                                "\x01"
                                "w",
                                "\x04"
                                "abcd"};
  for (int round = 0; round < 1000; ++round) {
    std::string data;
    for (int i = 0; i < 12; ++i) {
      data += random() % 3 == 0 ? std::string(1, static_cast<char>(random() % 64))
                                : pieces[random() % std::size(pieces)];
    }
    Overwrite(data);
    try {
      LoadCheckpoint(path_, {});
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kValue);
      EXPECT_NE(error.message().find(path_), std::string::npos);
    }
  }
}

TEST_F(CheckpointTest, AnInterruptedWriteLeavesTheOldFile) {
  SaveCheckpoint(path_, Entries(), {});
  const std::string before = Contents();
  CheckpointSaveOptions options;
  options.poll = [] { throw Error(ErrorKind::kRuntime, "interrupted"); };
  std::vector<float> big(1 << 20);
  std::vector<CheckpointEntry> entries{Entry("w", "Float32", {1 << 20}, big)};
  EXPECT_THROW(SaveCheckpoint(path_, entries, options), Error);
  EXPECT_EQ(Contents(), before);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(CheckpointTest, AbandonedFilesAreRemoved) {
  {
    AtomicFile file(path_);
    file.Write(std::as_bytes(std::span("abc", 3)));
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
  std::ofstream(folder_ / ".mstmp-orphan") << "left by a dead writer";
  std::ofstream(folder_ / ".other") << "not ours";
  SaveCheckpoint(path_, Entries(), {});
  EXPECT_FALSE(std::filesystem::exists(folder_ / ".mstmp-orphan"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / ".other"));
}

}  // namespace
}  // namespace ms
