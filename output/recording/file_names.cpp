// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/recording/file_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <unordered_map>

namespace htmtrace {
namespace {

constexpr std::string_view kTracePrefix = "htm.bin.";
constexpr std::string_view kTranslationPrefix = "translation.";

bool remove_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Removes `mark` and a number from the front of `text`.
bool remove_number(std::string_view& text, std::string_view mark, uint32_t& number) {
  if (!remove_prefix(text, mark)) return false;
  const auto [after, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(after - text.data()));
  return true;
}

std::string_view packed_suffix_of(std::string_view name) {
  for (const std::string_view suffix : kPackedSuffixes) {
    if (name.ends_with(suffix)) return suffix;
  }
  return {};
}

}  // namespace

std::string file_suffix(uint32_t node, uint32_t chip, uint32_t core) {
  return fmt::format("n{}.p{}.c{}", node, chip, core);
}

std::vector<std::string> file_suffixes(const std::vector<TraceTarget>& targets) {
  std::vector<std::string> suffixes;
  std::unordered_map<std::string, size_t> count_of;
  for (const TraceTarget& target : targets) {
    suffixes.push_back(file_suffix(target.node, target.chip, target.core));
    count_of[suffixes.back()]++;
  }
  for (size_t i = 0; i < targets.size(); i++) {
    if (count_of[suffixes[i]] > 1)
      suffixes[i] += fmt::format(".t{}", static_cast<int>(targets[i].type));
  }
  return suffixes;
}

std::string trace_file_name(const std::string& suffix) {
  return std::string(kTracePrefix) + suffix;
}

std::string translation_file_name(const std::string& suffix) {
  return std::string(kTranslationPrefix) + suffix;
}

std::optional<RecordedFileName> parse_file_name(std::string_view name) {
  RecordedFileName parsed;
  parsed.packed_suffix = packed_suffix_of(name);
  name.remove_suffix(parsed.packed_suffix.size());
  if (remove_prefix(name, kTranslationPrefix)) {
    parsed.kind = RecordedFileName::Kind::kTranslation;
  } else if (!remove_prefix(name, kTracePrefix)) {
    return std::nullopt;
  }
  parsed.suffix = name;
  if (!remove_number(name, "n", parsed.node) || !remove_number(name, ".p", parsed.chip) ||
      !remove_number(name, ".c", parsed.core)) {
    return std::nullopt;
  }
  if (name.empty()) return parsed;
  uint32_t type = 0;
  if (!remove_number(name, ".t", type) || !name.empty() || type < 1 || type > 3) {
    return std::nullopt;
  }
  parsed.type = static_cast<HtmType>(type);
  return parsed;
}

std::string_view without_packed_suffix(std::string_view name) {
  name.remove_suffix(packed_suffix_of(name).size());
  return name;
}

bool is_recording_file(std::string_view name) {
  if (const auto parsed = parse_file_name(name)) {
    return parsed->packed_suffix.empty() || parsed->packed_suffix == kRecordedPackedSuffix;
  }
  constexpr std::string_view kOthers[] = {kManifestName, kKallsymsName, kMapsName, kPagesName};
  return std::ranges::find(kOthers, name) != std::end(kOthers);
}

std::string numbered_name(uint64_t number) {
  return fmt::format("{:04}", number);
}

bool is_numbered_name(std::string_view name) {
  return name.size() >= 4 && name.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_numbered(const std::filesystem::path& folder) {
  std::error_code failure;
  const auto whole = std::filesystem::weakly_canonical(folder.empty() ? "." : folder, failure);
  return !failure && is_numbered_name(whole.filename().string());
}

}  // namespace htmtrace
