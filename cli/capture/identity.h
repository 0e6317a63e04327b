// SPDX-License-Identifier: GPL-2.0-or-later
// The user that a recorder and its workload become (--user).
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace htmtrace {

struct Identity {
  std::string name;
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;  // all groups of the user, with `gid`
  std::string home;
  std::string shell;
};

// Finds a user by name or number. Throws Error if the user is unknown or is root, or if this
// process cannot become another user.
Identity find_identity(const std::string& name);

// Becomes the user for good: all IDs and groups, and no capabilities. Returns 0 after a check that
// the old identity cannot come back, or an errno value. Call it before any thread starts. Other
// processes of the user cannot trace this process or read its memory, until it executes a program.
int become(const Identity& user);

// Sets HOME, SHELL, USER and LOGNAME, as su(1) does.
void set_environment(const Identity& user);

// Acts as the user for a while, so that files that the command line names are checked and opened
// with the user's permissions. Has no effect without a user. Throws Error.
class ActingAs {
 public:
  explicit ActingAs(const std::optional<Identity>& user);
  // Fails closed: if the kernel refuses the old identity, this process stays the user.
  ~ActingAs();
  ActingAs(const ActingAs&) = delete;
  ActingAs& operator=(const ActingAs&) = delete;

 private:
  void restore() const;

  bool acts_ = false;
  gid_t old_gid_ = 0;
  std::vector<gid_t> old_groups_;
};

}  // namespace htmtrace
