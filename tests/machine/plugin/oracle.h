// SPDX-License-Identifier: GPL-2.0-or-later
// The oracle of a core: a file of the executed instructions in another format than the trace. Its
// code shares nothing with the trace encoder.
//
// DIRECTORY/oracle.nN.pP.cC, little-endian, no padding:
//   8 bytes   "htmorac1"
//   then items, each beginning with its kind, one byte:
//   'S'  a START
//   'I'  a completed instruction that went into the trace:
//        u8 words (1 or 2), u8 accesses, u8 flags (1: in user mode), u64 effective address, u64
//        logical real address, u32 word, u32 second word or 0, then per access: u64 effective
//        address, u64 guest real address, u16 bytes, u16 flags (1 store, 2 device). An access that
//        crosses a 4 KiB page is two accesses. Device: no logical memory there.
//   'T'  before an instruction: the processor has entered user mode, in
//        u64 address space (PIDR), u64 thread area (r13), u32 process, u32 thread. The last two are
//        0 without the key `task` of the configuration.
//   'E'  the STOP: u64 instructions that were not traced because the buffer was full
#pragma once
#include <stdint.h>

#include "execution.h"

struct oracle_file;

// Each function ends the program if the file cannot be written.
struct oracle_file* oracle_open(const char* directory, unsigned node, unsigned chip, unsigned core);
void oracle_start(struct oracle_file* oracle);
void oracle_instruction(struct oracle_file* oracle, const struct execution* execution);
void oracle_user(struct oracle_file* oracle, unsigned vcpu, uint64_t msr);
void oracle_stop(struct oracle_file* oracle, uint64_t lost_instructions);
