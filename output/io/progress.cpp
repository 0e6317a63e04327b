// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/io/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include "core/base/counted.h"
#include "core/base/size_text.h"
#include "output/io/json_writer.h"

namespace htmtrace {
namespace {

using std::chrono::duration;
using std::chrono::seconds;

// A rate over a shorter time is meaningless.
constexpr double kLeastSeconds = 0.1;

}  // namespace

Progress::Progress(std::FILE* stream, Style style) : stream_(stream), style_(style) {
  if (style_ == Style::kTerminal && ::isatty(fileno(stream)) != 1) style_ = Style::kNone;
}

void Progress::recording(std::optional<std::chrono::nanoseconds> left) {
  if (!due(Phase::kRecording)) return;
  const double passed = duration<double>(Clock::now() - start_).count();
  const double rest = left ? duration<double>(*left).count() : 0;
  if (style_ == Style::kJson) {
    JsonWriter json(JsonWriter::Layout::kSpaced);
    json.begin_object();
    json.text("phase", "recording");
    json.formatted("elapsed_s", fmt::format("{:.3f}", passed));
    left ? json.formatted("left_s", fmt::format("{:.3f}", rest)) : json.null("left_s");
    json.end_object();
    show(json.take_part());
  } else if (left) {
    show(fmt::format("recording for {:.0f} s, {:.0f} s left", passed, rest));
  } else {
    show(fmt::format("recording for {:.0f} s; Ctrl-C ends it", passed));
  }
}

void Progress::draining(uint64_t bytes, uint64_t total_bytes, uint64_t losses) {
  if (style_ != Style::kJson) {
    moving("saving", bytes, total_bytes,
           losses == 0 ? std::string("nothing lost") : counted(losses, "loss"));
    return;
  }
  if (!due(Phase::kMoving)) return;
  JsonWriter json(JsonWriter::Layout::kSpaced);
  json.begin_object();
  json.text("phase", "saving");
  json.number("bytes", bytes);
  total_bytes == 0 ? json.null("total_bytes") : json.number("total_bytes", total_bytes);
  json.formatted("bytes_per_s", fmt::format("{:.0f}", rate(bytes)));
  json.number("losses", losses);
  json.end_object();
  show(json.take_part());
}

void Progress::ended(const char* unit, uint64_t amount, uint64_t recordings, uint64_t incomplete,
                     uint64_t failed) {
  if (style_ != Style::kJson) return;
  JsonWriter json(JsonWriter::Layout::kSpaced);
  json.begin_object();
  json.text("phase", "ended");
  json.number(unit, amount);
  json.number("recordings", recordings);
  json.number("incomplete", incomplete);
  json.number("failed", failed);
  json.end_object();
  show(json.take_part());
}

void Progress::decoding(uint64_t bytes, uint64_t total_bytes, const std::string& losses) {
  moving("decoding", bytes, total_bytes, losses);
}

// The rate since this phase began, or 0 while the rate is meaningless.
double Progress::rate(uint64_t bytes) const {
  const double passed = duration<double>(Clock::now() - phase_start_).count();
  return passed >= kLeastSeconds ? static_cast<double>(bytes) / passed : 0;
}

void Progress::moving(const char* verb, uint64_t bytes, uint64_t total_bytes,
                      const std::string& losses) {
  if (!due(Phase::kMoving)) return;
  const double speed = rate(bytes);
  std::string line = fmt::format("{}: {}", verb, rounded_size(bytes));
  if (total_bytes != 0) line += fmt::format(" of {}", rounded_size(total_bytes));
  if (speed > 0) line += fmt::format(", {}/s", rounded_size(static_cast<uint64_t>(speed)));
  line += ", " + losses;
  if (total_bytes > bytes && speed >= 1) {
    line += fmt::format(", {:.0f} s left", static_cast<double>(total_bytes - bytes) / speed);
  }
  show(line);
}

void Progress::clear() {
  if (!shown_) return;
  put("\r\033[K");
  shown_ = false;
}

bool Progress::due(Phase phase) {
  if (style_ == Style::kNone) return false;
  const auto time = Clock::now();
  const bool begins = phase != phase_;
  if (begins) phase_start_ = time;
  phase_ = phase;
  if (time < next_ && !(begins && style_ == Style::kJson)) return false;
  next_ = time + seconds(1);
  return true;
}

void Progress::show(const std::string& line) {
  if (style_ == Style::kJson) {
    put(line + "\n");
  } else {
    put("\r\033[K" + line);
    shown_ = true;
  }
  std::fflush(stream_);
}

// Drops progress that cannot be written; fmt::print() would throw.
void Progress::put(const std::string& text) {
  std::fputs(text.c_str(), stream_);
}

}  // namespace htmtrace
