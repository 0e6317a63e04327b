// SPDX-License-Identifier: GPL-2.0-or-later
// htmtrace: parses the command line, runs one command, and prints an error.
#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/failure_status.h"
#include "cli/help.h"
#include "cli/htmdecode.h"
#include "cli/messages.h"
#include "cli/signals.h"
#include "cli/similar_names.h"
#include "cli/standard_streams.h"
#include "cli/version.h"
#include "core/base/error.h"
#include "core/base/plain_text.h"
#include "output/io/text_output.h"

namespace htmtrace {
namespace {

// CLI11 says "--type: At Most 1 required but received 2" when an option is repeated.
std::string reason_of(const CLI::Error& error) {
  std::string text = error.what();
  constexpr std::string_view kRepeated = ": At Most 1 required but received ";
  const size_t at = text.find(kRepeated);
  if (at == std::string::npos) return text;
  return fmt::format("{} accepts one value, but the command line has {}", text.substr(0, at),
                     text.substr(at + kRepeated.size()));
}

// The options that the first unknown option may mean.
std::string similar_options(const CLI::App& command, const std::vector<std::string>& unknown) {
  const auto first =
      std::ranges::find_if(unknown, [](const std::string& word) { return word.starts_with("--"); });
  if (first == unknown.end()) return {};
  SimilarNames names(first->substr(0, first->find('=')));
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.offer("--" + name);
  }
  return names.question();
}

std::string usage_error(const CLI::App* app, const CLI::Error& error) {
  std::string command;
  const CLI::App* innermost = app;
  for (auto chosen = app->get_subcommands(); !chosen.empty();
       chosen = chosen.front()->get_subcommands()) {
    innermost = chosen.front();
    command += innermost->get_name() + " ";
  }
  std::string text = fmt::format("htmtrace: {}\n", without_controls(reason_of(error)));
  if (const std::string question = similar_options(*innermost, app->remaining(true));
      !question.empty()) {
    text += fmt::format("  hint: {}\n", question);
  }
  return text + fmt::format("  hint: htmtrace {}--help\n", command);
}

// Prints help, the version, or an error of the command line.
int leave(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream help, message;
  help.exceptions(std::ios::badbit);  // out of memory
  message.exceptions(std::ios::badbit);
  const int status = app.exit(error, help, message);
  print_text(message.str());
  TextOutput output = TextOutput::standard_output();
  output.put(help.str());
  output.finish();
  return status == 0 ? kExitDone : kExitUsage;
}

int run(std::vector<std::string> arguments, Signals& signals) {
  CLI::App app{"Hardware and dispatch tracing for IBM POWER logical partitions", "htmtrace"};
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_flag("-h,--help", "Print this help");
  app.set_version_flag("--version", version_text, "Print the version and the build options");
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
  add("decode", "Print a trace, or convert it for other programs", declare_decode);
  add_recorder("record", "Trace cores or chips while a program runs", declare_record);
  add("report", "Report hot instructions and data of traces", declare_report);
  add("annotate", "Show the source and assembly of hot functions", declare_annotate);
  add("diff", "Compare two traces or recordings", declare_diff);
  add("index", "Index large traces, to decode parts quickly", declare_index);
  add("replay", "Debug a trace with gdb, forward and backward", declare_replay);
  add_recorder("dtl", "Trace the dispatches of virtual processors", declare_dtl);
  add("stop", "End a recorder, and wait until all data is saved", declare_stop);
  add("locate", "Find the core of a CPU", declare_locate);
  add("list", "List PMUs, chips, cores and carrier CPUs", declare_list);
  add("doctor", "Check whether a recording can work here", declare_doctor);
  app.footer(
      "First steps:\n"
      "  htmtrace list                   shows chips and cores, and their state\n"
      "  htmtrace doctor --chip 0 --core 4\n"
      "                                  checks whether this core can be traced\n"
      "  htmtrace record --chip 0 --core 4 -o DIR -- PROGRAM\n"
      "                                  traces the core while PROGRAM runs\n"
      "  htmtrace decode DIR             prints the executed instructions\n"
      "  htmtrace report DIR             reports the hot addresses");

  // CLI11 only reports that a command is required.
  if (!arguments.empty() && !arguments.front().starts_with('-') &&
      std::ranges::none_of(commands, [&](const auto& command) {
        return command.first->check_name(arguments.front());
      })) {
    Error unknown("unknown command " + arguments.front());
    SimilarNames names(arguments.front());
    for (const auto& command : commands) names.offer(command.first->get_name());
    if (const std::string question = names.question(); !question.empty()) {
      unknown = std::move(unknown).hint(question);
    }
    print_error(std::move(unknown).hint("list the commands: htmtrace --help"));
    return kExitUsage;
  }
  try {
    std::reverse(arguments.begin(), arguments.end());  // CLI11 expects the reverse order
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
    // perf treats every other status as a failure; stderr reports the losses.
    const int status = run(htmdecode_arguments(argc, argv), signals);
    return status == kExitIncomplete ? kExitDone : status;
  }
  return run(std::vector<std::string>(argv + std::min(argc, 1), argv + argc), signals);
}

std::atomic<bool> memory_ran_out = false;

[[noreturn]] void note_out_of_memory() {
  memory_ran_out = true;
  throw std::bad_alloc();
}

// CLI11 and std::filesystem allocate in functions that must not throw. GCC ends them without
// passing the exception on, so only the handler of operator new knows the reason.
[[noreturn]] void terminate() {
  if (memory_ran_out && (std::uncaught_exceptions() != 0 || std::current_exception())) {
    print_out_of_memory();
    std::_Exit(failure_status());
  }
  __gnu_cxx::__verbose_terminate_handler();
  std::abort();
}

}  // namespace
}  // namespace htmtrace

int main(int argc, char** argv) {
  htmtrace::Signals signals;  // must be first: no signal is lost from now on
  std::set_new_handler(htmtrace::note_out_of_memory);
  std::set_terminate(htmtrace::terminate);
  htmtrace::occupy_closed_streams();
  try {
    return htmtrace::run(argc, argv, signals);
  } catch (...) {
    htmtrace::print_failure();
  }
  return htmtrace::failure_status();
}
