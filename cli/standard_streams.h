// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps closed standard streams closed for the whole run.
#pragma once

namespace htmtrace {

// Occupies each of the descriptors 0, 1 and 2 that is closed, so that no file
// opened later becomes a standard stream. Reading and writing still fail there
// with EBADF, as on a closed descriptor.
void occupy_closed_streams();

}  // namespace htmtrace
