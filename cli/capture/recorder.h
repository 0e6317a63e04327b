// SPDX-License-Identifier: GPL-2.0-or-later
// The process that records: registered for `htmtrace stop`, and with --detach in the background.
#pragma once

#include <filesystem>
#include <functional>

#include "cli/capture/ready_notice.h"
#include "cli/capture/script_options.h"
#include "cli/signals.h"

namespace htmtrace {

// Runs `work`, and returns its exit status. Prints an Error of `work`. `output` is empty if the
// recording has no file or folder. With --detach, `work` runs in another process, and this function
// returns in the original process when the recording has begun or failed. Throws Error.
int run_recorder(const ScriptOptions& options, const std::filesystem::path& output,
                 Signals& signals, const std::function<int(ReadyNotice&)>& work);

}  // namespace htmtrace
