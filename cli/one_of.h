// SPDX-License-Identifier: GPL-2.0-or-later
// Options with a value from a list of names. CLI11's own transformer also prints the numbers of the
// names, and prints one-byte numbers as characters.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

namespace htmtrace {

// For Option::transform(); `values` must outlive the option.
template <class Value>
CLI::Validator one_of(const std::map<std::string, Value>& values) {
  return {[&values](std::string& text) -> std::string {
            const auto found = values.find(text);
            if (found != values.end()) {
              text = std::to_string(static_cast<int>(found->second));
              return {};
            }
            std::string names;
            for (const auto& [name, value] : values) names += (names.empty() ? "" : ", ") + name;
            return "\"" + text + "\" is not one of: " + names;
          },
          ""};
}

}  // namespace htmtrace
