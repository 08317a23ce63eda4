#include "kernel/plugin.h"

#include <dlfcn.h>
#include <unistd.h>

#include <condition_variable>
#include <map>
#include <memory>
#include <optional>
#include <thread>

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

// The devices of libraries, each made once: who comes while another thread makes it waits for that.
class Made {
 public:
  explicit Made(const Plugin& plugin) : plugin_(plugin), all_(All::Get()) {
    std::unique_lock lock(all_.mutex);
    for (;;) {
      auto at = all_.states.find(&plugin_);
      if (at == all_.states.end()) break;
      name_ = at->second.name;
      if (name_) return;
      RequireMaker(at->second);
      all_.waiting[std::this_thread::get_id()] = &plugin_;
      all_.changed.wait(lock);
      all_.waiting.erase(std::this_thread::get_id());
    }
    all_.states.emplace(&plugin_, State{});
    makes_ = true;
  }
  ~Made() {
    if (!makes_) return;
    std::lock_guard lock(all_.mutex);
    if (name_)
      all_.states[&plugin_].name = name_;
    else
      all_.states.erase(&plugin_);
    all_.changed.notify_all();
  }
  Made(const Made&) = delete;

  // Where it was made before.
  const std::optional<std::string>& name() const { return name_; }
  void Finish(std::string name) { name_ = std::move(name); }

 private:
  struct State {
    std::optional<std::string> name;  // none: it is being made
    std::thread::id maker = std::this_thread::get_id();
    pid_t process = getpid();
  };
  struct All {
    Mutex mutex;
    std::condition_variable_any changed;
    std::map<const Plugin*, State> states;
    std::map<std::thread::id, const Plugin*> waiting;

    static All& Get() {
      static auto* all = new All;
      return *all;
    }
  };

  // Whether the one who makes it will ever have done so: not where that waits for this thread.
  void RequireMaker(const State& state) const {
    const State* next = &state;
    while (next->maker != std::this_thread::get_id()) {
      auto waits = all_.waiting.find(next->maker);
      if (waits == all_.waiting.end()) break;
      next = &all_.states.at(waits->second);
    }
    bool gone = state.process != getpid();
    if (!gone && next->maker != std::this_thread::get_id()) return;
    Throw(ErrorKind::kRuntime,
          "For 'register_backend', a device must not be asked for while it is made, but {}.",
          gone ? "the process forked meanwhile" : "what makes it does so");
  }

  const Plugin& plugin_;
  All& all_;
  std::optional<std::string> name_;
  bool makes_ = false;
};

}  // namespace

std::string LoadBackend(const std::string& path) {
  // No lock is held here: what runs while a library is opened and its device is made may load
  // others, wait for threads that do, or take the GIL.
  Library library(path);  // the same for each path to one library
  Made made(library.plugin());
  if (made.name()) return *made.name();
  std::string name;
  if (std::optional<Error> fault = Register(library.plugin(), path, &name)) throw *fault;
  library.Keep();
  made.Finish(name);
  return name;
}

std::string BesideCore(const std::string& name) {
  Dl_info info;
  MS_ASSERT(dladdr(reinterpret_cast<void*>(&LoadBackend), &info) && info.dli_fname);
  std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/') + 1) + name;
}

}  // namespace ms
