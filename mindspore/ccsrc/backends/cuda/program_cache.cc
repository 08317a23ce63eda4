#include "backends/cuda/program_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ms::cuda {
namespace {

// FNV-1a over 128 bits: keys that differ must not share a file.
__extension__ using Digest = unsigned __int128;
std::string DigestOf(const std::string& text) {
  constexpr Digest kPrime = (Digest{0x0000000001000000} << 64) | 0x000000000000013B;
  Digest digest = (Digest{0x6c62272e07bb0142} << 64) | 0x62b821756295c58d;
  for (char c : text) digest = (digest ^ static_cast<unsigned char>(c)) * kPrime;
  return fmt::format("{:016x}{:016x}", static_cast<uint64_t>(digest >> 64),
                     static_cast<uint64_t>(digest));
}

// As mindspore/_kernel_cache.py has it: MS_KERNEL_CACHE names the folder, and empty it means that
// there is none. Empty where there is none of use: it must be the user's own.
std::string Folder() {
  std::string folder;
  if (const char* given = std::getenv("MS_KERNEL_CACHE")) {
    folder = given;
  } else if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache) {
    folder = std::string(cache) + "/mindspore/kernels";
  } else if (const char* home = std::getenv("HOME"); home && *home) {
    folder = std::string(home) + "/.cache/mindspore/kernels";
  }
  if (folder.empty()) return "";
  folder += "/gpu";
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(folder).parent_path(), ignored);
  mkdir(folder.c_str(), 0700);
  struct stat found;
  bool own = lstat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
             found.st_uid == geteuid() && !(found.st_mode & 022);
  return own ? folder : "";
}

std::string PathOf(const std::string& key) {
  std::string folder = Folder();
  return folder.empty() ? "" : folder + "/" + DigestOf(key) + ".bin";
}

}  // namespace

std::string ReadProgram(const std::string& key) {
  std::string path = PathOf(key);
  if (path.empty()) return "";
  std::ifstream file(path, std::ios::binary);
  std::stringstream all;
  if (!(all << file.rdbuf())) return "";
  std::string text = all.str();  // its digest, and the code
  constexpr size_t kDigest = 32;
  if (text.size() <= kDigest) return "";
  std::string code = text.substr(kDigest);
  return text.compare(0, kDigest, DigestOf(code)) == 0 ? code : "";
}

void WriteProgram(const std::string& key, const std::string& code) {
  std::string path = PathOf(key);
  if (path.empty()) return;
  std::string temporary = fmt::format("{}.{}", path, getpid());
  int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return;
  std::string text = DigestOf(code) + code;
  bool whole = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  whole &= close(file) == 0;
  if (!whole || rename(temporary.c_str(), path.c_str()) != 0) unlink(temporary.c_str());
}

}  // namespace ms::cuda
