// SPDX-License-Identifier: GPL-2.0-or-later
// Any bytes as a compressed or plain file. A second pass, after going back to the start, gives the
// same bytes.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "core/base/error.h"
#include "output/io/input_file.h"
#include "tests/fuzz/memory_file.h"

namespace {

// A small file may hold gigabytes.
constexpr size_t kMostBytes = 1 << 20;

std::vector<std::byte> begin_of(htmtrace::InputFile& file, size_t piece_bytes) {
  std::vector<std::byte> bytes(kMostBytes);
  size_t used = 0;
  while (used < bytes.size()) {
    const auto room = std::span(bytes).subspan(used, std::min(piece_bytes, bytes.size() - used));
    const size_t got = file.read(room);
    if (got > room.size()) std::abort();
    if (got == 0) break;
    used += got;
  }
  bytes.resize(used);
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string path = htmtrace::path_of(data, size);
  try {
    htmtrace::InputFile file = htmtrace::InputFile::open_unpacked(path);
    const std::vector<std::byte> first = begin_of(file, 4096);
    file.go_to(0);
    if (begin_of(file, 333) != first) std::abort();
    const size_t skipped = first.size() / 2;
    file.go_to(skipped);
    const std::vector<std::byte> rest = begin_of(file, 65536);
    const size_t same = std::min(rest.size(), first.size() - skipped);
    if (!std::equal(rest.begin(), rest.begin() + static_cast<ptrdiff_t>(same),
                    first.begin() + static_cast<ptrdiff_t>(skipped))) {
      std::abort();
    }
  } catch (const htmtrace::Error&) {
    return 0;  // rejected
  }
  try {
    htmtrace::InputFile::open_unpacked(path).read_all(kMostBytes);
  } catch (const htmtrace::Error&) {
    return 0;  // too large, or damaged
  }
  return 0;
}
