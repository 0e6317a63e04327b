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

std::optional<uint64_t> size_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<uint64_t>();
}

std::string text_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return {};
  return found->get<std::string>();
}

RecordedFile file_at(const Json& target, const char* key) {
  const auto found = target.find(key);
  if (found == target.end() || !found->is_object()) return {};
  return {.name = text_at(*found, "file"),
          .bytes = size_at(*found, "bytes"),
          .stored_bytes = size_at(*found, "stored_bytes"),
          .beginning = size_at(*found, "beginning_crc32c")};
}

std::vector<RecordedLoss> losses_of(const Json& manifest) {
  std::vector<RecordedLoss> losses;
  const auto list = manifest.find("losses");
  if (list == manifest.end() || !list->is_array()) return losses;
  for (const Json& entry : *list) {
    if (!entry.is_object()) continue;
    losses.push_back({.target = text_at(entry, "target"),
                      .place = text_at(entry, "place"),
                      .cause = text_at(entry, "cause")});
  }
  return losses;
}

std::string first_error(const Json& manifest) {
  const auto list = manifest.find("errors");
  if (list == manifest.end() || !list->is_array()) return {};
  for (const Json& entry : *list) {
    if (entry.is_string()) return entry.get<std::string>();
  }
  return {};
}

void find_targets(const Json& manifest, ManifestFacts& facts) {
  const auto list = manifest.find("targets");
  if (list == manifest.end() || !list->is_array()) return;
  for (const Json& entry : *list) {
    if (!entry.is_object()) continue;
    const auto node = number_at(entry, "node");
    const auto chip = number_at(entry, "chip");
    const auto core = number_at(entry, "core");
    const auto type = type_at(entry);
    if (!node || !chip || !core || !type) continue;
    facts.targets.push_back({*node, *chip, *core, *type});
    facts.recorded.push_back(
        {.trace = file_at(entry, "trace"), .translation = file_at(entry, "translation")});
  }
}

}  // namespace

ManifestFacts read_manifest(std::span<const std::byte> text) {
  ManifestFacts facts;
  const auto* first = reinterpret_cast<const char*>(text.data());
  const Json manifest =
      Json::parse(first, first + text.size(), nullptr, /*allow_exceptions=*/false);
  if (!manifest.is_object()) {
    facts.problem = "it is no JSON object";
    facts.unreadable = true;
    return facts;
  }
  find_targets(manifest, facts);
  facts.unfinished = text_at(manifest, "state") == "recording";
  facts.failed = text_at(manifest, "state") == "failed";
  facts.error = first_error(manifest);
  facts.losses = losses_of(manifest);
  const auto partition = manifest.find("partition_id");
  if (partition == manifest.end() || partition->is_null()) return facts;
  facts.partition_id = number_at(manifest, "partition_id");
  if (!facts.partition_id) facts.problem = "its partition_id is no partition's number";
  return facts;
}

}  // namespace htmtrace
