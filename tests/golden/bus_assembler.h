// SPDX-License-Identifier: GPL-2.0-or-later
// Converts lines of golden bus traces to words, with the test encoder. README.md describes the
// lines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace htmtrace::golden {

// Throws std::runtime_error.
std::vector<uint64_t> assemble_bus(bool power8, const std::string& line);

}  // namespace htmtrace::golden
