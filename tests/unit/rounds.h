// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

namespace htmtrace {

// Number of tries with random input. Native tests run COUNT tries. An emulator runs an eighth of
// them: it takes ten times as long, and only checks another processor and byte order.
constexpr unsigned rounds(unsigned count) {
#ifdef HTMTRACE_EMULATED
  return (count + 7) / 8;
#else
  return count;
#endif
}

}  // namespace htmtrace
