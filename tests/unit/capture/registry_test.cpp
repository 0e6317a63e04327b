// SPDX-License-Identifier: GPL-2.0-or-later
// The recorders are child processes, registered in the folder of this user.
#include "cli/capture/registry.h"

#include <doctest/doctest.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

// A process that registers itself, runs `work`, and waits until the test ends it.
class OtherProcess {
 public:
  explicit OtherProcess(const std::function<void()>& work) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    const Fd begun(ends[0]);
    Fd told(ends[1]);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      try {
        work();
      } catch (...) {
        ::_exit(1);
      }
      told.reset();
      while (true) ::pause();
    }
    told.reset();
    char none = 0;
    CHECK(::read(begun.get(), &none, 1) == 0);
  }
  ~OtherProcess() { end(); }

  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  bool send(int signal) const { return ::kill(pid_, signal) == 0; }
  std::string id() const { return std::to_string(pid_); }

 private:
  pid_t pid_ = -1;
};

// Returns nothing if there is no such recorder.
std::optional<Recorder> find(const std::string& id) {
  for (Recorder& recorder : find_recorders()) {
    if (recorder.id() == id) return std::move(recorder);
  }
  return std::nullopt;
}

TEST_CASE("a recorder that did not begin is found only by a process that waits for it") {
  const TemporaryFolder folder;
  OtherProcess process([&] {
    static const Registration registration(folder.path() / "trace");
    ::signal(SIGUSR1, [](int) { registration.finish(4, false); });
  });
  const auto recorder = find(process.id());
  REQUIRE(recorder);
  CHECK(recorder->state() == Recorder::State::kRunning);
  REQUIRE(process.send(SIGUSR1));
  for (int i = 0; i < 1000 && find(process.id()); i++) ::usleep(10'000);
  CHECK(!find(process.id()));
  process.end();
  CHECK(recorder->end().status == 4);
}

TEST_CASE("ended recorders need no open file") {
  const TemporaryFolder folder;
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                         std::filesystem::directory_iterator());
  };
  OtherProcess process([&] {
    static const Registration registration(folder.path() / "trace");
    registration.finish(0, true);
  });
  const std::string id = process.id();
  process.end();
  const auto before = open_files();
  const std::vector<Recorder> recorders = find_recorders();
  const auto ended = std::ranges::count(recorders, Recorder::State::kEnded, &Recorder::state);
  CHECK(ended >= 1);
  CHECK(open_files() - before == static_cast<std::ptrdiff_t>(recorders.size()) - ended);
  CHECK(find(id)->end().status == 0);
}

TEST_CASE("a recorder is found while it runs and after its end") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "trace");
  OtherProcess process([&] {
    std::filesystem::current_path(folder.path());
    static const Registration registration("./trace/../trace");
    const std::string text = "htmtrace: saved\n";
    if (::write(registration.fd(), text.data(), text.size()) < 0) ::_exit(1);
    registration.finish(3, true);
  });
  const std::string id = process.id();
  const auto recorder = find(id);
  REQUIRE(recorder);
  CHECK(recorder->output() == absolute_path(folder.path() / "trace"));
  CHECK(recorder->describe() == fmt::format("{} ({})", id, recorder->output()));
  const Fd running = recorder->process();
  REQUIRE(running);
  pollfd ended{running.get(), POLLIN, 0};
  CHECK(::poll(&ended, 1, 0) == 0);
  process.end();
  CHECK(::poll(&ended, 1, 0) == 1);
  CHECK_FALSE(recorder->process());
  const RecorderEnd end = recorder->end();
  CHECK(end.messages == "htmtrace: saved\n");
  CHECK(end.status == 3);
  CHECK(find(id));
}

TEST_CASE("a recorder that was killed has no status") {
  OtherProcess process([] { static const Registration registration(""); });
  const std::string id = process.id();
  process.end();
  const auto recorder = find(id);
  REQUIRE(recorder);
  CHECK(recorder->describe() == id);
  CHECK_FALSE(recorder->process());
  CHECK_FALSE(recorder->end().status);
}

TEST_CASE("another process that has got a recorder's ID is no recorder") {
  OtherProcess process([] {
    // Closing any descriptor of the file gives up the lock, as the end of a recorder does.
    const Registration registration("/data/trace");
  });
  const auto recorder = find(process.id());
  REQUIRE(recorder);
  CHECK_FALSE(recorder->process());
}

TEST_CASE("a child of the recorder does not hold its lock") {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  OtherProcess process([&] {
    static const Registration registration("/data/trace");
    const pid_t child = ::fork();
    if (child == 0) {
      const auto fd = static_cast<unsigned>(registration.fd());
      ::close_range(STDERR_FILENO + 1, fd - 1, 0);
      ::close_range(fd + 1, ~0U, 0);
      while (true) ::pause();
    }
    if (::write(ends[1], &child, sizeof(child)) != sizeof(child)) ::_exit(1);
  });
  pid_t child = 0;
  REQUIRE(::read(ends[0], &child, sizeof(child)) == sizeof(child));
  ::close(ends[0]);
  ::close(ends[1]);
  const auto recorder = find(process.id());
  REQUIRE(recorder);
  CHECK(recorder->process());
  process.end();
  CHECK_FALSE(recorder->process());
  ::kill(child, SIGKILL);
}

}  // namespace
}  // namespace htmtrace
