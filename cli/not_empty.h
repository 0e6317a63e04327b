// SPDX-License-Identifier: GPL-2.0-or-later
// Options that name an output.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace htmtrace {

// For Option::check(). `object` is "file" or "folder".
inline CLI::Validator not_empty(const std::string& object) {
  return {[object](std::string& name) -> std::string {
            return name.empty() ? "the name of the " + object + " is empty" : "";
          },
          ""};
}

}  // namespace htmtrace
