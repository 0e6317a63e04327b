// SPDX-License-Identifier: GPL-2.0-or-later
// A trace in memory as the input of ParallelDecode, and a string as its output.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "output/print/part_printer.h"

namespace htmtrace {

// `trace` and `text` must outlive the result.
inline DecodeStreams streams_of(std::span<const std::byte> trace, std::string& text) {
  return {
      .read =
          [left = trace](std::span<std::byte> buffer) mutable {
            const size_t got = std::min(buffer.size(), left.size());
            std::copy_n(left.begin(), got, buffer.begin());
            left = left.subspan(got);
            return got;
          },
      .write =
          [&text](std::string_view more) {
            text += more;
            return true;
          },
      .progress = [](uint64_t, const CoreStatistics&) {},
  };
}

}  // namespace htmtrace
