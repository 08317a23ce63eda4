// See characters.h.
#include "dataset/texts/characters.h"

#include "base/error.h"

namespace ms::dataset {
namespace {

// Never destroyed: workers may outlive static objects.
Pages<CharacterPage>* known = nullptr;

}  // namespace

size_t PageNumber(char32_t character) {
  size_t number = character / 256;
  if (number >= kPages) {
    Throw(ErrorKind::kValue, "the text must hold characters of Unicode, but got {:#x}",
          static_cast<uint32_t>(character));
  }
  return number;
}

void SetCharacterReader(CharacterReader reader) {
  if (!known) known = new Pages<CharacterPage>(std::move(reader));
}

const CharacterPage& PageOf(char32_t character) { return known->Of(character); }

}  // namespace ms::dataset
