// SPDX-License-Identifier: GPL-2.0-or-later
// The recorder's end of `--control`. A command is a line with one word, as in perf-record(1). Each
// command gets a line as its answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/fd.h"

namespace htmtrace {

class ControlChannel {
 public:
  enum class Command : uint8_t { kEnable, kDisable, kSnapshot, kStop, kPing };

  // Returns the error in a text that is neither "fifo:PATH[,ACK-PATH]" nor
  // "fd:NUMBER[,ACK-NUMBER]", or an empty string.
  static std::string check(const std::string& text);

  // Call it with a text that check() accepts. The object owns the descriptors from now on. Throws
  // Error.
  explicit ControlChannel(const std::string& text);

  // The descriptor to poll for input; -1 after the other side has closed the channel for good.
  int fd() const { return commands_.get(); }

  // Reads the available input. Does not wait if poll() reported input on fd().
  void receive();
  // Returns the next command, and refuses unknown commands.
  std::optional<Command> next();

  // Writes an answer. Never waits for a reader.
  void acknowledge() { answer("ack\n"); }
  void refuse(const std::string& why) { answer("error: " + why + "\n"); }

 private:
  void answer(const std::string& line);

  Fd commands_, answers_;
  std::string received_;  // an incomplete line
};

// Parses a line without its newline. Returns nothing if the line is not a command.
std::optional<ControlChannel::Command> parse_command(std::string_view line);

}  // namespace htmtrace
