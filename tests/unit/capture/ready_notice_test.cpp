// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/capture/ready_notice.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <string>
#include <utility>

#include "cli/capture/inherited_fd.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

// A pipe as a shell passes it: without FD_CLOEXEC.
struct NoticePipe {
  NoticePipe() {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_NONBLOCK) == 0);
    read_end = Fd(ends[0]);
    write_end = ends[1];
  }

  // Returns the text up to now, and whether the end of the file follows.
  std::pair<std::string, bool> content() const {
    std::string text;
    std::array<char, 64> piece{};
    ssize_t got = 0;
    while ((got = ::read(read_end.get(), piece.data(), piece.size())) > 0) {
      text.append(piece.data(), static_cast<size_t>(got));
    }
    return {text, got == 0};
  }

  Fd read_end;
  int write_end = -1;  // ReadyNotice owns it
};

using Content = std::pair<std::string, bool>;

std::string own_line() {
  return fmt::format("{}\n", ::getpid());
}

TEST_CASE("a descriptor gets one line when the recording has begun, and is closed") {
  const NoticePipe pipe;
  const ScriptOptions options{.ready_fd = pipe.write_end, .quiet = true};
  ReadyNotice ready(options);
  ready.prepare();
  CHECK(pipe.content() == Content{"", false});
  ready.announce();
  CHECK(pipe.content() == Content{own_line(), true});
}

TEST_CASE("the reader sees the end of the file if the recording never begins") {
  const NoticePipe pipe;
  const ScriptOptions options{.ready_fd = pipe.write_end};
  {
    const ReadyNotice ready(options);
    CHECK(pipe.content() == Content{"", false});
  }
  CHECK(pipe.content() == Content{"", true});
}

TEST_CASE("a workload does not inherit the descriptor") {
  const NoticePipe pipe;
  const ScriptOptions options{.ready_fd = pipe.write_end};
  const ReadyNotice ready(options);
  CHECK(::fcntl(pipe.write_end, F_GETFD) == FD_CLOEXEC);
}

TEST_CASE("a descriptor without room or reader does not stop the recording") {
  SUBCASE("full") {
    const NoticePipe pipe;
    const std::string much(1 << 20, 'x');
    while (::write(pipe.write_end, much.data(), much.size()) > 0) {
    }
    const ScriptOptions options{.ready_fd = pipe.write_end, .quiet = true};
    ReadyNotice ready(options);
    ready.announce();
    const auto [text, ended] = pipe.content();
    CHECK(ended);
    CHECK(text.find_first_not_of('x') == std::string::npos);
  }
  SUBCASE("the reader has gone") {
    NoticePipe pipe;
    const ScriptOptions options{.ready_fd = pipe.write_end, .quiet = true};
    ReadyNotice ready(options);
    pipe.read_end.reset();
    struct sigaction ignored {};
    ignored.sa_handler = SIG_IGN;
    struct sigaction old {};
    ::sigaction(SIGPIPE, &ignored, &old);
    ready.announce();
    ::sigaction(SIGPIPE, &old, nullptr);
    CHECK(::fcntl(pipe.write_end, F_GETFD) == -1);
  }
}

TEST_CASE("an unusable descriptor is refused") {
  const auto refusal = [](int fd) {
    const ScriptOptions options{.ready_fd = fd};
    return message_of([&] { const ReadyNotice ready(options); });
  };
  CHECK(refusal(777) == "cannot use file descriptor 777 for --ready-fd: Bad file descriptor");
  const int input = ::open("/dev/null", O_RDONLY);
  CHECK(refusal(input) ==
        fmt::format("cannot use file descriptor {} for --ready-fd: not open for writing", input));
  const Fd own(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  CHECK(refusal(own.get()) ==
        fmt::format("cannot use file descriptor {} for --ready-fd: htmtrace already uses it",
                    own.get()));
}

TEST_CASE("two options cannot use one descriptor") {
  const NoticePipe pipe;
  const ScriptOptions options{.ready_fd = pipe.write_end};
  const ReadyNotice ready(options);
  CHECK(message_of([&] {
          take_inherited_fd(pipe.write_end, "--control");
        }).ends_with("for --control: htmtrace already uses it"));
}

TEST_CASE("a file appears when the recording has begun, and disappears at its end") {
  const TemporaryFolder folder;
  const ScriptOptions options{.ready_file = folder.path() / "ready", .quiet = true};
  {
    ReadyNotice ready(options);
    ready.prepare();
    CHECK(std::filesystem::is_empty(folder.path()));
    ready.announce();
    CHECK(folder.read("ready") == own_line());
  }
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("the end of a recording does not remove the file of another program") {
  const TemporaryFolder folder;
  const ScriptOptions options{.ready_file = folder.path() / "ready", .quiet = true};
  {
    ReadyNotice ready(options);
    ready.prepare();
    ready.announce();
    std::filesystem::remove(folder.path() / "ready");
    folder.write("ready", "other");
  }
  CHECK(folder.read("ready") == "other");
}

TEST_CASE("a file that exists is refused") {
  const TemporaryFolder folder;
  const ScriptOptions options{.ready_file = folder.path() / "ready", .quiet = true};
  const std::string refusal = "cannot create " + options.ready_file.string() + ": File exists";
  folder.write("ready", "old");
  CHECK(message_of([&] { const ReadyNotice ready(options); }) == refusal);
  std::filesystem::remove(folder.path() / "ready");
  std::filesystem::create_symlink("nowhere", folder.path() / "ready");
  CHECK(message_of([&] { const ReadyNotice ready(options); }) == refusal);
  std::filesystem::remove(folder.path() / "ready");
  {
    ReadyNotice ready(options);
    ready.prepare();
    folder.write("ready", "late");
    CHECK(message_of([&] { ready.announce(); }) == refusal);
  }
  CHECK(folder.read("ready") == "late");
}

}  // namespace
}  // namespace htmtrace
