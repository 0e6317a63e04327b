// SPDX-License-Identifier: GPL-2.0-or-later
// The other end of `--control`: commands come as lines, with the words that perf-record(1) has for
// them, and each is answered with a line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ringbuf/fd.h"

namespace htmtrace {

class ControlChannel {
 public:
  enum class Command : uint8_t { kEnable, kDisable, kSnapshot, kStop, kPing };

  // What is wrong with a text that is neither "fifo:PATH[,ACK-PATH]" nor "fd:NUMBER[,ACK-NUMBER]";
  // empty: nothing.
  static std::string check(const std::string& text);

  // A text in which nothing is wrong. Descriptors are this object's from then on. Throws Error.
  explicit ControlChannel(const std::string& text);

  // To be polled for input; -1 once the other side is gone for good.
  int fd() const { return commands_.get(); }

  // Takes what the other side has written, without waiting when fd() has told of input.
  void receive();
  // The next command; those that are not known have been refused.
  std::optional<Command> next();

  // Answers. Nobody need listen, and none is waited for.
  void acknowledge() { answer("ack\n"); }
  void refuse(const std::string& why) { answer("error: " + why + "\n"); }

 private:
  void answer(const std::string& line);

  Fd commands_, answers_;
  std::string received_;  // not yet a whole line
};

// One line, without its end. Nothing when it is no command.
std::optional<ControlChannel::Command> parse_command(std::string_view line);

}  // namespace htmtrace
