// SPDX-License-Identifier: GPL-2.0-or-later
// ASan asks each program for its options. The environment variable ASAN_OPTIONS may change them.

// The name and the type are those of <sanitizer/asan_interface.h>.
const char* __asan_default_options(void);

const char* __asan_default_options(void) {
  // A finding of UBSan is an illegal instruction: see CMakeLists.txt.
  return "handle_sigill=1";
}
