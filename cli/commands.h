// SPDX-License-Identifier: GPL-2.0-or-later
// One function per command. It declares the command's options on `app`, and returns the action to
// run after the command line is parsed. The action owns the values of the options, so the caller
// must keep it while it parses the command line. The action returns the exit status, and throws
// Error on a failure that ends the command.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace htmtrace {

class Signals;

// Exit statuses of every command (a workload's own status passes through when nothing failed).
inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitNothing = 1;  // --exit-code: nothing is selected; errors are kExitUsage
inline constexpr int kExitUsage = 2;
inline constexpr int kExitIncomplete = 3;  // done, but data was lost or could not be decoded

using Action = std::function<int()>;

// `signals` outlives the action.
Action declare_record(CLI::App& app, Signals& signals);
Action declare_decode(CLI::App& app);
Action declare_report(CLI::App& app);
Action declare_annotate(CLI::App& app);
Action declare_diff(CLI::App& app);
Action declare_index(CLI::App& app);
Action declare_replay(CLI::App& app);
Action declare_stop(CLI::App& app);
Action declare_locate(CLI::App& app);
Action declare_list(CLI::App& app);
Action declare_doctor(CLI::App& app);
// `signals` outlives the action. Without --input, the action records.
Action declare_dtl(CLI::App& app, Signals& signals);

}  // namespace htmtrace
