// SPDX-License-Identifier: GPL-2.0-or-later
// ASan asks each program for its options. ASAN_OPTIONS overrides these options.

// <sanitizer/asan_interface.h> declares this function.
const char* __asan_default_options(void);

const char* __asan_default_options(void) {
  // UBSan executes an illegal instruction at an error: see CMakeLists.txt. With 2, the program's
  // own handler of SIGILL, such as doctest's, does not replace ASan's.
  // htmtrace itself never exits with 99, so a test that expects status 1 notices the error.
  return "handle_sigill=2:exitcode=99";
}
