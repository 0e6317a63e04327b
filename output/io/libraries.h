// SPDX-License-Identifier: GPL-2.0-or-later
// The libraries of this build, for --version and reports of defects.
#pragma once

#include <string>
#include <vector>

namespace htmtrace {

struct Library {
  std::string name;
  std::string
      version;  // of the running library, or of the headers; empty if neither states a version
};

// Returns the libraries that this build uses, sorted by name.
std::vector<Library> used_libraries();

// Returns each optional library that this build lacks.
std::vector<std::string> absent_libraries();

}  // namespace htmtrace
