// SPDX-License-Identifier: GPL-2.0-or-later
// The state of the machine in which the core of a CPU is known. Each event that can give the CPU
// another core changes the stamp:
//
//   reboot      the kernel's boot ID
//   migration   the kernel creates `model` and `system-id` of the device tree again. Their inode
//               numbers change, even when the partition returns to the same machine.
//   hotplug     the kernel creates the CPU's node of the device tree again when the processor is
//               removed and added, and the CPU's folders `topology` and `cache` when the CPU goes
//               offline and online.
//
// The hypervisor can move a dedicated processor without any of these events, for example when a
// core fails.
#pragma once

#include <filesystem>
#include <string>

namespace htmtrace {

// Returns a text without white space. `root` replaces "/". A file of the state that does not exist
// is a part of the state. Throws Error if the state cannot be read.
std::string location_stamp(int cpu, const std::filesystem::path& root);

}  // namespace htmtrace
