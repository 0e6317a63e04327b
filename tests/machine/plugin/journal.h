// SPDX-License-Identifier: GPL-2.0-or-later
// What the macros did and when, and between that what test programs in the guest say that they do:
// one file, in the order in which it happened. With `journal on` in the configuration.
//
// DIRECTORY/journal, lines of text; NS is the host's monotonic clock, from some moment on:
//   NS start TYPE.nN.pP.cC              a START that was obeyed
//   NS stop TYPE.nN.pP.cC CAPTURED LOST  the end of tracing; of a core, instructions in the trace,
//   and not
//                                       in it because its memory was full, since CONFIGURE
//   NS executed TYPE.nN.pP.cC COUNT     before each of the other lines: instructions that the core
//   has
//                                       executed, traced or not (capture.h)
//   NS mark TEXT                        the control line "mark TEXT"
#pragma once
#include <stdbool.h>

// Dies when the file cannot be made.
void journal_open(const char* directory);
void journal(const char* format, ...) __attribute__((format(printf, 1, 2)));
void journal_close(void);
