// SPDX-License-Identifier: GPL-2.0-or-later
// A second process that disables the vpa_dtl events if this process is killed.
//
// Mainline's driver (Linux 7.3) has no function to stop an event. When the rings of an enabled
// event are unmapped, the kernel calls the missing function and crashes. When a process is killed,
// the kernel unmaps its memory before it closes its descriptors. The second process maps the same
// rings, so they stay mapped until it has disabled the events.
#pragma once

#include <sys/types.h>

#include <span>
#include <vector>

#include "cli/dtl/source.h"
#include "core/base/fd.h"

namespace htmtrace {

class DtlGuard {
 public:
  // Call it before any event is enabled, and before any thread starts. Throws Error.
  explicit DtlGuard(std::span<const DtlSource* const> sources);
  // Disables the enabled events. Returns after the second process has released them.
  ~DtlGuard();
  DtlGuard(const DtlGuard&) = delete;
  DtlGuard& operator=(const DtlGuard&) = delete;

 private:
  [[noreturn]] static void be_guard(std::span<const DtlSource* const> sources, int alive,
                                    int ready);

  pid_t pid_ = -1;
  Fd alive_;  // closed when this process ends, which the guard detects
};

}  // namespace htmtrace
