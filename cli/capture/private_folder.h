// SPDX-License-Identifier: GPL-2.0-or-later
// The folder of this user's files that last until the next boot: /run/htmtrace for root, and
// /tmp/htmtrace-UID. No other user can write or read there.
#pragma once

#include <string>
#include <vector>

#include "core/base/fd.h"

namespace htmtrace {

// Returns the folders that exist and are private, the preferred one first.
std::vector<Fd> open_private_folders();

// Creates the folder if it does not exist, and opens it. Throws Error with the text `failure`.
Fd make_private_folder(const std::string& failure);

}  // namespace htmtrace
