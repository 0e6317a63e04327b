// SPDX-License-Identifier: GPL-2.0-or-later
// Where a core trace may be cut into parts that are decoded at the same time: before an IEARA, for
// what it and all behind it mean does hardly depend on what came before (CoreDecoder::settled()).
#pragma once

#include <cstddef>
#include <span>

#include "core/big_endian.h"
#include "core/core_words.h"

namespace htmtrace {

// Where the last of the words lies that look like the begin of an IEARA, other than at the begin of
// `bytes`; 0 when there is none. `bytes` begins at a word of the trace.
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
