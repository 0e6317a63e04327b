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
  // "-" stands for standard input and output. For another path, creates a socket that only this
  // user may open, waits for one client, and removes the socket. Throws Error.
  explicit Connection(const std::string& path);

  // Waits for bytes from gdb. Returns false if gdb has closed the connection.
  bool receive(PacketReader& reader) const;
  // Reads what has arrived without waiting, and returns true if gdb interrupts or has gone.
  bool interrupted(PacketReader& reader) const;
  // Returns false if gdb has closed the connection.
  bool send(std::string_view bytes) const;

 private:
  Fd socket_;
  int in_;
  int out_;
};

}  // namespace htmtrace
