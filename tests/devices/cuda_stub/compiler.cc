// libnvrtc, as the stub has it: the host's compiler makes a library of a kernel's text.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "emulator.h"  // part of what is compiled
#include "stub.h"

using namespace stub;  // NOLINT: this file is about nothing else

namespace {

struct Program {
  std::string source, log, code;
};
Handles<Program>& Programs() {
  static auto* programs = new Handles<Program>;
  return *programs;
}
enum { kOutOfOrder = 4, kInvalidOption = 5, kCompilation = 6 };  // of nvrtc.h

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream all;
  all << file.rdbuf();
  return all.str();
}

// The text, and what calls its kernels.
std::string WithCallers(const std::string& source) {
  static const std::regex kernel(
      "extern \"C\" __global__ void (?:__launch_bounds__\\(\\d+\\) )?(\\w+)\\(");
  std::string text = "#include \"emulator.h\"\n" + source, names;
  for (std::sregex_iterator it(source.begin(), source.end(), kernel), end; it != end; ++it) {
    text += fmt::format("MS_EMULATED_KERNEL({})\n", (*it)[1].str());
    names += fmt::format("\"{}\", ", (*it)[1].str());
  }
  // The prelude ends with JoinGroup, where its barriers are: others are behind it, or use it.
  size_t end = source.find("\n}\n", source.find("JoinGroup"));
  bool barriers = end != std::string::npos && (source.find("JoinGroup", end) != std::string::npos ||
                                               source.find("__syncthreads", end) != std::string::npos);
  return text + fmt::format(
                    "extern \"C\" {{\nextern const char* const emulated_names[];\n"
                    "const char* const emulated_names[] = {{{}0}};\n"
                    "extern const int emulated_barriers;\n"
                    "const int emulated_barriers = {};\n"
                    "void emulated_bind(Machine* given) {{ machine = given; }}\n}}\n",
                    names, barriers ? 1 : 0);
}

// For tests that hand texts to NVIDIA's compiler: MS_CUDA_STUB_KEEP names a folder for them.
void Keep(const std::string& source) {
  const char* folder = std::getenv("MS_CUDA_STUB_KEEP");
  if (!folder) return;
  size_t digest = std::hash<std::string>{}(source);
  std::ofstream(fmt::format("{}/{:016x}.cu", folder, digest)) << source;
}

int CompileHere(Program& program) {
  Keep(program.source);
  char folder[] = "/tmp/ms_cuda_stub_XXXXXX";
  if (!mkdtemp(folder)) return kCompilation;
  std::string base = folder;
  std::ofstream(base + "/kernel.cc") << WithCallers(program.source);
  // Sums and products as they stand: what is fused says so.
  std::string command = fmt::format(
      "{} -std=c++17 -O1 -w -shared -fPIC -fno-strict-aliasing -ffp-contract=off {} -I{} -o "
      "{}/a.so "
      "{}/kernel.cc 2>{}/log",
      MS_STUB_COMPILER, __builtin_cpu_supports("fma") ? "-mfma" : "", MS_STUB_FOLDER, base, base,
      base);
  int status = std::system(command.c_str());
  program.log = ReadAll(base + "/log");
  std::string library = ReadAll(base + "/a.so");
  uint64_t size = library.size();
  program.code.assign("MSSTUB\0\0", 8);
  program.code.append(reinterpret_cast<const char*>(&size), sizeof(size));
  program.code += library;
  std::filesystem::remove_all(base);
  return status == 0 && size ? 0 : kCompilation;
}

}  // namespace

// Another stub is another version: what one has compiled is of no use to the next.
STUB_ENTRY nvrtcVersion(int* major, int* minor) {
  *minor = static_cast<int>(std::hash<std::string>{}(__DATE__ __TIME__) % 1000000);
  return *major = Said("NVRTC", 13), 0;
}
namespace {
constexpr int kChips[] = {75, 80, 86, 89, 90, 100, 120};
}
STUB_ENTRY nvrtcGetNumSupportedArchs(int* count) { return *count = std::size(kChips), 0; }
STUB_ENTRY nvrtcGetSupportedArchs(int* chips) { return std::ranges::copy(kChips, chips), 0; }
STUB_ENTRY nvrtcCreateProgram(void** program, const char* source, const char*, int headers,
                              const char* const*, const char* const*) {
  std::lock_guard lock(TheMutex());
  if (headers) return Refuse(kInvalidOption, "the stub's compiler takes no headers");
  return *program = Programs().Add({source, "", ""}), 0;
}
STUB_ENTRY nvrtcCompileProgram(void* program, int count, const char* const* options) {
  std::lock_guard lock(TheMutex());
  if (!Programs().Has(program)) return Refuse(kOutOfOrder, "nvrtcCompileProgram: no program");
  static const std::regex known("--gpu-architecture=sm_\\d+a?|--std=c\\+\\+17|--fmad=false");
  for (int i = 0; i < count; ++i) {
    if (!std::regex_match(options[i], known))
      return Refuse(kInvalidOption, fmt::format("the stub's compiler knows no {}", options[i]));
  }
  return CompileHere(*static_cast<Program*>(program));
}
STUB_ENTRY nvrtcGetCUBINSize(void* program, size_t* size) {
  std::lock_guard lock(TheMutex());
  if (!Programs().Has(program)) return Refuse(kOutOfOrder, "nvrtcGetCUBINSize: no program");
  return *size = static_cast<Program*>(program)->code.size(), 0;
}
STUB_ENTRY nvrtcGetCUBIN(void* program, char* code) {
  std::lock_guard lock(TheMutex());
  if (!Programs().Has(program)) return Refuse(kOutOfOrder, "nvrtcGetCUBIN: no program");
  const std::string& made = static_cast<Program*>(program)->code;
  if (made.empty()) return Refuse(kOutOfOrder, "nvrtcGetCUBIN comes before the compilation");
  return std::memcpy(code, made.data(), made.size()), 0;
}
STUB_ENTRY nvrtcGetProgramLogSize(void* program, size_t* size) {
  std::lock_guard lock(TheMutex());
  return *size = static_cast<Program*>(program)->log.size(), 0;
}
STUB_ENTRY nvrtcGetProgramLog(void* program, char* log) {
  std::lock_guard lock(TheMutex());
  const std::string& made = static_cast<Program*>(program)->log;
  return std::memcpy(log, made.data(), made.size()), 0;
}
STUB_ENTRY nvrtcDestroyProgram(void** program) {
  std::lock_guard lock(TheMutex());
  if (!Programs().Has(*program)) return Refuse(kOutOfOrder, "nvrtcDestroyProgram: no program");
  Programs().Remove(*program);
  return *program = nullptr, 0;
}
