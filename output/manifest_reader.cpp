// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/manifest_reader.h"

#include <limits>
#include <nlohmann/json.hpp>

namespace htmtrace {

namespace {

using Json = nlohmann::json;

std::optional<uint32_t> number_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
  const auto value = found->get<uint64_t>();
  if (value > std::numeric_limits<uint32_t>::max()) return std::nullopt;
  return static_cast<uint32_t>(value);
}

std::optional<HtmType> type_at(const Json& object) {
  const auto found = object.find("type");
  if (found == object.end() || !found->is_string()) return std::nullopt;
  for (const HtmType type : {HtmType::kNest, HtmType::kCore, HtmType::kLlat}) {
    if (found->get_ref<const std::string&>() == htm_type_name(type)) return type;
  }
  return std::nullopt;
}

std::vector<TraceTarget> targets_of(const Json& manifest) {
  std::vector<TraceTarget> targets;
  const auto list = manifest.find("targets");
  if (list == manifest.end() || !list->is_array()) return targets;
  for (const Json& entry : *list) {
    if (!entry.is_object()) continue;
    const auto node = number_at(entry, "node");
    const auto chip = number_at(entry, "chip");
    const auto core = number_at(entry, "core");
    const auto type = type_at(entry);
    if (node && chip && core && type) targets.push_back({*node, *chip, *core, *type});
  }
  return targets;
}

}  // namespace

ManifestFacts read_manifest(std::span<const std::byte> text) {
  ManifestFacts facts;
  const auto* first = reinterpret_cast<const char*>(text.data());
  const Json manifest =
      Json::parse(first, first + text.size(), nullptr, /*allow_exceptions=*/false);
  if (!manifest.is_object()) {
    facts.problem = "it is no JSON object";
    return facts;
  }
  facts.targets = targets_of(manifest);
  const auto partition = manifest.find("partition_id");
  if (partition == manifest.end() || partition->is_null()) return facts;
  facts.partition_id = number_at(manifest, "partition_id");
  if (!facts.partition_id) facts.problem = "its partition_id is no partition's number";
  return facts;
}

}  // namespace htmtrace
