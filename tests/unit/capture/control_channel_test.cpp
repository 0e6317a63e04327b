// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/capture/control_channel.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

using Command = ControlChannel::Command;

// Two FIFOs, with the channel at one end and the test at the other end.
class Line {
 public:
  Line() {
    REQUIRE(::mkfifo(path("ctl").c_str(), 0600) == 0);
    REQUIRE(::mkfifo(path("ack").c_str(), 0600) == 0);
    channel.emplace(fmt::format("fifo:{},{}", path("ctl"), path("ack")));
    commands = Fd(::open(path("ctl").c_str(), O_WRONLY | O_NONBLOCK));
    answers = Fd(::open(path("ack").c_str(), O_RDONLY | O_NONBLOCK));
  }

  std::vector<Command> say(const std::string& text) {
    REQUIRE(::write(commands.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    channel->receive();
    std::vector<Command> heard;
    while (const auto command = channel->next()) heard.push_back(*command);
    return heard;
  }

  std::string answered() const {
    std::array<char, 4096> piece{};
    const ssize_t got = ::read(answers.get(), piece.data(), piece.size());
    return {piece.data(), static_cast<size_t>(std::max<ssize_t>(got, 0))};
  }

  std::optional<ControlChannel> channel;
  Fd commands, answers;

 private:
  std::string path(const char* name) const { return (folder_.path() / name).string(); }
  TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("commands are lines, whatever the sizes of the reads") {
  Line line;
  CHECK(line.say("ping\nenable\ndis") == std::vector{Command::kPing, Command::kEnable});
  CHECK(line.say("able\n") == std::vector{Command::kDisable});
  CHECK(line.say("snapshot \r\nstop\n") == std::vector{Command::kSnapshot, Command::kStop});
  CHECK(line.answered().empty());
  line.channel->acknowledge();
  CHECK(line.answered() == "ack\n");
}

TEST_CASE("an invalid command is rejected, and the next command is accepted") {
  Line line;
  CHECK(line.say("fire\n\nping\n") == std::vector{Command::kPing});
  CHECK(line.answered() == "error: unknown command: fire\nerror: unknown command: \n");
  CHECK(line.say(std::string(1000, 'x')).empty());
  CHECK(line.answered() == "error: the line is too long\n");
}

TEST_CASE("a FIFO outlives its writers, and works without a reader of the answers") {
  Line line;
  CHECK(line.say("ping\n").size() == 1);
  line.commands.reset();
  line.channel->receive();
  CHECK(line.channel->fd() >= 0);
  for (int i = 0; i < 100000; i++) line.channel->acknowledge();
  CHECK(line.answered().starts_with("ack\nack\n"));
}

TEST_CASE("the end of a descriptor is detected") {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  ControlChannel channel(fmt::format("fd:{}", ends[0]));
  ::close(ends[1]);
  channel.receive();
  CHECK(channel.fd() == -1);
  CHECK_FALSE(channel.next());
  CHECK(ControlChannel::check("fd:x") == "x is not a file descriptor");
  CHECK(ControlChannel::check("fd:3,4").empty());
}

}  // namespace htmtrace
