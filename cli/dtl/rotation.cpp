// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/dtl/rotation.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/help.h"
#include "cli/number_from.h"
#include "cli/units.h"
#include "core/dispatch_log/blocks.h"
#include "output/recording/file_names.h"

namespace htmtrace {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kTryAgain{1};
constexpr std::chrono::seconds kShortest{1};
constexpr uint64_t kSmallestBytes = 1 << 20;

// Returns true for a regular file that htmtrace dtl wrote.
bool is_recording(const std::filesystem::directory_entry& entry) {
  std::error_code failure;
  if (!std::filesystem::is_regular_file(entry.symlink_status(failure)) || failure) return false;
  std::array<char, kDtlMagicBytes> first{};
  std::ifstream file(entry.path(), std::ios::binary);
  return file.read(first.data(), first.size()) && is_dtl_recording(std::as_bytes(std::span(first)));
}

// "1h", "500M" or "1h,500M"
void parse_rotate(const std::string& text, DtlRotationOptions& options) {
  for (const std::string& part : CLI::detail::split(text, ',')) {
    const auto time = parse_duration(part);
    const auto size = parse_size(part);
    if (time && *time >= kShortest) {
      options.every = time;
    } else if (!time && size && *size >= kSmallestBytes) {
      options.bytes = size;
    } else {
      throw CLI::ValidationError(
          "--rotate", part + " is neither a time of at least 1s nor a size of at least 1M");
    }
  }
}

}  // namespace

void declare_dtl_rotation(CLI::App& app, std::optional<DtlRotationOptions>& options) {
  app.option_defaults()->group(kScheduleGroup);
  const auto some = [&options]() -> DtlRotationOptions& {
    return options ? *options : options.emplace();
  };
  CLI::Option* const rotate =
      app.add_option_function<std::string>(
             "--rotate", [some](const std::string& text) { parse_rotate(text, some()); },
             "Start a new file after each TIME, or at SIZE: 1h, 500M")
          ->type_name("TIME,SIZE");
  app.add_option_function<uint64_t>(
         "--keep", [some](const uint64_t& count) { some().keep = count; },
         "Keep only the newest N files [all]")
      ->check(number_from(1))
      ->type_name("N")
      ->needs(rotate);
}

DtlRotation::DtlRotation(std::filesystem::path base, const DtlRotationOptions& options)
    : base_(std::move(base)), options_(options) {
  if (const auto files = numbered(); !files.empty()) number_ = files.rbegin()->first;
}

// Returns the files of the folder whose names are the name of the base and a number.
std::map<uint64_t, std::filesystem::path> DtlRotation::numbered() const {
  std::map<uint64_t, std::filesystem::path> files;
  const std::string prefix = base_.filename().string() + '.';
  const std::filesystem::path folder = base_.has_parent_path() ? base_.parent_path() : ".";
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix)) continue;
    const std::string_view digits = std::string_view(name).substr(prefix.size());
    if (!is_numbered_name(digits)) continue;
    uint64_t number = 0;
    const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    // Accept only the name that numbered_name() makes: other names can state the same number.
    if (end.ec == std::errc{} && number < std::numeric_limits<uint64_t>::max() &&
        numbered_name(number) == digits) {
      files.emplace(number, entry.path());
    }
  }
  return files;
}

std::filesystem::path DtlRotation::path_of(uint64_t number) const {
  return base_.string() + '.' + numbered_name(number);
}

void DtlRotation::began() {
  number_++;
  files_++;
  began_ = steady_clock::now();
}

bool DtlRotation::due(uint64_t bytes, bool failed) const {
  const auto now = steady_clock::now();
  if (now < not_before_) return false;
  if (failed) return true;
  if (options_.bytes && bytes >= *options_.bytes) return true;
  return options_.every && now - began_ >= *options_.every;
}

void DtlRotation::put_off() {
  not_before_ = steady_clock::now() + kTryAgain;
}

std::vector<std::string> DtlRotation::remove_old() {
  std::vector<std::string> messages;
  if (!options_.keep) return messages;
  for (const auto& [number, path] : numbered()) {
    if (number + *options_.keep > number_) break;
    if (!is_recording(std::filesystem::directory_entry(path))) continue;
    std::error_code failure;
    if (std::filesystem::remove(path, failure)) {
      removed_++;
    } else if (failure) {
      messages.push_back(fmt::format("cannot remove {}: {}", path.string(), failure.message()));
    }
  }
  return messages;
}

}  // namespace htmtrace
