// Text of files as values: UTF-8 to the code points that NumPy's arrays hold.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "dataset/value.h"

namespace ms::dataset {

// Without the byte order mark at the start of a file, if there is one.
std::string_view WithoutMark(std::string_view bytes);
// False where the bytes are no UTF-8.
bool IsText(std::string_view bytes);
// What is no UTF-8 replaced by the character for that, as Python's "replace" does.
std::string MendedText(std::string_view bytes);
// One text. What is no UTF-8 fails with `where`, e.g. "The file 'a.txt', line 3".
Value TextOf(std::string_view bytes, std::string_view where);
// Texts of one width with these extents; bytes as they are where one is no UTF-8.
Value TextsOf(std::span<const std::string_view> texts, DimsRef dims);

}  // namespace ms::dataset
