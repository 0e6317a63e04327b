// SPDX-License-Identifier: GPL-2.0-or-later
// The capabilities that a recorder keeps after its events are open.
#pragma once

#include <cstdint>
#include <optional>

#include "cli/capture/identity.h"

namespace htmtrace {

// A set of capabilities(7): bit N is capability N, as in the line CapEff of /proc/PID/status.
struct Capabilities {
  uint64_t bits = 0;

  void add(int capability) { bits |= uint64_t{1} << capability; }
  bool operator==(const Capabilities&) const = default;
};

// The effective and permitted set becomes `wanted`, as far as this thread has these capabilities;
// the inheritable set becomes empty. Returns 0 or an errno value. Each thread has its own sets.
int set_capabilities(Capabilities wanted);

// All capabilities, if the kernel does not report them.
Capabilities permitted_capabilities();

// What a recorder does after its events are open.
struct LaterWork {
  bool workload = false;         // ends a program
  bool other_processes = false;  // reads the memory maps or the names of all processes
  bool frame_numbers = false;    // reads the frame numbers of the workload's pages
  bool kernel_symbols = false;   // opens /proc/kallsyms
};

Capabilities needed_for(const LaterWork& work);

// Gives up all other privileges, and sets no_new_privs. With a user, becomes the user and keeps no
// capability. Call it after the workload was forked, which keeps its privileges, and before any
// thread starts. Throws Error.
void give_up_privileges(const std::optional<Identity>& user, const LaterWork& work);

}  // namespace htmtrace
