// Pieces of files, texts, sounds and records, from bytes that are right and bytes that are not.
#include <gtest/gtest.h>

#include "dataset/example.h"
#include "dataset/pieces.h"
#include "dataset/text.h"
#include "dataset/wave.h"

namespace ms::dataset {
namespace {

using Texts = std::vector<std::string>;

Texts All(const PiecesRef& pieces) {
  Texts found;
  for (size_t i = 0; i < pieces->size(); ++i) found.push_back(pieces->Bytes(i));
  return found;
}

TEST(Lines, EndInEveryWay) {
  EXPECT_EQ(All(FindLines({{"f", "a\r\n\nb\r\n\r\nlast"}}, false)), (Texts{"a", "b", "last"}));
  EXPECT_EQ(All(FindLines({{"f",
                            "\xEF\xBB\xBF"
                            "a\n\nb\n"}},
                          true)),
            (Texts{"a", "", "b"}));
  EXPECT_EQ(All(FindLines({{"f", ""}, {"g", "x"}}, false)), (Texts{"x"}));
  PiecesRef pieces = FindLines({{"f", "1\n2\n"}, {"g", ""}, {"h", "3\n"}}, false);
  EXPECT_EQ(pieces->Counts(), (std::vector<int64_t>{2, 0, 1}));
  EXPECT_EQ(pieces->Where(1), "The file 'f', row 2,");
  EXPECT_EQ(pieces->Where(2), "The file 'h', row 1,");
}

// What bytes.decode("utf-8", "replace") of Python gives.
TEST(Texts, AreMendedAsPythonDoes) {
  const std::string bad = "\xEF\xBF\xBD";
  const std::pair<std::string, std::string> cases[] = {
      {"plain", "plain"},
      {"\xC3\xA4", "\xC3\xA4"},
      {"\xFF", bad},
      {"a\xE4z", "a" + bad + "z"},
      {"\xE2\x82", bad},
      {"\xE2\x82x", bad + "x"},
      {"\xF0\x9F\x98", bad},
      {"\xF0\x80\x80\x80", bad + bad + bad + bad},
      {"\xED\xA0\x80", bad + bad + bad},
      {"\xC0\xAF", bad + bad},
      {"\xF4\x90\x80\x80", bad + bad + bad + bad},
      {"\xE0\x80\x80z", bad + bad + bad + "z"},
      {"\x80\xC3\xA4\xC3", bad + "\xC3\xA4" + bad},
  };
  for (const auto& [bytes, mended] : cases) {
    EXPECT_EQ(MendedText(bytes), mended) << bytes;
    EXPECT_TRUE(IsText(mended));
  }
}

TEST(Csv, QuotesHoldLineEndsAndDelimiters) {
  PiecesRef pieces = FindRecords({{"f", "h,i\n1,\"a\nb\"\r\n2,\"c,\"\"d\"\"\"\n"}}, true);
  ASSERT_EQ(pieces->size(), 2U);
  EXPECT_EQ(SplitRecord(pieces->Bytes(0), ',', "w"), (Texts{"1", "a\nb"}));
  EXPECT_EQ(SplitRecord(pieces->Bytes(1), ',', "w"), (Texts{"2", "c,\"d\""}));
  EXPECT_EQ(SplitRecord(",", ',', "w"), (Texts{"", ""}));
  EXPECT_THROW(FindRecords({{"f", "1,\"a\n"}}, false), Error);
}

TEST(Text, IsCheckedAsUtf8) {
  for (const char* good : {"", "a", "\xC3\xA4", "\xE4\xB8\xAD", "\xF0\x9F\x98\x80"}) {
    EXPECT_TRUE(IsText(good)) << good;
  }
  // A lone byte, one too few, an overlong form, a surrogate, beyond the last code point.
  for (const char* bad :
       {"\x80", "\xC3", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF"}) {
    EXPECT_FALSE(IsText(bad)) << bad;
    EXPECT_THROW(TextOf(bad, "It"), Error);
  }
  std::vector<std::string_view> texts = {
      "\xC3\xA4"
      "b",
      "c"};
  Value value = TextsOf(texts, MakeDims({2}));
  EXPECT_EQ(value.element.name(), "<U2");
  EXPECT_EQ(value.as<uint32_t>()[0], 0xE4U);
  EXPECT_EQ(value.as<uint32_t>()[3], 0U);
  texts.emplace_back("\xFF");
  EXPECT_EQ(TextsOf(texts, MakeDims({3})).element.name(), "|S3");
}

std::string Sound(uint16_t kind, uint16_t channels, uint16_t bits, const std::string& data) {
  auto put = [](auto number) {
    return std::string(reinterpret_cast<const char*>(&number), sizeof(number));
  };
  std::string form = put(kind) + put(channels) + put(uint32_t{8000}) + put(uint32_t{0}) +
                     put(uint16_t{0}) + put(bits);
  std::string chunks = "WAVEfmt " + put(uint32_t{16}) + form + "LIST" + put(uint32_t{3}) + "abc" +
                       std::string(1, '\0') + "data" + put(static_cast<uint32_t>(data.size())) +
                       data;
  return "RIFF" + put(static_cast<uint32_t>(chunks.size())) + chunks;
}

TEST(Sounds, OfAllWidths) {
  Wave wave = DecodeWave(Sound(1, 2, 16, std::string("\xff\x7f\x00\x00\x01\x80\x00\x00", 8)), "p");
  EXPECT_EQ(wave.rate, 8000U);
  EXPECT_EQ(*wave.samples.dims, Dims({2, 2}));
  const float* samples = wave.samples.as<float>();
  EXPECT_EQ(samples[0], 1.0f);
  EXPECT_EQ(samples[1], -1.0f);
  EXPECT_EQ(samples[2], 0.0f);
  EXPECT_EQ(DecodeWave(Sound(1, 1, 8, "\xff"), "p").samples.as<float>()[0], 1.0f);
  EXPECT_EQ(DecodeWave(Sound(1, 1, 24, "\xff\xff\x7f"), "p").samples.as<float>()[0], 1.0f);
  EXPECT_EQ(DecodeWave(Sound(1, 1, 24, std::string("\x01\x00\x80", 3)), "p").samples.as<float>()[0],
            -1.0f);
  std::string whole = Sound(1, 1, 16, "\x01\x02");
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(DecodeWave(whole.substr(0, size), "p"), Error) << size;
  }
  EXPECT_THROW(DecodeWave(Sound(2, 1, 16, "ab"), "p"), Error);
  EXPECT_THROW(DecodeWave(Sound(1, 0, 16, "ab"), "p"), Error);
}

TEST(Examples, ADamagedHeadIsFound) {
  std::string head(8, '\0');
  uint32_t sum = MaskedSum(head), none = MaskedSum("");
  std::string record = head + std::string(reinterpret_cast<const char*>(&sum), 4) +
                       std::string(reinterpret_cast<const char*>(&none), 4);
  EXPECT_EQ(FindExamples({{"f", record + record}})->size(), 2U);
  for (size_t i = 0; i < 12; ++i) {
    std::string changed = record;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_THROW(FindExamples({{"f", changed}}), Error);
  }
  for (size_t size = 1; size < record.size(); ++size) {
    EXPECT_THROW(FindExamples({{"f", record.substr(0, size)}}), Error);
  }
}

}  // namespace
}  // namespace ms::dataset
