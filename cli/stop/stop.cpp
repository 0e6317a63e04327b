// SPDX-License-Identifier: GPL-2.0-or-later
// htmtrace stop: ends a recorder, and waits until its recording is saved.
#include <fmt/core.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "cli/capture/registry.h"
#include "cli/commands.h"
#include "cli/messages.h"
#include "cli/signals.h"
#include "core/base/error.h"

namespace htmtrace {
namespace {

using Recorders = std::vector<const Recorder*>;

std::string list_of(const Recorders& recorders) {
  std::string list;
  for (const Recorder* recorder : recorders) {
    list += (list.empty() ? "" : ", ") + recorder->describe();
  }
  return list;
}

Error no_recorder(const std::string& what, const Recorders& running) {
  if (!running.empty())
    return Error(what).hint("pass the ID of a running recorder: " + list_of(running));
  return Error(what).hint(
      "run htmtrace stop as the user who started the recorder: with sudo if it was sudo");
}

// Without a name, chooses the only running recorder. A name is an ID, or the path of an output. An
// ID can belong to a recorder that has ended; of several recorders with one path, the last is
// meant.
const Recorder& choose(const std::vector<Recorder>& recorders, const std::string& name) {
  Recorders running;
  for (const Recorder& recorder : recorders) {
    if (recorder.state() != Recorder::State::kEnded) running.push_back(&recorder);
  }
  if (name.empty()) {
    std::erase_if(running, [](const Recorder* recorder) {
      return recorder->state() == Recorder::State::kElsewhere;
    });
    if (running.size() == 1) return *running.front();
    if (running.empty()) throw no_recorder("no recorder is running", running);
    throw Error(fmt::format("{} recorders are running", running.size()))
        .hint("pass the ID of one of them: " + list_of(running));
  }
  const std::string path = absolute_path(name);
  const auto is_meant = [&](const Recorder& recorder) {
    return recorder.id() == name || recorder.output() == path;
  };
  for (const Recorder* recorder : running) {
    if (is_meant(*recorder)) return *recorder;
  }
  const auto last = std::find_if(recorders.rbegin(), recorders.rend(), is_meant);
  if (last != recorders.rend()) return *last;
  throw no_recorder("cannot find recorder " + name, running);
}

void end_process(const Recorder& recorder, const Fd& process) {
  siginfo_t stop{};
  stop.si_signo = SIGTERM;
  stop.si_code = SI_QUEUE;
  stop.si_value.sival_int = kStopValue;
  if (::syscall(SYS_pidfd_send_signal, process.get(), SIGTERM, &stop, 0) != 0 && errno != ESRCH) {
    throw Error("cannot end recorder " + recorder.describe(), errno);
  }
  pollfd ended{process.get(), POLLIN, 0};
  while (::poll(&ended, 1, -1) != 1) {
  }
}

int stop(const std::string& name) {
  const std::vector<Recorder> recorders = find_recorders();
  const Recorder& recorder = choose(recorders, name);
  if (const Fd process = recorder.process()) end_process(recorder, process);
  const RecorderEnd end = recorder.end();
  print_lines(end.messages);
  if (!end.status) {
    throw Error("recorder " + recorder.describe() + " was killed before it saved its recording")
        .hint("the part that it has saved can be read with htmtrace decode or htmtrace dtl");
  }
  print_note(fmt::format("recorder {} has ended with status {}", recorder.describe(), *end.status));
  return *end.status;
}

}  // namespace

Action declare_stop(CLI::App& app) {
  const auto name = std::make_shared<std::string>();
  app.add_option("RECORDER", *name, "ID, or output folder or file [the only recorder]")
      ->type_name("ID|PATH");
  app.footer(
      "Example:\n"
      "  htmtrace stop DIR");
  return [name] { return stop(*name); };
}

}  // namespace htmtrace
