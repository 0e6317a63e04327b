// SPDX-License-Identifier: GPL-2.0-or-later
// htmtrace: parse the command line, run one command, tell a failure as house style asks.
#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <new>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/htmdecode.h"
#include "cli/messages.h"
#include "cli/signals.h"
#include "cli/standard_streams.h"
#include "core/error.h"
#include "output/text_output.h"

namespace htmtrace {
namespace {

std::string usage_error(const CLI::App* app, const CLI::Error& error) {
  std::string command;
  for (auto chosen = app->get_subcommands(); !chosen.empty();
       chosen = chosen.front()->get_subcommands()) {
    command += chosen.front()->get_name() + " ";
  }
  return fmt::format("htmtrace: {}\n  hint: htmtrace {}--help\n", error.what(), command);
}

// Versions of CLI11 from 2.5 on would fill the lines of what is printed behind the options.
template <class Formatter>
void keep_lines(Formatter& formatter) {
  if constexpr (requires { formatter.enable_footer_formatting(false); }) {
    formatter.enable_footer_formatting(false);
  }
}

// Prints help, the version, or an error of the command line.
int leave(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream help, message;
  const int status = app.exit(error, help, message);
  print_text(message.str());
  TextOutput output = TextOutput::standard_output();
  output.put(help.str());
  output.finish();
  return status == 0 ? kExitDone : kExitUsage;
}

int run(std::vector<std::string> arguments, Signals& signals) {
  CLI::App app{"Hardware and dispatch tracing for IBM POWER logical partitions", "htmtrace"};
  keep_lines(*app.get_formatter());
  app.set_version_flag("--version", "htmtrace " HTMTRACE_VERSION);
  app.require_subcommand(1);
  app.failure_message(usage_error);

  std::vector<std::pair<CLI::App*, Action>> commands;
  const auto add_recorder = [&](const char* name, const char* purpose,
                                Action (*declare)(CLI::App&, Signals&)) {
    CLI::App* command = app.add_subcommand(name, purpose);
    commands.emplace_back(command, declare(*command, signals));
  };
  const auto add = [&](const char* name, const char* purpose, Action (*declare)(CLI::App&)) {
    CLI::App* command = app.add_subcommand(name, purpose);
    commands.emplace_back(command, [&signals, action = declare(*command)] {
      signals.release();
      return action();
    });
  };
  add("decode", "Print a trace as text, or write it for other programs", declare_decode);
  add_recorder("record", "Trace cores or chips while a program runs", declare_record);
  add("report", "Tell which addresses are hot in traces", declare_report);
  add("diff", "Tell what is different in a second trace", declare_diff);
  add("index", "Make slices of large traces quick to decode", declare_index);
  add_recorder("dtl", "Print every dispatch of the virtual processors", declare_dtl);
  add("list", "Show what there is to trace with", declare_list);
  add("doctor", "Say beforehand why a recording would fail", declare_doctor);
  // Lines with two blanks before them are commands to the completion.
  app.footer(
      "First steps:\n"
      "    htmtrace list                                        chips and cores, and their state\n"
      "    htmtrace doctor --chip 0 --core 4                    what is missing, and what to do\n"
      "    htmtrace record --chip 0 --core 4 -o DIR -- PROGRAM  trace the core while PROGRAM runs\n"
      "    htmtrace decode DIR                                  what it executed, line by line\n"
      "    htmtrace report DIR                                  which addresses are hot\n"
      "htmtrace COMMAND --help and htmtrace-COMMAND(1) tell more.");

  // CLI11 would say that a command is required, and not that this is none.
  if (!arguments.empty() && !arguments.front().starts_with('-') &&
      std::ranges::none_of(commands, [&](const auto& command) {
        return command.first->check_name(arguments.front());
      })) {
    print_error(Error("there is no command " + arguments.front())
                    .hint("htmtrace --help lists the commands"));
    return kExitUsage;
  }
  try {
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    signals.release();
    return leave(app, error);
  }
  for (const auto& [command, action] : commands) {
    if (command->parsed()) return action();
  }
  return kExitUsage;
}

int run(int argc, char** argv, Signals& signals) {
  if (is_htmdecode(argv[0])) {
    // perf takes another status for a failure; what was lost is told on stderr.
    const int status = run(htmdecode_arguments(argc, argv), signals);
    return status == kExitIncomplete ? kExitDone : status;
  }
  return run(std::vector<std::string>(argv + std::min(argc, 1), argv + argc), signals);
}

}  // namespace
}  // namespace htmtrace

int main(int argc, char** argv) {
  htmtrace::Signals signals;  // must be first: from here on no signal is lost
  htmtrace::occupy_closed_streams();
  try {
    return htmtrace::run(argc, argv, signals);
  } catch (const htmtrace::Error& error) {
    htmtrace::print_error(error);
  } catch (const std::bad_alloc&) {
    htmtrace::print_text("htmtrace: out of memory\n");
  } catch (const std::exception& error) {
    htmtrace::print_text(fmt::format("htmtrace: internal error: {}\n", error.what()));
  }
  return htmtrace::kExitFailed;
}
