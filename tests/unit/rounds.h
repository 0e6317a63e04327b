// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

namespace htmtrace {

// How often something is tried with random input: COUNT times where the tests run as they are, an
// eighth of it under an emulator, which takes ten times as long and has only to show that another
// processor and order of bytes make no difference.
constexpr unsigned rounds(unsigned count) {
#ifdef HTMTRACE_EMULATED
  return (count + 7) / 8;
#else
  return count;
#endif
}

}  // namespace htmtrace
