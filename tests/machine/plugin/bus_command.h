// SPDX-License-Identifier: GPL-2.0-or-later
// A command on a chip's bus, as the bus passes it to the trace and to the oracle.
#pragma once
#include <stdint.h>

enum bus_operation {
  kRead,          // a line that may be shared
  kReadToModify,  // a line for a store
  kClaim,         // the right to store to a line that the cache holds
  kCastOut,       // a modified line, written back to memory
  kDeviceRead,
  kDeviceWrite,
};

struct bus_command {
  enum bus_operation operation;
  unsigned response;     // code of the combined response
  unsigned core;         // number of the core on its chip
  unsigned transaction;  // 0-31
  uint64_t real;         // the guest's real address; a multiple of 4
  uint64_t machine;      // of the same byte
  uint64_t tick;
};
