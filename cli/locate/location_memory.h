// SPDX-License-Identifier: GPL-2.0-or-later
// The cores of CPUs that htmtrace has located since the last boot, in the file `cores` of the
// private folder. A core is valid only while its stamp equals that of the machine
// (location_stamp.h). Each line has a checksum, so that a damaged line is no answer.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "core/base/fd.h"
#include "core/base/target.h"

namespace htmtrace {

struct StampedCore {
  TraceTarget core;
  std::string stamp;  // of the time of the trace that shows the core

  bool operator==(const StampedCore&) const = default;
};

// The core of each CPU.
using StampedCores = std::map<int, StampedCore>;

class LocationMemory {
 public:
  // `root` replaces "/" for the stamps.
  explicit LocationMemory(Fd folder, std::filesystem::path root = "/")
      : folder_(std::move(folder)), root_(std::move(root)) {}

  // Returns the cores that are still valid.
  StampedCores read() const;

  // Adds `cores` with their stamps, and drops the cores that are no longer valid. Throws Error.
  void add(const StampedCores& cores) const;

 private:
  Fd folder_;
  std::filesystem::path root_;
};

// Returns the cores that this user's processes have located. Returns none if the partition shares
// processors, because the hypervisor then moves the CPUs.
StampedCores remembered_cores();

// Returns false if an event since the stamp was made can have given the CPU another core, or if the
// state of the machine cannot be read.
bool is_current(const std::string& stamp, int cpu, const std::filesystem::path& root = "/");

// Remembers `cores`, unless the partition shares processors. Throws Error.
void remember_cores(const StampedCores& cores);

}  // namespace htmtrace
