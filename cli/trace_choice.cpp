// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/trace_choice.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

#include "core/error.h"
#include "output/manifest.h"

namespace htmtrace {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTracePrefix = "htm.bin.";
constexpr std::string_view kTranslationPrefix = "translation.";

// Takes `mark` and a number from the front of `text`.
bool take_number(std::string_view& text, char mark, uint32_t& number) {
  if (!text.starts_with(mark)) return false;
  const char* end = text.data() + text.size();
  const auto [after, failure] = std::from_chars(text.data() + 1, end, number);
  if (failure != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(after - text.data()));
  return true;
}

// Of "htm.bin.nN.pP.cC".
std::optional<ChosenTrace::Place> place_in_name(std::string_view name) {
  if (!name.starts_with(kTracePrefix)) return std::nullopt;
  name.remove_prefix(kTracePrefix.size());
  ChosenTrace::Place place;
  if (!take_number(name, 'n', place.node) || !name.starts_with('.')) return std::nullopt;
  name.remove_prefix(1);
  if (!take_number(name, 'p', place.chip) || !name.starts_with('.')) return std::nullopt;
  name.remove_prefix(1);
  if (!take_number(name, 'c', place.core) || !name.empty()) return std::nullopt;
  return place;
}

bool matches(const TargetFilter& filter, const ChosenTrace::Place& place) {
  return filter.node.value_or(place.node) == place.node &&
         filter.chip.value_or(place.chip) == place.chip &&
         filter.core.value_or(place.core) == place.core;
}

void add_folder(const fs::path& folder, const TargetFilter& filter,
                std::vector<ChosenTrace>& chosen) {
  const size_t before = chosen.size();
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    const auto place = place_in_name(entry->path().filename().string());
    if (place && matches(filter, *place)) chosen.push_back({entry->path(), place});
  }
  if (failure) throw Error("cannot read folder " + folder.string(), failure.value());
  if (chosen.size() == before) {
    throw Error("no such trace in folder " + folder.string())
        .hint("traces are named htm.bin.nN.pP.cC; htmtrace record -o DIR writes them");
  }
  std::sort(chosen.begin() + static_cast<ptrdiff_t>(before), chosen.end(),
            [](const ChosenTrace& a, const ChosenTrace& b) { return a.place < b.place; });
}

}  // namespace

std::string ChosenTrace::describe() const {
  if (!place) return fmt::format("file={}", path.string());
  return fmt::format("node={},chip={},core={} file={}", place->node, place->chip, place->core,
                     path.string());
}

std::string ChosenTrace::short_name() const {
  if (!place) return path.string();
  return fmt::format("n{}.p{}.c{}", place->node, place->chip, place->core);
}

std::optional<fs::path> ChosenTrace::translation_path() const {
  if (!place) return std::nullopt;
  std::string name = path.filename().string();
  name.replace(0, kTracePrefix.size(), kTranslationPrefix);
  return path.parent_path() / name;
}

std::optional<fs::path> ChosenTrace::manifest_path() const {
  if (!place) return std::nullopt;
  return path.parent_path() / kManifestName;
}

std::vector<ChosenTrace> choose_traces(const std::vector<std::string>& paths,
                                       const TargetFilter& filter) {
  std::vector<ChosenTrace> chosen;
  for (const std::string& name : paths) {
    const fs::path path(name);
    std::error_code failure;
    if (name == "-") {
      chosen.push_back({path, std::nullopt});
    } else if (fs::is_directory(path, failure)) {
      add_folder(path, filter, chosen);
    } else {
      chosen.push_back({path, place_in_name(path.filename().string())});
    }
  }
  return chosen;
}

}  // namespace htmtrace
