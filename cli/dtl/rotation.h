// SPDX-License-Identifier: GPL-2.0-or-later
// The files of a dispatch trace log that is recorded in several files, one after another:
// FILE.0001, FILE.0002 and so on. A later recording continues the numbers.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace htmtrace {

struct DtlRotationOptions {
  // At least one of the first two is set.
  std::optional<std::chrono::nanoseconds> every{};
  std::optional<uint64_t> bytes{};
  std::optional<uint64_t> keep{};  // number of newest files to keep
};

// --rotate and --keep
void declare_dtl_rotation(CLI::App& app, std::optional<DtlRotationOptions>& options);

class DtlRotation {
 public:
  // `base` is FILE, without a number.
  DtlRotation(std::filesystem::path base, const DtlRotationOptions& options);

  // The path of the current file.
  std::filesystem::path current() const { return path_of(number_); }
  // Returns the path of the next file: its number is higher than the numbers of all existing files.
  // Throws Error if no such number is left.
  std::filesystem::path choose_next();
  // Call it when the chosen file has been created.
  void began();
  uint64_t files() const { return files_; }

  // Returns true if the next file should begin. `bytes` is the size of the current file; `failed`:
  // the current file could not be written. On a disk with errors, each file lasts at least a
  // second.
  bool due(uint64_t bytes, bool failed,
           std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now()) const;
  // Call it if the next file cannot be created. due() then returns false for a second.
  void put_off();

  // Returns true if old files should be removed: a file has begun, or the first minute of this
  // recording has ended.
  bool wants_removal(
      std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now()) const;
  // Removes recordings that are older than the current file, including parts of earlier recordings.
  // Keeps --keep whole files, one of which is the current file, and twice as many in the first
  // minute: a recorder that fails and restarts again and again must not at once remove all earlier
  // files. Also keeps the newest --keep files without an end, which therefore do not displace whole
  // files. Returns a message for each file that cannot be removed, or one if the folder cannot be
  // read.
  std::vector<std::string> remove_old(
      std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now());
  uint64_t removed() const { return removed_; }

 private:
  bool first_minute(std::chrono::steady_clock::time_point now) const;
  // Throws Error.
  std::map<uint64_t, std::filesystem::path> numbered() const;
  std::filesystem::path path_of(uint64_t number) const;

  std::filesystem::path base_;
  DtlRotationOptions options_;
  uint64_t number_ = 0;  // of the current file
  uint64_t chosen_ = 0;  // of the next file
  bool removal_due_ = false;
  bool second_removal_due_ = false;  // after the first minute
  uint64_t files_ = 0;
  uint64_t removed_ = 0;
  std::chrono::steady_clock::time_point began_, not_before_;
  std::chrono::steady_clock::time_point created_ = std::chrono::steady_clock::now();
};

}  // namespace htmtrace
