// SPDX-License-Identifier: GPL-2.0-or-later
// htmtrace replay: serves traces to gdb, which moves through them forward and backward.
#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/messages.h"
#include "cli/not_empty.h"
#include "cli/replay/connection.h"
#include "cli/replay/monitor.h"
#include "cli/replay/player.h"
#include "cli/replay/server.h"
#include "cli/sandbox.h"
#include "cli/traces/choice.h"
#include "cli/traces/context.h"
#include "cli/traces/reach.h"
#include "cli/traces/symbols.h"
#include "core/base/error.h"

namespace htmtrace {
namespace {

struct ReplayOptions {
  std::vector<std::string> paths = {"."};
  TargetFilter filter;
  ContextOptions context;  // only the type
  SymbolOptions symbols;
  std::string gdb;
  bool big_endian = false;
  bool no_sandbox = false;
};

// A replay reads the trace several times, and gdb may use standard input.
void refuse_standard_input(const ReplayOptions& options) {
  if (std::ranges::find(options.paths, "-") == options.paths.end()) return;
  throw Error("cannot replay standard input: it can be read only once").hint("save it in a file");
}

void confine(const ReplayOptions& options) {
  Reach reach = reach_of(options.paths);
  for (const std::string& file : inputs_of(options.symbols, options.paths)) {
    reach.files.emplace_back(file);
  }
  enter_sandbox(reach);
}

int replay(const ReplayOptions& options) {
  refuse_standard_input(options);
  // The sandbox refuses new sockets.
  const Connection connection(options.gdb);
  if (!options.no_sandbox) confine(options);
  std::optional<ScratchFile> spool;
  const std::vector<ChosenTrace> traces = choose_traces(options.paths, options.filter, spool);
  if (all_of_nest(traces, options.context)) {
    throw Error("cannot replay nest traces: they have no instructions");
  }
  const bool incomplete = tell_missing(traces, options.context);
  RecordedSymbols symbols(options.symbols, options.paths, {.owners = false, .quiet = true});
  for (const ChosenTrace& trace : traces)
    symbols.enter(trace.path);  // prints warnings before gdb connects
  const std::endian order = options.big_endian ? std::endian::big : std::endian::little;
  std::vector<std::unique_ptr<Player>> players;
  for (const ChosenTrace& trace : traces) {
    auto player = std::make_unique<Player>(trace, order);
    if (player->has_position()) {
      players.push_back(std::move(player));
    } else if (traces.size() > 1) {
      print_warning(trace.name() + " is no thread: no instruction has a known address");
    }
  }
  if (players.empty()) {
    throw Error("cannot replay " + traces.front().name() + ": no instruction has a known address")
        .hint("print the trace with htmtrace decode");
  }
  Monitor monitor(symbols);
  Server(players, monitor, order, connection).run();
  const bool cut = std::ranges::any_of(
      players, [](const std::unique_ptr<Player>& player) { return player->track().is_cut(); });
  return incomplete || cut ? kExitIncomplete : kExitDone;
}

}  // namespace

Action declare_replay(CLI::App& app) {
  auto options = std::make_shared<ReplayOptions>();
  app.option_defaults()->group(kInputGroup);
  app.add_option("PATH", options->paths, "Recording folder or trace file [.]")->type_name("PATH");
  app.add_option("--node", options->filter.node, "Replay only the traces of this node")
      ->type_name("N");
  app.add_option("--chip", options->filter.chip, "Replay only the traces of this chip")
      ->type_name("N");
  app.add_option("--core", options->filter.core, "Replay only the traces of this core")
      ->type_name("N");
  declare_type(app, options->context.type);
  declare_symbols(app, options->symbols);
  app.option_defaults()->group(kOutputGroup);
  app.add_option("--gdb", options->gdb, "Serve gdb on - (stdin and stdout) or a new socket")
      ->type_name("-|SOCKET")
      ->check(not_empty("socket"))
      ->required();
  app.add_flag("--big-endian", options->big_endian, "Send registers in big-endian order");
  app.footer(
      "Example:\n"
      "  htmtrace replay --gdb - DIR\n"
      "  gdb-multiarch -ex 'set endian little' \\\n"
      "      -ex 'target remote | htmtrace replay --gdb - DIR'");
  app.add_flag(kNoSandbox, options->no_sandbox, kNoSandboxHelp);
  return [options] {
    check(options->symbols);
    return replay(*options);
  };
}

}  // namespace htmtrace
