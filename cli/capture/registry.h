// SPDX-License-Identifier: GPL-2.0-or-later
// The recorders of a user, for `htmtrace stop`. Each recorder has a file in a private folder. The
// file's name is the recorder's ID, its process ID. While the recorder runs, it holds a lock on the
// file. The kernel reports which process holds the lock. A stale file is therefore never taken for
// a recorder, and neither is another program that later has the same process ID.
//
// The file holds the output, the messages of a detached recorder and the exit status, with a NUL
// character after the first and the second. It stays for a day after the end of its recorder.
#pragma once

#include <sys/types.h>

#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/fd.h"

namespace htmtrace {

// The path of an output, however a user names it.
std::string absolute_path(const std::filesystem::path& path);

class Registration {
 public:
  // Registers this process. `output` is empty if it has no file or folder. Throws Error.
  explicit Registration(const std::filesystem::path& output);

  // Messages may be appended to the file. No other descriptor of it may be closed: this would give
  // up the lock.
  int fd() const { return file_.get(); }

  // The last call: states the exit status.
  void finish(int status) const;

 private:
  Fd file_;
};

// The end of a recorder.
struct RecorderEnd {
  std::string messages;       // of a detached recorder
  std::optional<int> status;  // empty: it ended without finishing its recording
};

class Recorder {
 public:
  Recorder(std::string id, std::string output, Fd file);

  const std::string& id() const { return id_; }
  // An absolute path, or empty.
  const std::string& output() const { return output_; }
  // For messages: "4711 (/data/trace)".
  std::string describe() const;

  // The time of its end, if it has ended.
  time_t changed() const { return changed_; }

  // Returns a descriptor of the process (pidfd_open(2)), or nothing if the recorder has ended.
  Fd process() const;
  // Call it after the process has ended.
  RecorderEnd end() const;

 private:
  std::string id_;
  std::string output_;
  Fd file_;
  time_t changed_ = 0;
};

// Returns the recorders of this user, also those that have ended; the latest is the last.
std::vector<Recorder> find_recorders();

}  // namespace htmtrace
