// What the engine knows of characters. The language above, which has Unicode's tables, is asked for
// 256 neighbours at a time; its answers are kept.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ms::dataset {

// Throws ValueError for what is no character; else says which page it is on.
size_t PageNumber(char32_t character);
constexpr size_t kPages = 0x110000 / 256;

// What is known of characters, 256 at a time, read when it is asked for first.
template <class Page>
class Pages {
 public:
  using Reader = std::function<std::unique_ptr<const Page>(uint32_t first)>;
  explicit Pages(Reader reader) : reader_(std::move(reader)), pages_(kPages) {}
  ~Pages() {
    for (auto& page : pages_) delete page.load();
  }
  Pages(const Pages&) = delete;

  const Page& Of(char32_t character) {
    std::atomic<const Page*>& page = pages_[PageNumber(character)];
    const Page* known = page.load(std::memory_order_acquire);
    if (known) return *known;
    auto read = reader_(static_cast<uint32_t>(character) & ~uint32_t{255});
    // Another worker may have been first.
    return page.compare_exchange_strong(known, read.get()) ? *read.release() : *known;
  }

 private:
  Reader reader_;
  std::vector<std::atomic<const Page*>> pages_;
};

enum CharacterKind : uint8_t {
  kSpace = 1,
  kControl = 2,
  kChinese = 4,     // a word of its own
  kSign = 8,        // punctuation, or a sign of ASCII
  kEntangled = 16,  // changes places with its neighbours in normal forms
};

struct CharacterPage {
  std::array<uint8_t, 256> kinds;
  std::array<uint16_t, 256> scripts;      // any numbers that tell scripts apart
  std::array<std::u32string, 256> plain;  // without case, compatibility forms and marks
};

using CharacterReader = Pages<CharacterPage>::Reader;
// Once, before anybody asks.
void SetCharacterReader(CharacterReader reader);

// Throws ValueError for what is no character.
const CharacterPage& PageOf(char32_t character);
inline uint8_t KindsOf(char32_t c) { return PageOf(c).kinds[c & 255]; }
inline uint16_t ScriptOf(char32_t c) { return PageOf(c).scripts[c & 255]; }

// Which characters are in a set.
using SetPage = std::array<bool, 256>;
using CharacterSet = Pages<SetPage>;

// What a change of texts makes of characters, where it makes of a text what it makes of each.
struct ChangePage {
  enum Kind : uint8_t { kStays, kBecomes, kDepends };  // on the neighbours
  std::array<Kind, 256> kinds;
  std::array<std::u32string, 256> texts;  // of those that become something else
};
using CharacterChanges = Pages<ChangePage>;

}  // namespace ms::dataset
