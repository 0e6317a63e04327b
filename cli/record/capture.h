// SPDX-License-Identifier: GPL-2.0-or-later
// One recording: all targets, from the first byte to the closed files of one folder.
#pragma once

#include <deque>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/capture/htm_source.h"
#include "cli/record/target_recorder.h"
#include "output/recording/files.h"
#include "output/recording/manifest.h"

namespace htmtrace {

// After the trace has started, no captured data is dropped. After any error, this class still
// drains the rest if possible, closes the files, and states the losses in the manifest.
class Capture {
 public:
  // `files` belong to `sources`; messages name `folder`. `sources` and `limit` outlive this object.
  Capture(const std::vector<HtmSource>& sources, SessionFiles files,
          const std::filesystem::path& folder, SizeLimit& limit);

  // Starts every target. If a target refuses, removes the files and throws Error.
  void start();
  // Call it after start(). Returns true when every target traces. Throws Error as start() does.
  bool begun();
  // Every target traces: the files appear. Returns their names. Throws Error.
  std::set<std::string> publish();
  // Discards the recording before it has any data.
  void discard() { files_.discard(); }

  const std::filesystem::path& folder() const { return folder_; }
  // Returns true if all targets were drained completely.
  bool drained() const;

  // Returns true if a target has ended by itself.
  bool gone();

  // The targets to drain. Call stopped() first.
  std::deque<TargetRecorder>& recorders() { return recorders_; }
  void stopped() { manifest_.stopped = now(); }
  TargetRecorder::State state() const;
  // Ends all waits for the reader of a stream. Any thread may call this while others drain.
  void give_up() const { files_.manifest.give_up(); }

  // Reports that the trace was never started, and why. Call it before settle().
  void cancel(const std::string& cause);

  // Closes the files, writes the manifest.
  void settle(const std::optional<Manifest::Workload>& workload, std::vector<Error> troubles,
              bool failed);

  const Manifest& manifest() const { return manifest_; }
  // The errors to print at the end, including the `troubles` of settle().
  const std::vector<Error>& troubles() const { return troubles_; }

  // Returns true if the driver's counts prove that no target lost data.
  bool proven() const;

  // Returns the totals, preceded by a line for each of several targets.
  std::vector<std::string> summary() const;

 private:
  void write_manifest(Manifest::State state);
  std::string verdict() const;

  std::filesystem::path folder_;
  SessionFiles files_;
  Manifest manifest_;
  std::deque<TargetRecorder> recorders_;  // stable addresses
  std::vector<Error> troubles_;
};

}  // namespace htmtrace
