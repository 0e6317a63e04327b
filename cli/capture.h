// SPDX-License-Identifier: GPL-2.0-or-later
// One session: all targets from the first byte to the closed files of one folder.
#pragma once

#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/htm_source.h"
#include "cli/target_recorder.h"
#include "output/manifest.h"
#include "output/session_files.h"

namespace htmtrace {

// Once the trace has started nothing that was captured is given up: whatever goes wrong, the rest
// is drained if that is possible, the files are closed and the manifest says what is missing.
class Capture {
 public:
  // `files` are those of `sources`; `folder` says where, for people. `sources` and `limit` outlive
  // this object.
  Capture(const std::vector<HtmSource>& sources, SessionFiles files,
          const std::filesystem::path& folder, SizeLimit& limit);

  // Starts every target. Throws Error when one of them refuses; then there are no files.
  void start();
  // After start(): true when every target traces. Throws Error as start() does.
  bool begun();
  // Gives the session up before anything was recorded.
  void discard() { files_.discard(); }

  const std::filesystem::path& folder() const { return folder_; }
  // All targets were drained to their ends.
  bool drained() const;

  // True when a target has ended by itself.
  bool gone();

  // To be drained; stopped() says that it begins.
  std::deque<TargetRecorder>& recorders() { return recorders_; }
  void stopped() { manifest_.stopped = now(); }
  TargetRecorder::State state() const;

  // Reports that the trace was never started, and why. Call it before settle().
  void cancel(const std::string& cause);

  // Closes the files, writes the manifest.
  void settle(const std::optional<Manifest::Workload>& workload, std::vector<Error> troubles,
              bool failed);

  const Manifest& manifest() const { return manifest_; }
  // To be told at the end, among them the `troubles` of settle().
  const std::vector<Error>& troubles() const { return troubles_; }

  // The driver's count says of every target that all of it is there.
  bool proven() const;

  // A line for each target when there are several, and the sum.
  std::vector<std::string> summary() const;

 private:
  void write_manifest(Manifest::State state);
  std::string verdict() const;

  std::filesystem::path folder_;
  SessionFiles files_;
  Manifest manifest_;
  std::deque<TargetRecorder> recorders_;  // they stay where they are
  std::vector<Error> troubles_;
};

}  // namespace htmtrace
