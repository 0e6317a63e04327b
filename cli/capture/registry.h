// SPDX-License-Identifier: GPL-2.0-or-later
// The recorders of a user, for `htmtrace stop`. Each recorder has a file in a private folder. The
// file's name is the recorder's ID, its process ID. While the recorder runs, it holds a lock on the
// file. The kernel reports which process holds the lock. Neither a stale file nor another program
// with the same process ID can therefore pass as a running recorder.
//
// The file holds the path of the output, the messages of a detached recorder and the exit status.
// NUL characters separate these parts. After the end of its recorder, the file stays for at least a
// day: a recorder that starts later removes it.
#pragma once

#include <sys/types.h>

#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/fd.h"

namespace htmtrace {

// Returns the same path for all names of a file: absolute, without links.
std::string absolute_path(const std::filesystem::path& path);

class Registration {
 public:
  // Registers this process. `output` is empty if it has no file or folder. Throws Error.
  explicit Registration(const std::filesystem::path& output);

  // The caller may append messages to the file. This process must not close another descriptor of
  // the file, because the kernel would then release the lock.
  int fd() const { return file_.get(); }

  // Saves the exit status. This must be the last call. If the recording did not begin, the file is
  // removed: only a process that already waits for this recorder can read the status. Other
  // processes find the earlier recorder of the same output.
  void finish(int status, bool begun) const;

 private:
  std::string id_;
  Fd folder_;
  Fd file_;
};

// The end of a recorder.
struct RecorderEnd {
  std::string messages;       // of a detached recorder
  std::optional<int> status;  // empty: it ended without finishing its recording
};

class Recorder {
 public:
  enum class State {
    kEnded,
    kRunning,
    kElsewhere,  // running, but its process is not visible: it is in another container
  };

  // The file is needed only while the recorder runs.
  Recorder(std::string id, std::string output, Fd file);

  const std::string& id() const { return id_; }
  // An absolute path, or empty.
  const std::string& output() const { return output_; }
  // For messages: "4711 (/data/trace)".
  std::string describe() const;

  // The time of the last change of the file. If the recorder has ended: the time of its end.
  time_t changed() const { return changed_; }

  // The state at the time when the recorder was found.
  State state() const { return state_; }

  // Returns a descriptor of the process (pidfd_open(2)), or nothing if the recorder has ended.
  // Throws Error for a recorder in another container.
  Fd process() const;
  // Call this after the process has ended.
  RecorderEnd end() const;

 private:
  std::string id_;
  std::string output_;
  Fd file_;          // empty: the recorder has ended
  RecorderEnd end_;  // if it has ended
  State state_ = State::kEnded;
  time_t changed_ = 0;
};

// Returns the recorders of this user, running or ended, in the order of the last change. Throws
// Error if one of their files cannot be read.
std::vector<Recorder> find_recorders();

}  // namespace htmtrace
