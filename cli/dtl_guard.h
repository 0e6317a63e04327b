// SPDX-License-Identifier: GPL-2.0-or-later
// Outlives this process if it is killed, and switches its vpa_dtl events off.
//
// Mainline's driver (Linux 7.3) has no function to stop an event. The kernel calls it when the
// rings of an event that is on are unmapped, and then crashes; a process that is killed has its
// memory unmapped before its descriptors are closed. So a second process has the same rings mapped,
// which keeps them when the first one goes.
#pragma once

#include <sys/types.h>

#include <span>
#include <vector>

#include "cli/dtl_source.h"
#include "ringbuf/fd.h"

namespace htmtrace {

class DtlGuard {
 public:
  // Before any of them is enabled, and before there are threads. Throws Error.
  explicit DtlGuard(std::span<const DtlSource* const> sources);
  // Disables the events that are still on. Returns when the second process has let go of them.
  ~DtlGuard();
  DtlGuard(const DtlGuard&) = delete;
  DtlGuard& operator=(const DtlGuard&) = delete;

 private:
  [[noreturn]] static void be_guard(std::span<const DtlSource* const> sources, int alive,
                                    int ready);

  pid_t pid_ = -1;
  Fd alive_;  // its other end tells the guard when this process is gone
};

}  // namespace htmtrace
