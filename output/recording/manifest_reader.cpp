// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/recording/manifest_reader.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>

#include "core/base/budget.h"
#include "core/base/error.h"
#include "output/recording/manifest.h"

namespace htmtrace {

namespace {

using Json = nlohmann::json;

constexpr uint64_t kMostManifestBytes = 64 << 20;
// Exceeds the number of targets of any machine, as in a stream (core/selection/stream_frames.cpp).
constexpr size_t kMostTargets = 4096;

// Counts the memory that a document will take, without building it.
class DocumentSize : public nlohmann::json_sax<Json> {
 public:
  explicit DocumentSize(MemoryBudget& budget) : budget_(budget) {}

  bool null() override { return add(); }
  bool boolean(bool) override { return add(); }
  bool number_integer(number_integer_t) override { return add(); }
  bool number_unsigned(number_unsigned_t) override { return add(); }
  bool number_float(number_float_t, const string_t&) override { return add(); }
  bool string(string_t& text) override { return add(kTextBytes + text.size()); }
  bool binary(binary_t&) override { return add(); }
  bool start_object(size_t) override { return add(kListBytes); }
  bool start_array(size_t) override { return add(kListBytes); }
  bool key(string_t& name) override { return add(kNodeBytes + name.size()); }
  bool end_object() override { return true; }
  bool end_array() override { return true; }
  bool parse_error(size_t, const std::string&, const nlohmann::json::exception&) override {
    return false;
  }

 private:
  // On the heap: a text, a list or map, and a node of a map.
  static constexpr uint64_t kTextBytes = 64;
  static constexpr uint64_t kListBytes = 64;
  static constexpr uint64_t kNodeBytes = 128;

  bool add(uint64_t bytes = 0) {
    budget_.take(grown_bytes<Json>() + bytes);
    return true;
  }

  MemoryBudget& budget_;
};

std::optional<uint32_t> number_at(const Json& object, const char* key) {
  if (!object.is_object()) return std::nullopt;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
  const auto value = found->get<uint64_t>();
  if (value > std::numeric_limits<uint32_t>::max()) return std::nullopt;
  return static_cast<uint32_t>(value);
}

std::optional<HtmType> type_at(const Json& object) {
  if (!object.is_object()) return std::nullopt;
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

// Null for a key that is missing or null: its value is not known, which is valid.
const Json* known_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

bool is_other_than_text(const Json& object, const char* key) {
  const Json* const value = known_at(object, key);
  return value != nullptr && !value->is_string();
}

constexpr const char* kBuildIdKey = "kernel_build_id";

// Returns the bytes, or an empty string if the value is missing or not valid.
std::string build_id_at(const Json& host) {
  const std::string digits = text_at(host, kBuildIdKey);
  std::string bytes;
  if (digits.size() % 2 != 0) return bytes;
  bytes.reserve(digits.size() / 2);
  for (size_t at = 0; at < digits.size(); at += 2) {
    uint8_t byte = 0;
    const char* const end = digits.data() + at + 2;
    const auto [stop, failure] = std::from_chars(digits.data() + at, end, byte, 16);
    if (failure != std::errc{} || stop != end) return {};
    bytes.push_back(static_cast<char>(byte));
  }
  return bytes;
}

std::string invalid_member(const Json& file) {
  if (is_other_than_text(file, "file")) return "file is not text";
  for (const char* const key : {"bytes", "stored_bytes"}) {
    const Json* const value = known_at(file, key);
    if (value != nullptr && !value->is_number_unsigned())
      return std::string(key) + " is not a size";
  }
  const Json* const beginning = known_at(file, "beginning_crc32c");
  if (beginning == nullptr || beginning->is_number_unsigned()) return {};
  return "beginning_crc32c is not a number";
}

RecordedFile file_at(const Json& target, const char* key) {
  const Json* const file = known_at(target, key);
  RecordedFile recorded;
  if (file == nullptr) return recorded;
  if (!file->is_object()) {
    recorded.invalid = std::string(key) + " is not an object";
    return recorded;
  }
  recorded = {.name = text_at(*file, "file"),
              .invalid = invalid_member(*file),
              .bytes = size_at(*file, "bytes"),
              .stored_bytes = size_at(*file, "stored_bytes"),
              .beginning = size_at(*file, "beginning_crc32c")};
  if (!recorded.invalid.empty()) recorded.invalid.insert(0, std::string(key) + ".");
  return recorded;
}

constexpr const char* kStates[] = {"complete", "incomplete", "failed", "recording"};

std::string invalid_loss(const Json& loss) {
  if (!loss.is_object()) return "is not an object";
  for (const char* const key : {"target", "place", "cause"}) {
    if (is_other_than_text(loss, key)) return std::string("has a ") + key + " that is not text";
  }
  return {};
}

std::string invalid_host(const Json& manifest) {
  const Json* const host = known_at(manifest, "host");
  if (host == nullptr) return {};
  if (!host->is_object()) return "its host is not an object";
  if (known_at(*host, "pvr") != nullptr && !number_at(*host, "pvr")) {
    return "its host has a pvr that is not a processor version";
  }
  if (known_at(*host, kBuildIdKey) != nullptr && build_id_at(*host).empty()) {
    return "its host has a kernel_build_id that is not a build ID in hexadecimal";
  }
  return {};
}

// The first value of the manifest that is not valid. find_targets() checks the targets.
std::string invalid_value(const Json& manifest) {
  const Json* const format = known_at(manifest, "format");
  if (format != nullptr && *format != kManifestFormat) {
    return std::string("its format is not ") + kManifestFormat;
  }
  const Json* const version = known_at(manifest, "version");
  if (version != nullptr && *version != kManifestVersion) {
    return "its version is not " + std::to_string(kManifestVersion);
  }
  if (is_other_than_text(manifest, "state")) return "its state is not text";
  const std::string state = text_at(manifest, "state");
  if (known_at(manifest, "state") != nullptr &&
      std::ranges::find(kStates, state) == std::end(kStates)) {
    return "its state \"" + state + "\" is not known";
  }
  for (const char* const key : {"targets", "losses", "errors"}) {
    const Json* const list = known_at(manifest, key);
    if (list != nullptr && !list->is_array()) return std::string("its ") + key + " are not a list";
  }
  const Json* const losses = known_at(manifest, "losses");
  for (size_t i = 0; losses != nullptr && i < losses->size(); i++) {
    const std::string invalid = invalid_loss((*losses)[i]);
    if (!invalid.empty()) return "its loss " + std::to_string(i + 1) + " " + invalid;
  }
  return invalid_host(manifest);
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
  size_t number = 0;
  for (const Json& entry : *list) {
    if (number == kMostTargets) {
      facts.invalid = "it has more than " + std::to_string(kMostTargets) + " targets";
      return;
    }
    number++;
    const auto node = number_at(entry, "node");
    const auto chip = number_at(entry, "chip");
    const auto core = number_at(entry, "core");
    const auto type = type_at(entry);
    if (!node || !chip || !core || !type) {
      if (facts.invalid.empty()) {
        facts.invalid =
            "its target " + std::to_string(number) + " has no valid node, chip, core and type";
      }
      continue;
    }
    facts.targets.push_back({*node, *chip, *core, *type});
    facts.recorded.push_back(
        {.trace = file_at(entry, "trace"), .translation = file_at(entry, "translation")});
  }
}

}  // namespace

ManifestFacts read_manifest(std::span<const std::byte> text) {
  ManifestFacts facts;
  const auto* first = reinterpret_cast<const char*>(text.data());
  MemoryBudget budget(text.size());
  DocumentSize size(budget);
  try {
    Json::sax_parse(first, first + text.size(), &size);
  } catch (const Error& error) {
    facts.problem = error.what();
    facts.unreadable = true;
    return facts;
  }
  const Json manifest =
      Json::parse(first, first + text.size(), nullptr, /*allow_exceptions=*/false);
  if (!manifest.is_object()) {
    facts.problem = "it is not a JSON object";
    facts.unreadable = true;
    return facts;
  }
  facts.invalid = invalid_value(manifest);
  find_targets(manifest, facts);
  facts.unfinished = text_at(manifest, "state") == "recording";
  facts.failed = text_at(manifest, "state") == "failed";
  facts.error = first_error(manifest);
  facts.losses = losses_of(manifest);
  const auto host = manifest.find("host");
  if (host != manifest.end() && host->is_object()) {
    facts.pvr = number_at(*host, "pvr");
    facts.kernel_build_id = build_id_at(*host);
  }
  const auto partition = manifest.find("partition_id");
  if (partition == manifest.end() || partition->is_null()) return facts;
  facts.partition_id = number_at(manifest, "partition_id");
  if (!facts.partition_id) facts.problem = "its partition_id is not a partition's number";
  return facts;
}

ManifestFacts read_manifest(InputFile file) {
  return read_manifest(file.read_all(kMostManifestBytes));
}

}  // namespace htmtrace
