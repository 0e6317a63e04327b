// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/replay/connection.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "cli/messages.h"
#include "core/base/error.h"

namespace htmtrace {
namespace {

Fd bind_private(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string failure = "cannot create socket " + path;
  if (path.size() >= sizeof(address.sun_path)) throw Error(failure, ENAMETOOLONG);
  std::memcpy(address.sun_path, path.data(), path.size());
  Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!listener) throw Error(failure, errno);
  constexpr mode_t kNotOwner = 0177;  // the socket gets mode 0600 from the start
  const mode_t before = ::umask(kNotOwner);
  const int result =
      ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  const int reason = errno;
  ::umask(before);
  if (result != 0 && reason == EADDRINUSE) {
    // The user may have named the trace instead of a socket.
    struct stat facts {};
    const bool is_socket = ::lstat(path.c_str(), &facts) == 0 && S_ISSOCK(facts.st_mode);
    throw Error(failure + ": the file exists")
        .hint(is_socket ? "if no replay uses the socket, remove it: rm " + path
                        : "pass - or the name of a new socket to --gdb");
  }
  if (result != 0) throw Error(failure, reason);
  return listener;
}

Fd accept_one(const std::string& path) {
  const Fd listener = bind_private(path);
  Fd client;
  int reason = 0;
  if (::listen(listener.get(), 1) == 0) {
    print_note("waiting for gdb: target remote " + path);
    do {
      client = Fd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    } while (!client && errno == EINTR);
  }
  if (!client) reason = errno;
  ::unlink(path.c_str());
  if (!client) throw Error("cannot accept a connection on " + path, reason);
  return client;
}

}  // namespace

Connection::Connection(const std::string& path)
    : socket_(path == "-" ? Fd() : accept_one(path)),
      in_(socket_ ? socket_.get() : STDIN_FILENO),
      out_(socket_ ? socket_.get() : STDOUT_FILENO) {}

bool Connection::receive(PacketReader& reader) const {
  constexpr size_t kPieceBytes = 4096;
  std::array<char, kPieceBytes> piece;
  for (;;) {
    const ssize_t got = ::read(in_, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno != ECONNRESET) throw Error("cannot read from gdb", errno);
    if (got <= 0) return false;
    reader.feed({piece.data(), static_cast<size_t>(got)});
    return true;
  }
}

bool Connection::interrupted(PacketReader& reader) const {
  while (!reader.full()) {
    pollfd input{.fd = in_, .events = POLLIN, .revents = 0};
    if (::poll(&input, 1, 0) <= 0) break;
    if (!receive(reader)) return true;
  }
  return reader.take_interrupt();
}

bool Connection::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t put = ::write(out_, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno != EPIPE && errno != ECONNRESET) {
      throw Error("cannot write to gdb", errno);
    }
    if (put <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return true;
}

}  // namespace htmtrace
