// SPDX-License-Identifier: GPL-2.0-or-later
// The journal: one file with the macros' starts and stops and the marks of the guest's test
// programs, in the order of time. `journal on` in the configuration enables it.
//
// DIRECTORY/journal has lines of text. NS is the time on the host's monotonic clock, in nanoseconds
// from an arbitrary moment:
//   NS start TYPE.nN.pP.cC               a START that succeeded
//   NS stop TYPE.nN.pP.cC CAPTURED LOST  the end of tracing. For a core, numbers of instructions
//                                        since CONFIGURE: in the trace, and not in the trace
//                                        because the memory was full
//   NS executed TYPE.nN.pP.cC COUNT      precedes each of the other lines: number of instructions
//                                        that the core executed, traced or not (capture.h)
//   NS mark TEXT                         the control line "mark TEXT"
#pragma once
#include <stdbool.h>

// Ends the program if the file cannot be created.
void journal_open(const char* directory);
void journal(const char* format, ...) __attribute__((format(printf, 1, 2)));
void journal_close(void);
