// See characters.h.
#include "dataset/texts/characters.h"

#include <atomic>

#include "base/error.h"

namespace ms::dataset {
namespace {

constexpr size_t kPages = 0x110000 / 256;

CharacterReader& Reader() {
  static auto* reader = new CharacterReader;  // workers may outlive static objects
  return *reader;
}

std::atomic<const CharacterPage*> pages[kPages];

const CharacterPage& Read(size_t number) {
  std::unique_ptr<const CharacterPage> read = Reader()(static_cast<uint32_t>(number * 256));
  const CharacterPage* none = nullptr;
  // Another worker may have been first.
  if (pages[number].compare_exchange_strong(none, read.get())) return *read.release();
  return *none;
}

}  // namespace

void SetCharacterReader(CharacterReader reader) { Reader() = std::move(reader); }

const CharacterPage& PageOf(char32_t character) {
  size_t number = character / 256;
  if (number >= kPages) {
    Throw(ErrorKind::kValue, "the text must hold characters of Unicode, but got {:#x}",
          static_cast<uint32_t>(character));
  }
  const CharacterPage* page = pages[number].load(std::memory_order_acquire);
  return page ? *page : Read(number);
}

}  // namespace ms::dataset
