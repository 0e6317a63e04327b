// SPDX-License-Identifier: GPL-2.0-or-later
// Text without a reader: the writer can give up on request, and then states the lost amount.
#include "output/io/text_output.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

#include <chrono>
#include <future>
#include <string>
#include <thread>

#include "core/base/fd.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

using std::chrono::milliseconds;

// A pipe whose reader does nothing by itself.
class UnreadPipe {
 public:
  UnreadPipe() {
    REQUIRE(::mkfifo(path_.c_str(), 0600) == 0);
    reader_ = Fd(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    REQUIRE(reader_);
  }

  TextOutput writer() const { return TextOutput::create(path_, Existing::kReplace); }

  // Returns the bytes in the pipe.
  std::string read() const {
    std::string all, piece(1 << 16, 0);
    for (ssize_t got; (got = ::read(reader_.get(), piece.data(), piece.size())) > 0;) {
      all.append(piece, 0, static_cast<size_t>(got));
    }
    return all;
  }

 private:
  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "pipe";
  Fd reader_;
};

std::string numbered_lines(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; i++) text += std::to_string(i) + "\n";
  return text;
}

}  // namespace

TEST_CASE("an unread pipe is given up, and unwritten text is counted") {
  const UnreadPipe pipe;
  TextOutput output = pipe.writer();
  const Fd give_up(::eventfd(0, EFD_CLOEXEC));
  output.give_up_on(give_up.get(), milliseconds(1));
  const std::string text = numbered_lines(100'000);
  auto written = std::async(std::launch::async, [&] {
    output.put_large(text);
    output.put("more");
    output.flush();
  });
  while (output.waiting() == std::chrono::nanoseconds(0)) std::this_thread::yield();
  REQUIRE(written.wait_for(milliseconds(0)) != std::future_status::ready);
  REQUIRE(::eventfd_write(give_up.get(), 1) == 0);
  written.get();
  const std::string taken = pipe.read();
  CHECK(taken == text.substr(0, taken.size()));
  CHECK(taken.size() + output.unwritten_bytes() == text.size() + 4);
  CHECK(output.unwritten_bytes() > 4);
  CHECK_FALSE(output.reader_gone());
  CHECK(output.waiting() == std::chrono::nanoseconds(0));
}

TEST_CASE("a slowly read pipe gets all text") {
  const UnreadPipe pipe;
  TextOutput output = pipe.writer();
  const Fd give_up(::eventfd(0, EFD_CLOEXEC));
  output.give_up_on(give_up.get(), std::chrono::minutes(1));
  REQUIRE(::eventfd_write(give_up.get(), 1) == 0);
  const std::string text = numbered_lines(300'000);
  auto written = std::async(std::launch::async, [&] { output.put_large(text); });
  std::string taken;
  while (taken.size() < text.size()) taken += pipe.read();
  written.get();
  CHECK(taken == text);
  CHECK(output.unwritten_bytes() == 0);
}

TEST_CASE("a regular file always has room, even after giving up was requested") {
  const TemporaryFolder folder;
  TextOutput output = TextOutput::create(folder.path() / "text", Existing::kRefuse);
  const Fd give_up(::eventfd(1, EFD_CLOEXEC));
  output.give_up_on(give_up.get(), milliseconds(0));
  output.put_large("all of it");
  output.finish();
  CHECK(folder.read("text") == "all of it");
  CHECK(output.unwritten_bytes() == 0);
}

}  // namespace htmtrace
