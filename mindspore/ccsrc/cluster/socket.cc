#include "cluster/socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "base/mutex.h"

namespace ms::cluster {
namespace {

constexpr size_t kLongestFrame = 1 << 20;  // more is no frame of ours
constexpr size_t kMostUnsent = 4 << 20;    // more waits for a process that does not read

struct Descriptors {
  Mutex mutex;
  std::vector<int> open;

  Descriptors() {
    // The locks of the core are held at a fork, so the list is whole, and this is the only thread.
    pthread_atfork(nullptr, nullptr, [] {
      for (int fd : All().open) close(fd);
      All().open.clear();
    });
  }
  static Descriptors& All() {
    static Descriptors* all = new Descriptors;  // sockets may outlive statics
    return *all;
  }
};

using Found = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

// Null, with the problem said, where the host is not found.
Found Resolve(const Address& address, bool passive, std::string* problem) {
  addrinfo wanted{}, *first = nullptr;
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0);
  int failed = getaddrinfo(address.host.c_str(), address.port.c_str(), &wanted, &first);
  if (failed)
    *problem = fmt::format("the host '{}' is not found: {}", address.host, gai_strerror(failed));
  return Found(failed ? nullptr : first, &freeaddrinfo);
}

void NeverBlock(int fd) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// Zero or an errno.
int ConnectWithin(int fd, const addrinfo& to, int timeout_ms) {
  if (connect(fd, to.ai_addr, to.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  pollfd ready{fd, POLLOUT, 0};
  int count = poll(&ready, 1, timeout_ms);
  if (count <= 0) return count == 0 ? ETIMEDOUT : errno;
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

// TCP lets a socket that asks for a port of its own machine be given this port itself: it would
// talk to itself, and keep the port from the one who is to listen there.
bool TalksToItself(int fd) {
  sockaddr_storage here{}, there{};
  socklen_t size = sizeof here, other = sizeof there;
  getsockname(fd, reinterpret_cast<sockaddr*>(&here), &size);
  getpeername(fd, reinterpret_cast<sockaddr*>(&there), &other);
  return size == other && std::memcmp(&here, &there, size) == 0;
}

}  // namespace

Address Address::Parse(std::string_view text) {
  Address found;
  std::string_view rest = text;
  if (size_t slash = rest.find('/'); slash != rest.npos) {
    found.word = rest.substr(slash + 1);
    rest = rest.substr(0, slash);
  }
  size_t colon = rest.rfind(':');
  if (colon != rest.npos) {
    found.host = rest.substr(0, colon);
    found.port = rest.substr(colon + 1);
  }
  if (found.host.starts_with('[') && found.host.ends_with(']'))
    found.host = found.host.substr(1, found.host.size() - 2);
  bool digits = !found.port.empty() && found.port.size() <= 5 &&
                std::ranges::all_of(found.port, [](char c) { return c >= '0' && c <= '9'; });
  if (found.host.empty() || !digits || std::stoi(found.port) > 65535)
    Throw(ErrorKind::kValue, "the address of the watch must be like 127.0.0.1:8118, but got '{}'",
          text);
  return found;
}

std::string Address::Text() const {
  return host.find(':') == host.npos ? fmt::format("{}:{}", host, port)
                                     : fmt::format("[{}]:{}", host, port);
}

Socket::Socket(int fd) : fd_(fd) {
  if (fd < 0) return;
  Descriptors& all = Descriptors::All();
  std::lock_guard lock(all.mutex);
  all.open.push_back(fd);
}

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this != &other) {
    Close();
    fd_ = other.fd_;
    other.fd_ = -1;
  }
  return *this;
}

void Socket::Close() {
  if (fd_ < 0) return;
  Descriptors& all = Descriptors::All();
  std::lock_guard lock(all.mutex);
  // A forked child has closed it already, and its number may be somebody else's.
  if (std::erase(all.open, fd_)) close(fd_);
  fd_ = -1;
}

Socket Listen(const Address& address) {
  std::string problem;
  Found found = Resolve(address, true, &problem);
  for (addrinfo* at = found.get(); at; at = at->ai_next) {
    Socket socket(::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, at->ai_protocol));
    int on = 1;
    if (socket) setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (socket && bind(socket.fd(), at->ai_addr, at->ai_addrlen) == 0 &&
        listen(socket.fd(), 1024) == 0) {
      NeverBlock(socket.fd());
      return socket;
    }
    problem = std::strerror(errno);
  }
  Throw(ErrorKind::kRuntime,
        "rank 0 cannot listen at {}: {}. The address must be one of this machine, and no other job "
        "may use the port (msrun --master_port chooses another).",
        address.Text(), problem);
}

int PortOf(const Socket& socket) {
  sockaddr_storage here{};
  socklen_t size = sizeof here;
  getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&here), &size);
  return ntohs(here.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(here).sin6_port
                                          : reinterpret_cast<sockaddr_in&>(here).sin_port);
}

Socket Connect(const Address& address, int timeout_ms, std::string* problem, bool* found) {
  Found all = Resolve(address, false, problem);
  *found = all != nullptr;
  for (addrinfo* at = all.get(); at; at = at->ai_next) {
    Socket socket(::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, at->ai_protocol));
    if (!socket) continue;
    NeverBlock(socket.fd());
    int error = ConnectWithin(socket.fd(), *at, timeout_ms);
    if (!error && !TalksToItself(socket.fd())) return socket;
    *problem = error ? std::strerror(error) : "nobody listens there";
  }
  return Socket();
}

Packer& Packer::Number(uint64_t value) {
  for (int i = 0; i < 8; ++i) bytes_.push_back(static_cast<char>(value >> (8 * i)));
  return *this;
}

Packer& Packer::Text(std::string_view text) {
  Number(text.size());
  bytes_ += text;
  return *this;
}

Packer& Packer::Append(const Packer& other) {
  bytes_ += std::string_view(other.bytes_).substr(5);
  return *this;
}

std::string Packer::Frame() && {
  size_t size = bytes_.size() - 4;
  for (int i = 0; i < 4; ++i) bytes_[i] = static_cast<char>(size >> (8 * i));
  return std::move(bytes_);
}

uint64_t Unpacker::Number() {
  if (bytes_.size() - at_ < 8) good_ = false;
  if (!good_) return 0;
  uint64_t value = 0;
  for (int i = 0; i < 8; ++i)
    value |= uint64_t{static_cast<unsigned char>(bytes_[at_ + i])} << (8 * i);
  at_ += 8;
  return value;
}

std::string Unpacker::Text() {
  uint64_t size = Number();
  if (size > bytes_.size() - at_) good_ = false;
  if (!good_) return {};
  std::string text = bytes_.substr(at_, size);
  at_ += size;
  return text;
}

bool Channel::Pump() {
  if (!open()) return false;
  // What came before the other side went is still read.
  bool alive = Read();
  return Write() && alive && !broken_;
}

bool Channel::Write() {
  while (!out_.empty()) {
    ssize_t sent = send(fd(), out_.data(), out_.size(), MSG_NOSIGNAL);
    if (sent < 0) return errno == EINTR || errno == EAGAIN ? out_.size() < kMostUnsent : false;
    out_.erase(0, sent);
  }
  return true;
}

bool Channel::Read() {
  char bytes[4096];
  while (true) {
    ssize_t got = recv(fd(), bytes, sizeof bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    if (got == 0) return false;
    in_.append(bytes, got);
    // One that sends without end is read in turns.
    if (in_.size() > kLongestFrame) return true;
  }
}

std::optional<Unpacker> Channel::Next() {
  if (in_.size() < 5) return std::nullopt;
  size_t size = 0;
  for (int i = 0; i < 4; ++i) size |= size_t{static_cast<unsigned char>(in_[i])} << (8 * i);
  if (size == 0 || size > kLongestFrame) broken_ = true;
  if (broken_ || in_.size() < 4 + size) return std::nullopt;
  Unpacker frame(in_.substr(4, size));
  in_.erase(0, 4 + size);
  return frame;
}

}  // namespace ms::cluster
