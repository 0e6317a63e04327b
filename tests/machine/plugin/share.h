// SPDX-License-Identifier: GPL-2.0-or-later
// Files that the guest hands to the host when its script has ended: a hypervisor call of user mode,
// of a number that PAPR gives to no one. tests/machine/clients/deliver.c is its caller.
#pragma once
#include <stdint.h>

// Of the range that PAPR leaves to platforms.
#define H_SHARE_OPCODE UINT64_C(0xff01)

// `name` and `bytes` are effective addresses of the calling vCPU, whose pages are in memory.
struct share_call {
  uint64_t name, name_length;  // below the shared folder; with a slash at the end a folder's
  uint64_t bytes, length;
  uint64_t offset;  // of the bytes in the file; 0 makes it anew
};

// Files go to this folder; before, none is taken.
void share_open(const char* folder);

// 0, or -1: not taken.
int64_t share_take(const struct share_call* call);
