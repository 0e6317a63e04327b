// SPDX-License-Identifier: GPL-2.0-or-later
// Shows the progress of a recording or of decoding: a line on the terminal, or objects for
// programs.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

namespace htmtrace {

class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  enum class Style : uint8_t {
    kNone,
    kTerminal,  // a line that is overwritten, if the stream is a terminal
    kJson,      // a line with an object once a second, and at the start of each phase
  };

  explicit Progress(std::FILE* stream, Style style = Style::kTerminal);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // The hardware is tracing. The amount of trace is not known yet.
  void recording(std::optional<std::chrono::nanoseconds> left);

  // htmtrace is draining the trace. `total_bytes` is 0 if the total is not known.
  void draining(uint64_t bytes, uint64_t total_bytes, uint64_t losses);

  // The command has finished. `amount` is a number of `unit`, such as "bytes". Prints only with
  // Style::kJson, because the command prints a last line for people.
  void ended(const char* unit, uint64_t amount, uint64_t recordings, uint64_t incomplete,
             uint64_t failed);

  // htmtrace is decoding the trace.
  void decoding(uint64_t bytes, uint64_t total_bytes, const std::string& losses);

  // Removes the line before other text is printed.
  void clear();

 private:
  enum class Phase : uint8_t { kNothing, kRecording, kMoving };

  bool due(Phase phase);
  double rate(uint64_t bytes) const;
  void moving(const char* verb, uint64_t bytes, uint64_t total_bytes, const std::string& losses);
  void show(const std::string& line);
  void put(const std::string& text);

  std::FILE* stream_;
  Style style_;
  Phase phase_ = Phase::kNothing;
  bool shown_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = start_;
  Clock::time_point phase_start_ = start_;
};

}  // namespace htmtrace
