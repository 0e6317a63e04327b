// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/capture/privileges.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "core/base/error.h"

namespace htmtrace {
namespace {

// Version 3 has two words of 32 capabilities.
using CapabilityWords = std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3>;

// capget(2): pid 0 is the calling thread.
__user_cap_header_struct this_thread() {
  return {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
}

}  // namespace

int set_capabilities(Capabilities wanted) {
  wanted.bits &= permitted_capabilities().bits;
  CapabilityWords words{};
  words[0].effective = words[0].permitted = static_cast<uint32_t>(wanted.bits);
  words[1].effective = words[1].permitted = static_cast<uint32_t>(wanted.bits >> 32);
  __user_cap_header_struct header = this_thread();
  return ::syscall(SYS_capset, &header, words.data()) == 0 ? 0 : errno;
}

Capabilities permitted_capabilities() {
  CapabilityWords words{};
  __user_cap_header_struct header = this_thread();
  if (::syscall(SYS_capget, &header, words.data()) != 0) return {.bits = ~uint64_t{0}};
  return {.bits = words[0].permitted | uint64_t{words[1].permitted} << 32};
}

Capabilities needed_for(const LaterWork& work) {
  Capabilities needed;
  // Under sudo, the output folder belongs to the caller, and root without this capability cannot
  // create the files there.
  needed.add(CAP_DAC_OVERRIDE);
  // The workload may become another user.
  if (work.workload) needed.add(CAP_KILL);
  if (work.other_processes) needed.add(CAP_SYS_PTRACE);
  // The kernel checks this when a process opens /proc/PID/pagemap.
  if (work.frame_numbers) needed.add(CAP_SYS_ADMIN);
  if (work.kernel_symbols) needed.add(CAP_SYSLOG);
  return needed;
}

void give_up_privileges(const std::optional<Identity>& user, const LaterWork& work) {
  const int reason = user ? become(*user) : set_capabilities(needed_for(work));
  if (reason != 0) {
    throw Error(user ? "cannot become user " + user->name : "cannot give up capabilities", reason);
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) throw Error("cannot set no_new_privs", errno);
}

}  // namespace htmtrace
