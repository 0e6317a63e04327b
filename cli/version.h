// SPDX-License-Identifier: GPL-2.0-or-later
// The text of --version.
#pragma once

#include <string>

namespace htmtrace {

// Returns the version, how this program was built, and the processors that it knows.
std::string version_text();

}  // namespace htmtrace
