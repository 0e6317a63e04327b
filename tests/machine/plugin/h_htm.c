// SPDX-License-Identifier: GPL-2.0-or-later
#include "h_htm.h"

#include <stddef.h>
#include <string.h>

const char* htm_operation_name(unsigned operation) {
  static const char* const names[kOperations] = {
      [kCapabilities] = "CAPABILITIES",
      [kStatus] = "STATUS",
      [kSetup] = "SETUP",
      [kConfigure] = "CONFIGURE",
      [kStart] = "START",
      [kStop] = "STOP",
      [kDeconfigure] = "DECONFIGURE",
      [kDumpDetails] = "DUMP_DETAILS",
      [kDumpData] = "DUMP_DATA",
      [kDumpSysmemConf] = "DUMP_SYSMEM_CONF",
      [kDumpSysprocConf] = "DUMP_SYSPROC_CONF",
  };
  return operation < kOperations ? names[operation] : NULL;
}

enum htm_operation htm_operation_named(const char* name) {
  for (unsigned i = 1; i < kOperations; i++) {
    if (strcmp(name, htm_operation_name(i)) == 0) return i;
  }
  return 0;
}
