// SPDX-License-Identifier: GPL-2.0-or-later
// The state of the machine in which the core of a CPU is known. Each event that can give the CPU
// another core changes the stamp:
//
//   reboot      the kernel's boot ID
//   migration   the kernel adds `model` and `system-id` of the device tree anew. Their inode
//               numbers change, even when the partition comes back to the same machine.
//   hotplug     the kernel adds the CPU's node of the device tree anew when the processor is
//               removed and added, and its folders `topology` and `cache` when it goes offline
//               and online.
//
// The hypervisor can move a dedicated processor without any of them, for example when a core fails.
#pragma once

#include <filesystem>
#include <string>

namespace htmtrace {

// A text without white space. `root` replaces "/".
std::string location_stamp(int cpu, const std::filesystem::path& root);

}  // namespace htmtrace
