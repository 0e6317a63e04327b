// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/capture/identity.h"

#include <fmt/core.h>
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>

#include "cli/capture/privileges.h"
#include "core/base/error.h"

namespace htmtrace {
namespace {

Error cannot_be(const std::string& name, int reason) {
  return Error(fmt::format("cannot become user {}", name), reason);
}

// getpwnam(3) needs no reentrant form here: no thread runs yet.
const passwd* find_entry(const std::string& name) {
  if (const passwd* entry = ::getpwnam(name.c_str())) return entry;
  uid_t uid = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, failure] = std::from_chars(name.data(), end, uid);
  if (failure != std::errc{} || stop != end) return nullptr;
  return ::getpwuid(uid);
}

std::vector<gid_t> groups_of(const passwd& entry) {
  int count = 64;
  std::vector<gid_t> groups(static_cast<size_t>(count));
  while (::getgrouplist(entry.pw_name, entry.pw_gid, groups.data(), &count) < 0) {
    groups.resize(std::max(2 * groups.size(), static_cast<size_t>(count)));
    count = static_cast<int>(groups.size());
  }
  groups.resize(static_cast<size_t>(count));
  return groups;
}

// The IDs that a process must have, and no other.
bool is_only(const Identity& user) {
  uid_t real = 0, effective = 0, saved = 0;
  gid_t real_group = 0, effective_group = 0, saved_group = 0;
  return ::getresuid(&real, &effective, &saved) == 0 &&
         ::getresgid(&real_group, &effective_group, &saved_group) == 0 && real == user.uid &&
         effective == user.uid && saved == user.uid && real_group == user.gid &&
         effective_group == user.gid && saved_group == user.gid;
}

}  // namespace

Identity find_identity(const std::string& name) {
  const passwd* const entry = find_entry(name);
  if (entry == nullptr) {
    throw Error("cannot find user " + name).hint("list the users: getent passwd");
  }
  if (entry->pw_uid == 0) {
    throw Error(fmt::format("cannot give up root for user {}: this user is root", name))
        .hint("pass --user with the name of another user, or omit --user");
  }
  if (::geteuid() != 0) {
    throw cannot_be(name, EPERM).hint("run htmtrace as root (sudo), or omit --user");
  }
  return {entry->pw_name,    entry->pw_uid, entry->pw_gid,
          groups_of(*entry), entry->pw_dir, entry->pw_shell};
}

int become(const Identity& user) {
  if (::setgroups(user.groups.size(), user.groups.data()) != 0 ||
      ::setresgid(user.gid, user.gid, user.gid) != 0 ||
      ::setresuid(user.uid, user.uid, user.uid) != 0) {
    return errno;
  }
  // setresuid() keeps inheritable capabilities, and all of them under some securebits.
  if (const int reason = set_capabilities({}); reason != 0) return reason;
  // The process still has the descriptors of its old identity, and fs.suid_dumpable may allow
  // access to it.
  if (::prctl(PR_SET_DUMPABLE, 0) != 0) return errno;
  const bool returns = ::setresuid(-1, 0, -1) == 0 || ::setresuid(0, -1, -1) == 0;
  return returns || !is_only(user) || permitted_capabilities() != Capabilities{} ? EPERM : 0;
}

void set_environment(const Identity& user) {
  ::setenv("HOME", user.home.c_str(), 1);
  ::setenv("SHELL", user.shell.c_str(), 1);
  ::setenv("USER", user.name.c_str(), 1);
  ::setenv("LOGNAME", user.name.c_str(), 1);
}

// access(2) uses the real IDs, open(2) the effective IDs. Root as the saved ID allows the return.
ActingAs::ActingAs(const std::optional<Identity>& user) {
  if (!user) return;
  const int count = ::getgroups(0, nullptr);
  if (count < 0) throw cannot_be(user->name, errno);
  old_groups_.resize(static_cast<size_t>(count));
  if (::getgroups(count, old_groups_.data()) < 0) throw cannot_be(user->name, errno);
  old_gid_ = ::getegid();
  acts_ = true;
  if (::setgroups(user->groups.size(), user->groups.data()) == 0 &&
      ::setresgid(user->gid, user->gid, old_gid_) == 0 &&
      ::setresuid(user->uid, user->uid, 0) == 0) {
    return;
  }
  const int reason = errno;
  restore();
  throw cannot_be(user->name, reason);
}

ActingAs::~ActingAs() {
  if (acts_) restore();
}

void ActingAs::restore() const {
  if (::setresuid(0, 0, 0) != 0 || ::setresgid(old_gid_, old_gid_, old_gid_) != 0) return;
  [[maybe_unused]] const int failed = ::setgroups(old_groups_.size(), old_groups_.data());
}

}  // namespace htmtrace
