// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/manifest_reader.h"

#include <limits>
#include <nlohmann/json.hpp>

namespace htmtrace {

ManifestFacts read_manifest(std::span<const std::byte> text) {
  ManifestFacts facts;
  const auto* first = reinterpret_cast<const char*>(text.data());
  const nlohmann::json manifest =
      nlohmann::json::parse(first, first + text.size(), nullptr, /*allow_exceptions=*/false);
  if (!manifest.is_object()) {
    facts.problem = "it is no JSON object";
    return facts;
  }
  const auto partition = manifest.find("partition_id");
  if (partition == manifest.end() || partition->is_null()) return facts;
  if (!partition->is_number_unsigned() ||
      partition->get<uint64_t>() > std::numeric_limits<uint32_t>::max()) {
    facts.problem = "its partition_id is no partition's number";
    return facts;
  }
  facts.partition_id = partition->get<uint32_t>();
  return facts;
}

}  // namespace htmtrace
