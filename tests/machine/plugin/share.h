// SPDX-License-Identifier: GPL-2.0-or-later
// Receives files from the guest after its script: a user-mode hypervisor call with a number that
// PAPR assigns to no function. tests/machine/clients/deliver.c is its caller.
#pragma once
#include <stdint.h>

// In the range that PAPR leaves to platforms.
#define H_SHARE_OPCODE UINT64_C(0xff01)

// `name` and `bytes` are effective addresses of the calling vCPU, whose pages are in memory.
struct share_call {
  uint64_t name, name_length;  // relative to the shared folder; a trailing slash names a folder
  uint64_t bytes, length;
  uint64_t offset;  // offset of the bytes in the file; 0 creates the file again
};

// Files go to this folder. Until this call, files are rejected.
void share_open(const char* folder);

// Returns 0, or -1 if the file is rejected.
int64_t share_take(const struct share_call* call);
