// SPDX-License-Identifier: GPL-2.0-or-later
// Reads any bytes as a manifest.
#include <cstdint>
#include <cstdlib>

#include "output/recording/manifest_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const htmtrace::ManifestFacts facts =
      htmtrace::read_manifest(std::as_bytes(std::span(data, size)));
  if (facts.partition_id && !facts.problem.empty()) std::abort();
  return 0;
}
