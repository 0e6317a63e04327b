// SPDX-License-Identifier: GPL-2.0-or-later
// A recording of the dispatch trace log in several files (--rotate).
#include <fmt/core.h>

#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/dtl/capture.h"
#include "cli/failure_status.h"
#include "cli/messages.h"
#include "core/base/error.h"

namespace htmtrace {

// Names the first file.
void DtlCapture::choose_first_file() {
  if (!options_.rotation) return;
  rotation_.emplace(options_.output.file, *options_.rotation);
  options_.output.file = rotation_->choose_next();
  options_.output.rotates = true;
}

void DtlCapture::remove_old_files() {
  for (const std::string& message : rotation_->remove_old()) print_warning(message);
}

// Continues in the next file if the current file has reached its time or its size, or cannot be
// written. Also removes old files. If the next file cannot be created, the current file stays in
// use.
void DtlCapture::rotate() {
  if (!rotation_) return;
  if (rotation_->wants_removal()) remove_old_files();
  if (!rotation_->due(output_->file_bytes(), output_->file_failed())) return;
  std::optional<TraceSink> next;
  try {
    next.emplace(output_->open_next(rotation_->choose_next(), about()));
  } catch (const Error& error) {
    if (!std::exchange(cannot_rotate_, true)) {
      print_warning(
          fmt::format("cannot begin the next file: {}; trying again each second", error.what()));
    }
    rotation_->put_off();
    return;
  }
  if (std::exchange(cannot_rotate_, false)) print_note("the recording continues");
  const std::string name = next->path().filename().string();
  std::vector<std::unique_lock<std::mutex>> held;
  std::vector<DtlOutput::Track*> tracks;
  for (const auto& group : groups_) {
    held.emplace_back(group->lock);
    tracks.insert(tracks.end(), group->tracks.begin(), group->tracks.end());
  }
  TraceSink old = output_->continue_in(std::move(*next), tracks, end_of_part(name));
  held.clear();
  output_->begin_next();
  rotation_->began();
  output_->close(std::move(old));
}

// Returns the end of a file that is not the last. Only the last file has the proof of completeness,
// and the losses of the files. Call it with the locks held.
DtlEnd DtlCapture::end_of_part(const std::string& next) {
  uint64_t entries = 0, losses = 0;
  for (const auto& cpu : cpus_) {
    entries += cpu->intake.proof().taken();
    for (const Ledger::Entry& entry : cpu->ledger.entries()) losses += entry.occurrences;
  }
  const bool lost = std::exchange(losses_of_parts_, losses) != losses;
  return {.status = lost ? kExitIncomplete : kExitDone,
          .text = fmt::format(
              "{} entries since the start of the recording, which continues in {}; "
              "{}",
              entries, next,
              lost ? "entries are missing in this file" : "no missing entries are known yet")};
}

}  // namespace htmtrace
