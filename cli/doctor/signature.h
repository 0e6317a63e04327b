// SPDX-License-Identifier: GPL-2.0-or-later
// Whether the kernel accepts the driver: secure boot, lockdown, the module's signature, and the
// keys of the partition. `root` replaces "/", as in system.h.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "cli/doctor/finding.h"

namespace htmtrace {

// Kernel lockdown, as far as it concerns perf.
Finding check_lockdown(const std::filesystem::path& root);

// Whether kernel `release` loads the driver. `module` is the installed htm.ko, if there is one.
Finding check_signature(const std::filesystem::path& root, const std::string& release,
                        const std::optional<std::filesystem::path>& module, bool driver_loaded);

}  // namespace htmtrace
