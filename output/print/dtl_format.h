// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>

namespace htmtrace {

enum class DtlFormat : uint8_t { kText, kCsv, kJson };

}  // namespace htmtrace
