// SPDX-License-Identifier: GPL-2.0-or-later
// Options with a whole number. CLI11 accepts -1 as the largest number, and its own checks print
// floating-point limits.
#pragma once

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace htmtrace {

// For Option::check().
inline CLI::Validator number_from(uint64_t least) {
  return {[least](std::string& text) -> std::string {
            const bool begins = !text.empty() && std::isdigit(static_cast<unsigned char>(text[0]));
            char* end = nullptr;
            errno = 0;
            const uint64_t value = begins ? std::strtoull(text.c_str(), &end, 0) : 0;
            if (begins && errno == 0 && *end == '\0' && value >= least) return {};
            return fmt::format("\"{}\" is not a number of at least {}", text, least);
          },
          ""};
}

}  // namespace htmtrace
