// SPDX-License-Identifier: GPL-2.0-or-later
// Converts lines such as "ieara c000000000ed8d80 ed8d80" to trace words with the test encoder.
// tests/golden/README.md lists the lines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace htmtrace::golden {

// Throws std::runtime_error for an unknown line.
std::vector<uint64_t> assemble(const std::string& line);

}  // namespace htmtrace::golden
