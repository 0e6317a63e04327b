// SPDX-License-Identifier: GPL-2.0-or-later
// A seccomp filter, seccomp(2): refuses some system calls, and allows all others. Programs that the
// process executes inherit the filter.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace htmtrace {

class SyscallFilter {
 public:
  // Refuses these system calls with EPERM. Numbers are those of <sys/syscall.h>.
  void refuse(std::initializer_list<int> numbers);
  // Refuses ioctl(2) with one of these requests with EPERM.
  void refuse_ioctl(std::initializer_list<uint32_t> requests);
  // Refuses all system calls of other architectures, such as 32-bit calls, with EPERM. Otherwise,
  // only the rules for ioctl(2) apply to them.
  void refuse_other_architectures() { only_native_ = true; }

  // The calling thread and its descendants get the filter. Without no_new_privs, it requires
  // CAP_SYS_ADMIN. Returns 0 or an errno value: EINVAL if the kernel has no filters.
  int install() const;

 private:
  std::vector<uint32_t> numbers_;
  std::vector<uint32_t> requests_;
  bool only_native_ = false;
};

}  // namespace htmtrace
