#include "backends/cuda/program.h"

#include <ms_cuda_texts.h>  // made when this is built

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include "backends/cuda/device.h"
#include "backends/cuda/libraries.h"
#include "backends/cuda/program_cache.h"
#include "base/error.h"
#include "base/mutex.h"

namespace ms::cuda {
namespace {

std::atomic<int> compiled{0}, from_disk{0};

void Replace(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// The host's functions as a part of device code.
std::string MathText() {
  std::string text = kMathText;
  Replace(text, "#pragma once", "");
  Replace(text, "#include <cstdint>", "");
  Replace(text, "[[gnu::always_inline]] inline", "MS_FUNCTION");
  Replace(text, "__builtin_inff()", "__builtin_huge_valf()");
  return text;
}

std::vector<std::string> Options() {
  return {fmt::format("--gpu-architecture=sm_{}", TheDevice().chip), "--std=c++17",
          // a * b + c is rounded twice, as on the host: fused and single ops give the same bits.
          "--fmad=false"};
}

std::string KeyOf(const std::string& source) {
  int major = 0, minor = 0;
  CheckCompiler(TheCompiler().Version(&major, &minor), "nvrtcVersion");
  return fmt::format("driver {} compiler {}.{} {}\n{}", TheDevice().driver, major, minor,
                     fmt::join(Options(), " "), source);
}

std::string Compile(const std::string& source) {
  const Compiler& c = TheCompiler();
  CompilerProgram program = nullptr;
  CheckCompiler(c.CreateProgram(&program, source.c_str(), "mindspore.cu", 0, nullptr, nullptr),
                "nvrtcCreateProgram");
  std::vector<std::string> options = Options();
  std::vector<const char*> texts;
  for (const std::string& option : options) texts.push_back(option.c_str());
  int result = c.CompileProgram(program, static_cast<int>(texts.size()), texts.data());
  std::string log, code;
  size_t size = 0;
  if (result) {
    if (c.GetLogSize(program, &size) == 0) log.resize(size);
    if (size) c.GetLog(program, log.data());
  } else {
    CheckCompiler(c.GetCubinSize(program, &size), "nvrtcGetCUBINSize");
    code.resize(size);
    CheckCompiler(c.GetCubin(program, code.data()), "nvrtcGetCUBIN");
  }
  c.DestroyProgram(&program);
  if (result) {
    Throw(ErrorKind::kInternal, "NVIDIA's compiler refuses a generated kernel for sm_{}:\n{}\n{}",
          TheDevice().chip, log, source.substr(Prelude().size()));
  }
  return code;
}

bool Dumps() {
  static const bool on = [] {
    const char* value = std::getenv("MS_DUMP");
    return value && std::strstr(value, "kernels");
  }();
  return on;
}

}  // namespace

const std::string& Prelude() {
  static const auto* prelude = [] {
    std::string scalars = kScalarsText;
    Replace(scalars, "//MATH//", MathText());
    return new std::string(std::string(kBaseText) + scalars + kReductionsText);
  }();
  return *prelude;
}

void CheckChip() {
  const Compiler& c = TheCompiler();
  int count = 0, major = 0, minor = 0;
  CheckCompiler(c.CountChips(&count), "nvrtcGetNumSupportedArchs");
  std::vector<int> chips(static_cast<size_t>(count));
  CheckCompiler(c.GetChips(chips.data()), "nvrtcGetSupportedArchs");
  const Device& d = TheDevice();
  if (std::ranges::find(chips, d.chip) != chips.end()) return;
  CheckCompiler(c.Version(&major, &minor), "nvrtcVersion");
  Throw(
      ErrorKind::kRuntime,
      "NVIDIA's compiler libnvrtc must know the GPU, but version {}.{} knows compute capabilities "
      "up to {}, and '{}' has {}.{}; a newer one may: pip install --upgrade 'mindspore[cuda]'",
      major, minor, chips.empty() ? 0 : std::ranges::max(chips) / 10.0, d.name, d.chip / 10,
      d.chip % 10);
}

std::shared_ptr<Program> Program::Of(const std::string& text, int phases) {
  static auto* programs = new std::unordered_map<std::string, std::shared_ptr<Program>>;
  static auto* mutex = new Mutex;
  std::lock_guard lock(*mutex);
  std::shared_ptr<Program>& program = (*programs)[text];
  if (!program) program = std::make_shared<Program>(text, phases);
  return program;
}

Function Program::phase(int i) {
  if (!loaded_.load(std::memory_order_acquire)) {
    std::lock_guard lock(mutex_);
    if (!loaded_) Load();  // one that throws is tried again
  }
  return functions_[static_cast<size_t>(i)];
}

void Program::Load() {
  Enter();
  if (Dumps()) std::fputs(text_.c_str(), stderr);
  std::string source = Prelude() + text_, key = KeyOf(source), code = ReadProgram(key);
  Module module = nullptr;
  // What is on the disk may be of no use, whatever its digest says.
  bool usable = !code.empty() && TheDriver().ModuleLoadData(&module, code.data()) == kSuccess;
  if (usable) {
    ++from_disk;
  } else {
    code = Compile(source);
    ++compiled;
    Check(TheDriver().ModuleLoadData(&module, code.data()), "cuModuleLoadData");
    WriteProgram(key, code);
  }
  std::vector<Function> functions;
  for (int i = 0; i < phases_; ++i) {
    Function function = nullptr;
    Check(TheDriver().ModuleGetFunction(&function, module, fmt::format("phase{}", i).c_str()),
          "cuModuleGetFunction");
    functions.push_back(function);
  }
  functions_ = std::move(functions);
  loaded_.store(true, std::memory_order_release);
}

ProgramCounts CountPrograms() { return {compiled, from_disk}; }

}  // namespace ms::cuda
