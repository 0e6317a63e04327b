// SPDX-License-Identifier: GPL-2.0-or-later
// When virtual processors stop and are dispatched again. The guest itself calls H_CEDE and
// H_CONFER. Time slices and page faults occur at the configured rates, between two blocks of code
// of the vCPU.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "qemu_plugin.h"

// Parses one "dtl..." line of the configuration. Returns false for an invalid line.
bool dtl_set(const char* key, const char* value);
bool dtl_on(void);

void dtl_create(const char* directory);
// Registers the callbacks for QEMU. Call this again after each reset of the plugin.
void dtl_register_callbacks(qemu_plugin_id_t id);
void dtl_translate(struct qemu_plugin_tb* tb);

// Receives each hypervisor call of the kernel; `next` is its return address. Returns true if the
// call is answered with `status`, so that QEMU must not execute it.
bool dtl_hypercall(unsigned vcpu, uint64_t number, uint64_t msr, uint64_t next, int64_t* status);
