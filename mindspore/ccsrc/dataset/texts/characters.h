// What the engine knows of characters. The language above, which has Unicode's tables, is asked for
// 256 neighbours at a time; its answers are kept.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace ms::dataset {

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

using CharacterReader = std::function<std::unique_ptr<const CharacterPage>(uint32_t first)>;
void SetCharacterReader(CharacterReader reader);

// Throws ValueError for what is no character.
const CharacterPage& PageOf(char32_t character);
inline uint8_t KindsOf(char32_t c) { return PageOf(c).kinds[c & 255]; }
inline uint16_t ScriptOf(char32_t c) { return PageOf(c).scripts[c & 255]; }

}  // namespace ms::dataset
