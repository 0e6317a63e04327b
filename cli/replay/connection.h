// SPDX-License-Identifier: GPL-2.0-or-later
// The connection to gdb: standard input and output, or a local socket.
#pragma once

#include <string>
#include <string_view>

#include "cli/replay/packets.h"
#include "core/base/fd.h"

namespace htmtrace {

class Connection {
 public:
  // "-" stands for standard input and output. For another path, creates a socket of mode 0600,
  // waits for one client, and removes the socket. Throws Error.
  explicit Connection(const std::string& path);

  // Waits for bytes from gdb. Returns false if gdb has closed the connection. Throws Error if
  // reading fails.
  bool receive(PacketReader& reader) const;
  // Reads the bytes that have arrived, without waiting. Returns true if gdb interrupts or has
  // closed the connection.
  bool interrupted(PacketReader& reader) const;
  // Returns false if gdb has closed the connection. Throws Error if writing fails.
  bool send(std::string_view bytes) const;

 private:
  Fd socket_;
  int in_;
  int out_;
};

}  // namespace htmtrace
