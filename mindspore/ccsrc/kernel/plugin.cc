#include "kernel/plugin.h"

#include <dlfcn.h>

#include <map>

#include "base/mutex.h"

namespace ms {
namespace {

[[noreturn]] void Refuse(const std::string& path, const std::string& why) {
  Throw(ErrorKind::kValue, "For 'register_backend', '{}' must be a library with a device, but {}.",
        path, why);
}

std::string LastError() {
  const char* text = dlerror();
  return text ? text : "the system gives no reason";
}

// Why a library cannot be used here; empty where it can.
std::string Fault(const Plugin* plugin) {
  if (!plugin) return "it has no symbol 'ms_backend' (see MS_BACKEND in kernel/plugin.h)";
  if (std::string_view(plugin->stamp) != MS_STAMP)
    return fmt::format(
        "it was built for '{}', and this is '{}': build it again against the headers of this "
        "installation",
        plugin->stamp, MS_STAMP);
  if (plugin->layout != kLayout)
    return "its objects are laid out otherwise: build it without macros and flags, such as "
           "_GLIBCXX_DEBUG and -fshort-enums, that change classes";
  return "";
}

// Opened lazily first: a library that was built against something else may lack what it calls. One
// that is refused is closed again, or another one at its path would be taken for it.
const Plugin& Open(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!library) Refuse(path, LastError());
  const auto* plugin = static_cast<const Plugin*>(dlsym(library, "ms_backend"));
  std::string fault = Fault(plugin);
  if (fault.empty() && !dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) fault = LastError();
  if (fault.empty()) return *plugin;
  dlclose(library);
  Refuse(path, fault);
}

std::string Register(const Plugin& plugin, const std::string& path) {
  try {
    std::unique_ptr<Backend> backend(plugin.make());
    std::string name(backend->name());
    RegisterBackend(std::move(backend));
    return name;
  } catch (const Error& error) {
    if (error.message().starts_with("For '")) throw;  // it says what is wrong, which is no library
    Refuse(path, error.message());
  } catch (const std::exception& error) {
    Refuse(path, error.what());
  } catch (...) {
    Refuse(path, "what making it threw is no std::exception");
  }
}

}  // namespace

std::string LoadBackend(const std::string& path) {
  static auto* loaded = new std::map<const Plugin*, std::string>;
  static auto* mutex = new Mutex;
  std::lock_guard lock(*mutex);
  const Plugin& plugin = Open(path);  // the same for each path to one library
  auto known = loaded->find(&plugin);
  if (known == loaded->end()) known = loaded->emplace(&plugin, Register(plugin, path)).first;
  return known->second;
}

std::string BesideCore(const std::string& name) {
  Dl_info info;
  MS_ASSERT(dladdr(reinterpret_cast<void*>(&LoadBackend), &info) && info.dli_fname);
  std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/') + 1) + name;
}

}  // namespace ms
