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
