// SPDX-License-Identifier: GPL-2.0-or-later
// Decides which instructions a traced vCPU completed.
//
// The emulator tells that an instruction is about to execute, not that it did. So an instruction
// is pending until the next event of its vCPU: the next instruction or an interrupt completes it;
// an exception raised at its own address drops it, but for system calls, which complete by raising
// one. An instruction other than a branch that begins twice in a row was restarted by the emulator,
// and completed once. Capture begins at the first block of code after START, because only there
// the mode of the processor is read; every instruction that changes the mode ends its block. The
// last instruction before a STOP, or the one that stops, is not captured. When the buffer is full,
// instructions are only counted, each block as a whole.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "execution.h"
#include "htm.h"
#include "qemu_plugin.h"

// `oracle_directory` is NULL when no oracle is wanted. `register_again` asks for the plugin's
// callbacks anew, after capture_arm() made the emulator forget them.
void capture_init(qemu_plugin_id_t id, const char* oracle_directory,
                  qemu_plugin_udata_cb_t register_again);

// A core, or a bus whose commands are recorded, was configured: from here on, translated code tells
// what it executes. Before, code runs at full speed. To be called from the thread of the vCPU that
// configures.
void capture_arm(void);
// Code runs at full speed again until a trace is started, unless one is under way.
void capture_rest(void);
bool capture_armed(void);

// A block of code is being translated, then each of its instructions; `head`: it is the first.
void capture_translate_block(struct qemu_plugin_tb* tb);
void capture_translate(struct qemu_plugin_insn* insn, bool head);

// An exception, interrupt or hypervisor call; `from` and `to` are effective addresses.
void capture_discontinuity(unsigned vcpu, enum qemu_plugin_discon_type type, uint64_t from,
                           uint64_t to);

// START and STOP of such a macro, with its lock held, from any vCPU's thread.
void capture_start(struct htm* htm);
void capture_stop(struct htm* htm);
