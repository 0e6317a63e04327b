// SPDX-License-Identifier: GPL-2.0-or-later
// The cores of CPUs that htmtrace has located since the last boot, in the file `cores` of the
// private folder. A core is valid only while its stamp equals that of the machine
// (location_stamp.h).
#pragma once

#include <filesystem>
#include <map>

#include "core/base/fd.h"
#include "core/base/target.h"

namespace htmtrace {

// The core of each CPU.
using CpuCores = std::map<int, TraceTarget>;

class LocationMemory {
 public:
  // `root` replaces "/" for the stamps.
  explicit LocationMemory(Fd folder, std::filesystem::path root = "/")
      : folder_(std::move(folder)), root_(std::move(root)) {}

  // Returns the cores that are still valid.
  CpuCores read() const;

  // Adds `cores`, and drops the cores that are no longer valid. Throws Error.
  void add(const CpuCores& cores) const;

 private:
  Fd folder_;
  std::filesystem::path root_;
};

// Returns the cores that this user's processes have located. Returns none if the partition shares
// processors, because the hypervisor then moves the CPUs.
CpuCores remembered_cores();

// Remembers `cores`, unless the partition shares processors. Throws Error.
void remember_cores(const CpuCores& cores);

}  // namespace htmtrace
