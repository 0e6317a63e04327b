// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers of the H_HTM hypervisor call. Source: PAPR, as restated by the kernel's powerpc
// documentation (papr_hcalls.rst) and asm/hvcall.h. README.md lists the questions that PAPR leaves
// open.
#pragma once
#include <stdint.h>

#define H_HTM_OPCODE UINT64_C(0x458)

#define HTM_FLAG_HARDWARE_TARGET (UINT64_C(1) << 63)
#define HTM_FLAG_NOWRAP (UINT64_C(1) << 60)

enum htm_operation {
  kCapabilities = 1,
  kStatus,
  kSetup,
  kConfigure,
  kStart,
  kStop,
  kDeconfigure,
  kDumpDetails,
  kDumpData,
  kDumpSysmemConf,
  kDumpSysprocConf,
  kOperations,  // one past the last
};

enum htm_type { kTypeNone = 0, kTypeNest = 1, kTypeCore = 2, kTypeLlat = 3, kTypeGlobal = 0xff };

enum hcall_status {
  kSuccess = 0,
  kBusy = 1,
  kNotAvailable = 3,
  kPartial = 5,
  kHardware = -1,
  kFunction = -2,
  kPrivilege = -3,
  kParameter = -4,
  kAuthority = -10,
  kResource = -16,
  kP2 = -55,
  kP3 = -56,
  kP4 = -57,
  kP5 = -58,
  kP6 = -59,
  kUnsupported = -67,
  kState = -75,
};

enum { kBlockHeaderBytes = 32 };  // STATUS, DUMP_SYSMEM_CONF, DUMP_SYSPROC_CONF

// Returns "START" and so on, or NULL for an invalid operation.
const char* htm_operation_name(unsigned operation);
enum htm_operation htm_operation_named(const char* name);  // 0 for an unknown name
