// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/dtl/rotation.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/help.h"
#include "cli/number_from.h"
#include "cli/units.h"
#include "core/base/error.h"
#include "core/dispatch_log/blocks.h"
#include "output/recording/file_names.h"

namespace htmtrace {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kTryAgain{1};
constexpr std::chrono::minutes kFirstMinute{1};
constexpr std::chrono::seconds kShortest{1};
constexpr uint64_t kSmallestBytes = 1 << 20;
// Longer numbers are part of the names of other files.
constexpr uint64_t kHighest = 999'999'999'999;

// Returns true for a regular file that begins with an intact first block of htmtrace dtl.
bool is_recording(const std::filesystem::path& path) {
  std::error_code failure;
  if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(path, failure))) {
    return false;
  }
  std::array<char, kDtlHeaderBytes> first{};
  std::ifstream file(path, std::ios::binary);
  if (!file.read(first.data(), first.size())) return false;
  const auto header = parse_dtl_header(std::as_bytes(std::span(first)));
  if (!header || header->kind != DtlBlockKind::kStart || header->payload_bytes > kMostDtlPayload) {
    return false;
  }
  std::string text(header->payload_bytes, '\0');
  return file.read(text.data(), static_cast<std::streamsize>(text.size())) &&
         dtl_payload_intact(*header, std::as_bytes(std::span(text)));
}

// Returns true if the file ends with the end of a recording. A recorder cannot write the end if it
// is killed, or if a write fails.
bool has_end(const std::filesystem::path& path) {
  std::error_code failure;
  const uint64_t size = std::filesystem::file_size(path, failure);
  if (failure) return false;
  // The text of an end has a line for each loss, so it can be long.
  const uint64_t most = std::min<uint64_t>(size, kDtlHeaderBytes + kMostDtlPayload);
  std::vector<char> last(most);
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(size - most));
  if (!file.read(last.data(), static_cast<std::streamsize>(most))) return false;
  const auto bytes = std::as_bytes(std::span<const char>(last));
  for (size_t at = bytes.size(); at-- > 0;) {
    if (!is_dtl_recording(bytes.subspan(at))) continue;
    const auto header = parse_dtl_header(bytes.subspan(at));
    if (header) {
      return header->kind == DtlBlockKind::kEnd &&
             dtl_payload_intact(*header, bytes.subspan(at + kDtlHeaderBytes));
    }
  }
  return false;
}

// Accepts "1h", "500M", "1h,500M" and "500M,1h".
void parse_rotate(const std::string& text, DtlRotationOptions& options) {
  const auto refuse = [](const std::string& reason) {
    throw CLI::ValidationError("--rotate", reason);
  };
  std::string_view rest = text;
  for (bool more = true; more;) {
    const std::string part(rest.substr(0, rest.find(',')));
    more = part.size() < rest.size();
    rest.remove_prefix(part.size() + (more ? 1 : 0));
    const auto time = parse_duration(part);
    const auto size = parse_size(part);
    if (time && *time >= kShortest) {
      if (options.every) refuse(text + " has two times");
      options.every = time;
    } else if (!time && size && *size >= kSmallestBytes) {
      if (options.bytes) refuse(text + " has two sizes");
      options.bytes = size;
    } else if (part.empty()) {
      refuse(text + " is not TIME, SIZE or TIME,SIZE such as 1h,500M");
    } else {
      refuse(part + " is neither a time of at least 1s nor a size of at least 1M");
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
    : base_(std::move(base)), options_(options) {}

// Returns the files of the folder whose names are the name of the base and a number.
std::map<uint64_t, std::filesystem::path> DtlRotation::numbered() const {
  std::map<uint64_t, std::filesystem::path> files;
  const std::string prefix = base_.filename().string() + '.';
  const std::filesystem::path folder = base_.has_parent_path() ? base_.parent_path() : ".";
  std::error_code failure;
  std::filesystem::directory_iterator entry(folder, failure);
  for (; !failure && entry != std::filesystem::directory_iterator(); entry.increment(failure)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(prefix)) continue;
    const std::string_view digits = std::string_view(name).substr(prefix.size());
    if (!is_numbered_name(digits)) continue;
    uint64_t number = 0;
    const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    // Accept only the name that numbered_name() makes: other names can state the same number.
    if (end.ec == std::errc{} && number <= kHighest && numbered_name(number) == digits) {
      files.emplace(number, entry->path());
    }
  }
  if (failure) throw Error("cannot read the folder " + folder.string(), failure.value());
  return files;
}

std::filesystem::path DtlRotation::path_of(uint64_t number) const {
  return base_.string() + '.' + numbered_name(number);
}

std::filesystem::path DtlRotation::choose_next() {
  const auto files = numbered();
  chosen_ = std::max(number_, files.empty() ? 0 : files.rbegin()->first) + 1;
  if (chosen_ <= kHighest) return path_of(chosen_);
  throw Error(fmt::format("cannot number the next file: {} has the highest number",
                          files.rbegin()->second.string()))
      .hint("rename this file, or choose another name with -o");
}

void DtlRotation::began() {
  number_ = chosen_;
  removal_due_ = options_.keep.has_value();
  files_++;
  began_ = steady_clock::now();
}

bool DtlRotation::due(uint64_t bytes, bool failed, steady_clock::time_point now) const {
  if (now < not_before_) return false;
  if (failed) return now - began_ >= kTryAgain;
  if (options_.bytes && bytes >= *options_.bytes) return true;
  return options_.every && now - began_ >= *options_.every;
}

void DtlRotation::put_off() {
  not_before_ = steady_clock::now() + kTryAgain;
}

bool DtlRotation::first_minute(steady_clock::time_point now) const {
  return now - created_ < kFirstMinute;
}

bool DtlRotation::wants_removal(steady_clock::time_point now) const {
  return removal_due_ || (second_removal_due_ && !first_minute(now));
}

std::vector<std::string> DtlRotation::remove_old(steady_clock::time_point now) {
  std::vector<std::string> messages;
  removal_due_ = false;
  second_removal_due_ = first_minute(now);
  if (!options_.keep) return messages;
  const uint64_t keep = *options_.keep;
  const uint64_t most = first_minute(now) && keep < kHighest ? 2 * keep : keep;
  std::map<uint64_t, std::filesystem::path> files;
  try {
    files = numbered();
  } catch (const Error& error) {
    return {error.what()};
  }
  // Files to keep. The current file is one of them, unless it could not be created.
  uint64_t whole = files.contains(number_) ? 1 : 0, without_end = 0;
  for (auto file = std::make_reverse_iterator(files.lower_bound(number_)); file != files.rend();
       ++file) {
    const auto& [number, path] = *file;
    if (!is_recording(path)) continue;
    if (has_end(path) ? whole++ < most : without_end++ < keep) continue;
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
