// TCP connections of the watch: addresses, sockets that the child of a fork closes, frames on them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ms::cluster {

// "host:port/word": where rank 0 listens, and a word that only the processes of one job know.
struct Address {
  std::string host, port, word;

  static Address Parse(std::string_view text);  // throws Error
  std::string Text() const;                     // without the word
};

// Owns a descriptor. A forked child closes it at once: else a rank that is killed would seem to
// live on in its data workers.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd);
  Socket(Socket&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Socket& operator=(Socket&& other) noexcept;
  ~Socket() { Close(); }

  explicit operator bool() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  void Close();

 private:
  int fd_ = -1;
};

Socket Listen(const Address& address);  // throws Error
int PortOf(const Socket& socket);
// One attempt that ends within `timeout_ms`; without a socket, `problem` says why, and `found`
// whether there is such a host.
Socket Connect(const Address& address, int timeout_ms, std::string* problem, bool* found);

// What goes over a connection: a letter and its values.
class Packer {
 public:
  explicit Packer(char type) : bytes_(5, '\0') { bytes_[4] = type; }
  Packer& Number(uint64_t value);
  Packer& Text(std::string_view text);
  Packer& Append(const Packer& other);  // its values
  size_t size() const { return bytes_.size(); }
  std::string Frame() &&;  // with its length in front

 private:
  std::string bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(std::string frame) : bytes_(std::move(frame)) {}
  char type() const { return bytes_[0]; }
  uint64_t Number();
  std::string Text();
  bool good() const { return good_; }  // false after a read past the end

 private:
  std::string bytes_;
  size_t at_ = 1;
  bool good_ = true;
};

// A connection that never blocks.
class Channel {
 public:
  Channel() = default;
  explicit Channel(Socket socket) : socket_(std::move(socket)) {}

  int fd() const { return socket_.fd(); }
  bool open() const { return static_cast<bool>(socket_); }
  bool broken() const { return broken_; }  // talks nonsense
  bool wants_to_write() const { return !out_.empty(); }
  void Send(Packer frame) {
    if (open()) out_ += std::move(frame).Frame();
  }
  // Moves what can be moved; false where the other side is gone or talks nonsense.
  bool Pump();
  std::optional<Unpacker> Next();
  void Close() { socket_.Close(); }

 private:
  bool Write();
  bool Read();

  Socket socket_;
  std::string in_, out_;
  bool broken_ = false;
};

}  // namespace ms::cluster
