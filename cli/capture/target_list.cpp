// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/capture/target_list.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "cli/cpu_list.h"

namespace htmtrace {
namespace {

// The hypervisor's target word has 16 bits for each index (H_HTM, PAPR). A driver may accept fewer,
// and then reports an error.
constexpr uint32_t kLargestIndex = 0xffff;

std::optional<uint32_t> parse_index(std::string_view text) {
  uint32_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || value > kLargestIndex) return std::nullopt;
  return value;
}

// Removes the text up to the first comma from `text`, and returns it.
std::string_view next_word(std::string_view& text) {
  const size_t at = text.find(',');
  const std::string_view word = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return word;
}

std::optional<HtmType> parse_type(std::string_view text) {
  for (const HtmType type : {HtmType::kCore, HtmType::kNest, HtmType::kLlat}) {
    if (text == htm_type_name(type)) return type;
  }
  return std::nullopt;
}

bool has_core(HtmType type) {
  return type != HtmType::kNest;
}

void add_once(std::vector<TraceTarget>& list, const TraceTarget& target) {
  if (std::ranges::find(list, target) == list.end()) list.push_back(target);
}

}  // namespace

std::vector<uint32_t> parse_indices(const std::string& option, const std::string& text) {
  const auto nonsense = [&] {
    return CLI::ValidationError(
        option,
        fmt::format("{}: not a list such as 0-3,8 of numbers up to {}", text, kLargestIndex));
  };
  std::vector<uint32_t> indices;
  std::string_view rest = text;
  if (rest.empty() || rest.ends_with(',')) throw nonsense();
  while (!rest.empty()) {
    const std::string_view word = next_word(rest);
    const size_t dash = word.find('-');
    const auto low = parse_index(word.substr(0, dash));
    const auto high = dash == std::string_view::npos ? low : parse_index(word.substr(dash + 1));
    if (!low || !high || *low > *high) throw nonsense();
    for (uint32_t index = *low; index <= *high; index++) indices.push_back(index);
  }
  return indices;
}

std::vector<int> cpus_of_option(const std::string& option, const std::string& text) {
  if (const auto cpus = parse_cpu_list(text)) return *cpus;
  throw CLI::ValidationError(option, text + " is not a list such as 0-7,16");
}

std::vector<HtmType> parse_types(const std::string& text) {
  std::vector<HtmType> types;
  std::string_view rest = text;
  do {
    const bool more = rest.find(',') != std::string_view::npos;
    const auto type = parse_type(next_word(rest));
    if (!type || (more && rest.empty())) {
      throw CLI::ValidationError("--type", text + ": not core, nest or llat, or a list of them");
    }
    types.push_back(*type);
  } while (!rest.empty());
  return types;
}

TraceTarget parse_target(const std::string& text) {
  const auto nonsense = [&](const std::string& why) {
    return CLI::ValidationError("--target", fmt::format("{}: {}", text, why));
  };
  TraceTarget target;
  std::array<std::optional<uint32_t>, 3> indices;
  constexpr std::array<std::string_view, 3> kNames = {"node", "chip", "core"};
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view word = next_word(rest);
    const size_t equals = std::min(word.find('='), word.size());
    const std::string_view key = word.substr(0, equals);
    const std::string_view value = word.substr(std::min(equals + 1, word.size()));
    if (key == "type") {
      const auto type = parse_type(value);
      if (!type) throw nonsense("the type is not core, nest or llat");
      target.type = *type;
      continue;
    }
    const auto* name = std::ranges::find(kNames, key);
    if (name == kNames.end()) throw nonsense(fmt::format("a target has no field \"{}\"", key));
    const auto index = parse_index(value);
    if (!index) throw nonsense(fmt::format("{} is not a number up to {}", key, kLargestIndex));
    indices[static_cast<size_t>(name - kNames.begin())] = *index;
  }
  if (!indices[1]) throw nonsense("the chip is missing");
  if (!indices[2] && has_core(target.type)) throw nonsense("the core is missing");
  target.node = indices[0].value_or(0);
  target.chip = *indices[1];
  target.core = has_core(target.type) ? *indices[2] : 0;
  return target;
}

std::vector<TraceTarget> expand_targets(const TargetWords& words) {
  std::vector<TraceTarget> list;
  const bool combined = words.targets.empty() || !words.chips.empty() || !words.cores.empty();
  if (combined && words.chips.empty()) {
    throw CLI::RequiredError(words.accepts_targets ? "--chip (or --target)" : "--chip");
  }
  for (const HtmType type : words.types) {
    if (!combined) break;
    if (has_core(type) && words.cores.empty()) throw CLI::RequiredError("--core");
    const std::vector<uint32_t> nodes =
        words.nodes.empty() ? std::vector<uint32_t>{0} : words.nodes;
    const std::vector<uint32_t> cores = has_core(type) ? words.cores : std::vector<uint32_t>{0};
    for (const uint32_t node : nodes) {
      for (const uint32_t chip : words.chips) {
        for (const uint32_t core : cores) add_once(list, {node, chip, core, type});
      }
    }
  }
  for (const TraceTarget& target : words.targets) add_once(list, target);
  return list;
}

}  // namespace htmtrace
