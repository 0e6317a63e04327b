// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the waits of a recording while no trace runs. Machine tests cover running traces.
#include "cli/record/wait_loop.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

namespace htmtrace {
namespace {

using namespace std::chrono_literals;

// A loop without targets, which receives commands through a pipe, as a shell passes it.
class IdleLoop {
 public:
  explicit IdleLoop(bool wraps = false) {
    options.source.wrap = wraps;
    std::array<int, 2> command{}, answer{};
    REQUIRE(::pipe2(command.data(), O_NONBLOCK) == 0);
    REQUIRE(::pipe2(answer.data(), O_NONBLOCK) == 0);
    commands = Fd(command[1]);
    answers = Fd(answer[0]);
    channel.emplace(fmt::format("fd:{},{}", command[0], answer[1]));
    signals.watch();
    loop.emplace(options, sources, signals, &*channel, nullptr, progress);
  }
  ~IdleLoop() { signals.restore(); }

  WaitLoop::Ending wait(std::chrono::milliseconds limit) {
    return loop->wait(nullptr, WaitLoop::Clock::now() + limit, [this] {
      looks++;
      return next_look;
    });
  }

  void say(const std::string& text) const {
    REQUIRE(::write(commands.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }

  std::string answered() const {
    std::array<char, 4096> piece{};
    const ssize_t got = ::read(answers.get(), piece.data(), piece.size());
    return {piece.data(), static_cast<size_t>(std::max<ssize_t>(got, 0))};
  }

  RecordOptions options;
  std::vector<HtmSource> sources;
  Signals signals;
  Progress progress{stderr, Progress::Style::kNone};
  Fd commands, answers;
  std::optional<ControlChannel> channel;
  std::optional<WaitLoop> loop;
  std::optional<WaitLoop::Clock::time_point> next_look;
  int looks = 0;
};

}  // namespace

TEST_CASE("a wait ends with its time, and looks at the processes meanwhile") {
  IdleLoop idle;
  idle.next_look = WaitLoop::Clock::now();  // the loop does not sleep
  CHECK(idle.wait(300ms) == WaitLoop::Ending::kTime);
  CHECK(idle.looks > 1);
}

TEST_CASE("htmtrace answers an enable command after the trace has begun") {
  IdleLoop idle;
  idle.say("ping\nenable\nstop\n");
  CHECK(idle.wait(10s) == WaitLoop::Ending::kEnableCommand);
  CHECK(idle.answered() == "ack\n");
  idle.loop->answer_snapshot(true);
  CHECK(idle.answered().empty());
  idle.loop->answer_enable();
  CHECK(idle.answered() == "ack\n");
  idle.loop->answer_enable();
  CHECK(idle.answered().empty());
  CHECK(idle.wait(10s) == WaitLoop::Ending::kStopCommand);
  CHECK(idle.answered() == "ack\n");
}

TEST_CASE("without a trace, a snapshot command is refused and a disable command has no effect") {
  IdleLoop idle(/*wraps=*/true);
  idle.say("snapshot\ndisable\nstop\n");
  CHECK(idle.wait(10s) == WaitLoop::Ending::kStopCommand);
  CHECK(idle.answered() == "error: no trace is running\nack\nack\n");
  idle.loop->answer_snapshot(true);
  CHECK(idle.answered().empty());
}

TEST_CASE("SIGUSR2 requests a snapshot, and the first signal that asks to end is known") {
  IdleLoop idle(/*wraps=*/true);
  ::kill(::getpid(), SIGUSR2);
  CHECK_FALSE(idle.loop->take_signals());
  CHECK_FALSE(idle.loop->ended_by());
  CHECK(idle.loop->drop_snapshot());
  CHECK_FALSE(idle.loop->drop_snapshot());
  ::kill(::getpid(), SIGTERM);
  CHECK(idle.wait(10s) == WaitLoop::Ending::kSignal);
  ::kill(::getpid(), SIGINT);
  CHECK(idle.loop->take_signals());
  CHECK(idle.loop->ended_by() == SIGTERM);
}

}  // namespace htmtrace
