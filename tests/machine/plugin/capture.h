// SPDX-License-Identifier: GPL-2.0-or-later
// Decides which instructions a traced vCPU completed.
//
// The emulator reports that an instruction is about to execute, not that it completed. So an
// instruction is pending until the next event of its vCPU.
//
// The next instruction or an interrupt completes it. An exception at its own address drops it,
// except for system calls, which complete by an exception. An instruction other than a branch that
// begins twice in a row was restarted by the emulator, and completed once.
//
// Capture begins at the first block of code after START, because the processor's mode is read only
// there. Every instruction that changes the mode ends its block. The last instruction ahead of a
// STOP, and the instruction that stops, are not captured. When the buffer is full, instructions are
// only counted, each block as a whole.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "execution.h"
#include "htm.h"
#include "qemu_plugin.h"

// `oracle_directory` may be NULL: no oracle. `register_again` registers the plugin's callbacks
// again, after capture_arm() made the emulator drop them.
void capture_init(qemu_plugin_id_t id, const char* oracle_directory,
                  qemu_plugin_udata_cb_t register_again);

// Call this when a core, or a bus whose commands are recorded, is configured, from the thread of
// the configuring vCPU. From here on, translated code reports its execution. Earlier code runs at
// full speed.
void capture_arm(void);
// Code runs at full speed again until a trace starts, unless a trace is in progress.
void capture_rest(void);
bool capture_armed(void);

// The emulator translates a block of code, then each of its instructions. `head` marks the first
// instruction.
void capture_translate_block(struct qemu_plugin_tb* tb);
void capture_translate(struct qemu_plugin_insn* insn, bool head);

// An exception, interrupt or hypervisor call; `from` and `to` are effective addresses.
void capture_discontinuity(unsigned vcpu, enum qemu_plugin_discon_type type, uint64_t from,
                           uint64_t to);

// Instructions that a vCPU has executed while translated code counted them: from CONFIGURE on,
// whether the macro traces or not. A block of code counts as a whole when it begins.
uint64_t capture_executed(unsigned vcpu);

// START and STOP of such a macro, with its lock held, from any vCPU's thread.
void capture_start(struct htm* htm);
void capture_stop(struct htm* htm);
