// SPDX-License-Identifier: GPL-2.0-or-later
// When virtual processors stop and are dispatched again. H_CEDE and H_CONFER are the guest's own;
// time slices and page faults come at the configured rates, between two blocks of code that the
// vCPU executes.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "qemu_plugin.h"

// One "dtl..." line of the configuration. False: not understood.
bool dtl_set(const char* key, const char* value);
bool dtl_on(void);

void dtl_create(const char* directory);
// Registers what QEMU calls; again after each reset of the plugin.
void dtl_register_callbacks(qemu_plugin_id_t id);
void dtl_translate(struct qemu_plugin_tb* tb);

// Sees each hypervisor call of the kernel; `next` is where it returns to. True: answered with
// `status`, QEMU must not see it.
bool dtl_hypercall(unsigned vcpu, uint64_t number, uint64_t msr, uint64_t next, int64_t* status);
