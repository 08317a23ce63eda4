// Compiled programs in the user's cache folder. Whatever goes wrong there costs time, no result.
#pragma once

#include <string>

namespace ms::cuda {

// Empty where there is none, or a damaged one. `key`: all that the code depends on.
std::string ReadProgram(const std::string& key);
void WriteProgram(const std::string& key, const std::string& code);

}  // namespace ms::cuda
