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

// Makes the folder if it does not exist. Throws Error with the text `failure`.
Fd make_private_folder(const std::string& failure);

}  // namespace htmtrace
