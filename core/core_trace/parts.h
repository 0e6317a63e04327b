// SPDX-License-Identifier: GPL-2.0-or-later
// Splits a core trace into parts that decode in parallel. A part starts at an IEARA, because the
// events after an IEARA hardly depend on earlier records (CoreDecoder::settled()).
#pragma once

#include <cstddef>
#include <span>

#include "core/base/big_endian.h"
#include "core/core_trace/words.h"

namespace htmtrace {

// The offset of the last words that look like an IEARA, excluding offset 0. Returns 0 when no such
// words exist. `bytes` begins at a word of the trace.
inline size_t last_line_offset(std::span<const std::byte> bytes) {
  const size_t count = bytes.size() / words::kWordBytes;
  for (size_t at = count < words::kIearaWords ? 0 : count - words::kIearaWords; at > 0; at--) {
    const std::byte* const word = bytes.data() + at * words::kWordBytes;
    if (load_be64(word) == words::kIearaHeader &&
        words::ieara_page_tail_clear(load_be64(word + 2 * words::kWordBytes))) {
      return at * words::kWordBytes;
    }
  }
  return 0;
}

}  // namespace htmtrace
