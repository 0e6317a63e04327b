// SPDX-License-Identifier: GPL-2.0-or-later
// The line on the terminal that shows how a recording or a decoding gets on.
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

  // Shows something only if `stream` is a terminal.
  explicit Progress(std::FILE* stream);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // The trace is being made; nobody can see yet how much there is.
  void recording(std::optional<std::chrono::nanoseconds> left);

  // The trace is being taken out. `total_bytes` is 0 when it is not known.
  void draining(uint64_t bytes, uint64_t total_bytes, uint64_t losses);

  // The trace is being decoded.
  void decoding(uint64_t bytes, uint64_t total_bytes, const std::string& losses);

  // Removes the line, so that something else can be printed.
  void clear();

 private:
  bool due();
  void moving(const char* verb, uint64_t bytes, uint64_t total_bytes, const std::string& losses);
  void show(const std::string& line);

  std::FILE* stream_;
  bool terminal_;
  bool shown_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = start_;
  std::optional<Clock::time_point> moving_since_;
};

// "1.5 GiB", "12 KiB", "700 bytes".
std::string human_bytes(uint64_t bytes);

}  // namespace htmtrace
