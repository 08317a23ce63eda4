#include "kernel/plugin.h"

#include <dlfcn.h>

#include <map>
#include <memory>
#include <optional>

#include "base/mutex.h"

namespace ms {
namespace {

Error Refusal(const std::string& path, const std::string& why) {
  return Error(ErrorKind::kValue,
               fmt::format("For 'register_backend', '{}' must be a library with a device, but {}.",
                           path, why));
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

// A library that is open. Unless it is kept it is closed again: one that is refused must not be
// taken for another one that comes to its path.
class Library {
 public:
  // Opened lazily first: a library that was built against something else may lack what it calls.
  explicit Library(const std::string& path)
      : handle_(dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL)) {
    if (!handle_) throw Refusal(path, LastError());
    plugin_ = static_cast<const Plugin*>(dlsym(handle_, "ms_backend"));
    std::string fault = Fault(plugin_);
    void* whole = fault.empty() ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (fault.empty() && !whole) fault = LastError();
    if (whole) dlclose(whole);
    if (fault.empty()) return;
    dlclose(handle_);
    throw Refusal(path, fault);
  }
  ~Library() {
    if (handle_) dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  const Plugin& plugin() const { return *plugin_; }
  void Keep() { handle_ = nullptr; }

 private:
  void* handle_;
  const Plugin* plugin_ = nullptr;
};

// What keeps a device from being made, if anything. Of what was thrown nothing is left: its code
// may be the library's.
std::optional<Error> Register(const Plugin& plugin, const std::string& path, std::string* name) {
  try {
    std::unique_ptr<Backend> backend(plugin.make());
    *name = backend->name();
    RegisterBackend(std::move(backend));
    return std::nullopt;
  } catch (const Error& error) {
    // Some say what is wrong, which is no library.
    if (error.message().starts_with("For '")) return Error(error.kind(), error.message());
    return Refusal(path, error.message());
  } catch (const std::exception& error) {
    return Refusal(path, error.what());
  } catch (...) {
    return Refusal(path, "what making it threw is no std::exception");
  }
}

}  // namespace

std::string LoadBackend(const std::string& path) {
  static auto* loaded = new std::map<const Plugin*, std::string>;
  static auto* mutex = new Mutex;
  std::lock_guard lock(*mutex);
  Library library(path);  // the same for each path to one library
  auto known = loaded->find(&library.plugin());
  if (known != loaded->end()) return known->second;
  std::string name;
  if (std::optional<Error> fault = Register(library.plugin(), path, &name)) throw *fault;
  library.Keep();
  loaded->emplace(&library.plugin(), name);
  return name;
}

std::string BesideCore(const std::string& name) {
  Dl_info info;
  MS_ASSERT(dladdr(reinterpret_cast<void*>(&LoadBackend), &info) && info.dli_fname);
  std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/') + 1) + name;
}

}  // namespace ms
