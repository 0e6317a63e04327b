// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/capture/control_channel.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <utility>
#include <vector>

#include "cli/capture/inherited_fd.h"
#include "core/base/error.h"

namespace htmtrace {
namespace {

// A longer line is not a command.
constexpr size_t kLongestLine = 256;

constexpr std::array kCommands = {
    std::pair{std::string_view("enable"), ControlChannel::Command::kEnable},
    std::pair{std::string_view("disable"), ControlChannel::Command::kDisable},
    std::pair{std::string_view("snapshot"), ControlChannel::Command::kSnapshot},
    std::pair{std::string_view("stop"), ControlChannel::Command::kStop},
    std::pair{std::string_view("ping"), ControlChannel::Command::kPing}};

// Opens the FIFO for both directions, so that either side can open it first, and can close and
// reopen it.
Fd open_fifo(const std::string& path) {
  const auto hint = [&](Error error) {
    return std::move(error).hint(fmt::format("create it: mkfifo {}", path));
  };
  struct stat facts {};
  Fd fd(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!fd) throw hint(Error(fmt::format("cannot open {} for --control", path), errno));
  if (::fstat(fd.get(), &facts) == 0 && S_ISFIFO(facts.st_mode)) return fd;
  throw hint(Error(fmt::format("cannot use {} for --control: not a FIFO", path)));
}

std::optional<int> parse_descriptor(const std::string& text) {
  int number = -1;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || number < 0) return std::nullopt;
  return number;
}

struct Channel {
  bool numbers = false;
  std::vector<std::string>
      names;  // one for commands, one optionally for answers; empty: not a channel
};

Channel split(const std::string& text) {
  const size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  if (colon == std::string::npos || (kind != "fd" && kind != "fifo")) return {};
  const size_t comma = text.find(',', colon);
  Channel channel{kind == "fd", {text.substr(colon + 1, comma - colon - 1)}};
  if (comma != std::string::npos) channel.names.push_back(text.substr(comma + 1));
  return channel;
}

}  // namespace

std::optional<ControlChannel::Command> parse_command(std::string_view line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
  for (const auto& [name, command] : kCommands) {
    if (line == name) return command;
  }
  return std::nullopt;
}

std::string ControlChannel::check(const std::string& text) {
  const auto [numbers, names] = split(text);
  if (names.empty()) return text + " does not begin with fifo: or fd:";
  for (const std::string& name : names) {
    if (name.empty()) return text + " lacks a path or a file descriptor";
    if (numbers && !parse_descriptor(name)) return name + " is not a file descriptor";
  }
  return {};
}

ControlChannel::ControlChannel(const std::string& text) {
  const auto [numbers, names] = split(text);
  const auto open = [by_number = numbers](const std::string& name) {
    return by_number ? take_inherited_fd(parse_descriptor(name).value(), "--control")
                     : open_fifo(name);
  };
  commands_ = open(names.at(0));
  if (names.size() < 2) return;
  // A socket can serve both directions.
  answers_ =
      names[0] == names[1] ? Fd(::fcntl(commands_.get(), F_DUPFD_CLOEXEC, 0)) : open(names[1]);
}

void ControlChannel::receive() {
  std::array<char, 1024> piece{};
  const ssize_t got = ::read(commands_.get(), piece.data(), piece.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    commands_.reset();
    return;
  }
  received_.append(piece.data(), static_cast<size_t>(got));
}

std::optional<ControlChannel::Command> ControlChannel::next() {
  while (true) {
    const size_t end = received_.find('\n');
    if (end == std::string::npos) {
      if (received_.size() > kLongestLine) {
        received_.clear();
        refuse("the line is too long");
      }
      return std::nullopt;
    }
    const std::string line = received_.substr(0, end);
    received_.erase(0, end + 1);
    if (const auto command = parse_command(line)) return command;
    refuse("unknown command: " + line.substr(0, kLongestLine));
  }
}

void ControlChannel::answer(const std::string& line) {
  if (!answers_) return;
  // If the pipe is full, its reader is stalled, and the answer is dropped. A line is shorter than
  // PIPE_BUF, so the write is atomic.
  pollfd room{answers_.get(), POLLOUT, 0};
  if (::poll(&room, 1, 0) != 1 || (room.revents & POLLOUT) == 0) return;
  [[maybe_unused]] const ssize_t told = ::write(answers_.get(), line.data(), line.size());
}

}  // namespace htmtrace
