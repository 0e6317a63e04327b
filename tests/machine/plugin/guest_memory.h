// SPDX-License-Identifier: GPL-2.0-or-later
// The guest's memory, by guest real address. Call these functions only from a thread that runs a
// vCPU.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Bytes of RAM from address 0, detected on the first call.
uint64_t guest_ram_bytes(void);

// Returns the big-endian number in `length` bytes, at most 8, or 0 if it cannot be read, which is a
// violation of the caller.
uint64_t guest_read(uint64_t address, size_t length);

// Copies into the guest. The caller has checked the range.
void guest_write(uint64_t address, const void* bytes, size_t length);
