// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <array>

namespace htmtrace {
namespace {

using std::chrono::duration;
using std::chrono::seconds;

}  // namespace

Progress::Progress(std::FILE* stream) : stream_(stream), terminal_(::isatty(fileno(stream)) == 1) {}

void Progress::recording(std::optional<std::chrono::nanoseconds> left) {
  if (!due()) return;
  const auto passed = std::chrono::duration_cast<seconds>(Clock::now() - start_);
  if (left) {
    show(fmt::format("recording for {} s, {:.0f} s left", passed.count(),
                     duration<double>(*left).count()));
  } else {
    show(fmt::format("recording for {} s; Ctrl-C ends it", passed.count()));
  }
}

void Progress::draining(uint64_t bytes, uint64_t total_bytes, uint64_t losses) {
  moving("saving", bytes, total_bytes,
         losses == 0 ? std::string("nothing lost") : fmt::format("{} losses", losses));
}

void Progress::decoding(uint64_t bytes, uint64_t total_bytes, const std::string& losses) {
  moving("decoding", bytes, total_bytes, losses);
}

void Progress::moving(const char* verb, uint64_t bytes, uint64_t total_bytes,
                      const std::string& losses) {
  if (!moving_since_) moving_since_ = Clock::now();
  if (!due()) return;
  const double passed = duration<double>(Clock::now() - *moving_since_).count();
  const double rate = passed > 0 ? static_cast<double>(bytes) / passed : 0;
  std::string line = fmt::format("{}: {}", verb, human_bytes(bytes));
  if (total_bytes != 0) line += fmt::format(" of {}", human_bytes(total_bytes));
  line += fmt::format(", {}/s, {}", human_bytes(static_cast<uint64_t>(rate)), losses);
  if (total_bytes > bytes && rate >= 1) {
    line += fmt::format(", {:.0f} s left", static_cast<double>(total_bytes - bytes) / rate);
  }
  show(line);
}

void Progress::clear() {
  if (!shown_) return;
  fmt::print(stream_, "\r\033[K");
  shown_ = false;
}

bool Progress::due() {
  if (!terminal_ || Clock::now() < next_) return false;
  next_ = Clock::now() + seconds(1);
  return true;
}

void Progress::show(const std::string& line) {
  fmt::print(stream_, "\r\033[K{}", line);
  std::fflush(stream_);
  shown_ = true;
}

std::string human_bytes(uint64_t bytes) {
  static constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  double amount = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (amount >= 1024 && unit + 1 < kUnits.size()) {
    amount /= 1024;
    unit++;
  }
  return fmt::format("{:.1f} {}", amount, kUnits[unit]);
}

}  // namespace htmtrace
