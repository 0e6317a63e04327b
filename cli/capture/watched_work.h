// SPDX-License-Identifier: GPL-2.0-or-later
// Runs work that can wait for a reader, and still handles signals in time.
#pragma once

#include <functional>

namespace htmtrace {

// Runs `work` in a thread, calls `look` every 20 ms until `work` returns, and passes on its
// exception. If no thread can start, `work` runs without `look`.
void watch_during(const std::function<void()>& work, const std::function<void()>& look);

}  // namespace htmtrace
