// SPDX-License-Identifier: GPL-2.0-or-later
#include "hcall.h"

#include <stdbool.h>
#include <stddef.h>

#include "blocks.h"
#include "faults.h"
#include "guest_memory.h"
#include "htm.h"
#include "ranges.h"
#include "report.h"

enum {
  kCapabilitiesBytes = 0x80,
  kDumpAlignment = 4096,
  kBlockAlignment = 8,
  kMinSetupLog2 = 12,
  kMaxSetupLog2 = 48,
};

static bool type_valid(enum htm_operation operation, unsigned type) {
  const bool whole_machine =
      operation == kDumpSysmemConf || operation == kDumpSysprocConf || operation == kCapabilities;
  if (type == kTypeNone || type == kTypeGlobal) return whole_machine;
  return type == kTypeNest || type == kTypeCore || type == kTypeLlat;
}

// Reads the caller's (address, length) for an answer of at least `minimum` bytes.
static int64_t check_range(const struct htm_call* call, uint64_t alignment, uint64_t minimum,
                           enum htm_operation operation) {
  const uint64_t address = call->parameter[0], length = call->parameter[1];
  if (address % alignment != 0) return kP4;
  if (length < minimum) return kP5;
  if (ranges_given(operation, address, length)) return kSuccess;
  return address < guest_ram_bytes() ? kP5 : kP4;
}

static int64_t check_zero(const struct htm_call* call, unsigned first) {
  for (unsigned i = first; i < 3; i++) {
    if (call->parameter[i] != 0) return kP4 - (int)i;
  }
  return kSuccess;
}

static int64_t capabilities(const struct htm_call* call) {
  uint8_t answer[kCapabilitiesBytes];
  int64_t status = check_range(call, kBlockAlignment, kCapabilitiesBytes, kCapabilities);
  if (status == kSuccess && call->parameter[1] != kCapabilitiesBytes) status = kP5;
  if (status == kSuccess) status = check_zero(call, 2);
  if (status != kSuccess) return status;
  blocks_capabilities(answer);
  guest_write(call->parameter[0], answer, sizeof(answer));
  return kSuccess;
}

static int64_t block(const struct htm_call* call, enum htm_operation operation,
                     enum htm_type type) {
  const size_t minimum = kBlockHeaderBytes + blocks_entry_bytes(operation, type);
  const int64_t status = check_range(call, kBlockAlignment, minimum, operation);
  if (status != kSuccess) return status;
  return blocks_answer(operation, type, call->parameter[0], call->parameter[1], call->parameter[2]);
}

static int64_t setup(struct htm* htm, const struct htm_call* call) {
  const uint64_t log2 = call->parameter[0];
  if (log2 < kMinSetupLog2 || log2 > kMaxSetupLog2) return kP4;
  const int64_t status = check_zero(call, 1);
  return status != kSuccess ? status : htm_setup(htm, (unsigned)log2);
}

static int64_t configure(struct htm* htm, const struct htm_call* call) {
  // A mode value may only have bits that its mask selects. The modes have no effect.
  if ((call->parameter[1] & ~call->parameter[0]) != 0) return kP5;
  if (call->parameter[2] != 0) return kP6;
  return htm_configure(htm, call->flags & HTM_FLAG_NOWRAP);
}

static int64_t dump_data(struct htm* htm, const struct htm_call* call) {
  if (call->parameter[0] % kDumpAlignment != 0) return kP4;
  if (call->parameter[1] % kDumpAlignment != 0) return kP5;
  if (call->parameter[2] % kDumpAlignment != 0) return kP6;
  const int64_t status = check_range(call, kDumpAlignment, kDumpAlignment, kDumpData);
  if (status != kSuccess) return status;
  return htm_dump(htm, call->parameter[0], call->parameter[1], call->parameter[2]);
}

static int64_t simple(struct htm* htm, const struct htm_call* call,
                      int64_t (*operation)(struct htm*)) {
  const int64_t status = check_zero(call, 0);
  return status != kSuccess ? status : operation(htm);
}

static int64_t dispatch(enum htm_operation operation, enum htm_type type, struct htm* htm,
                        const struct htm_call* call) {
  switch (operation) {
    case kCapabilities:
      return capabilities(call);
    case kStatus:
    case kDumpSysmemConf:
    case kDumpSysprocConf:
      return block(call, operation, type);
    case kSetup:
      return setup(htm, call);
    case kConfigure:
      return configure(htm, call);
    case kStart:
      return simple(htm, call, htm_start);
    case kStop:
      return simple(htm, call, htm_stop);
    case kDeconfigure:
      return simple(htm, call, htm_deconfigure);
    case kDumpData:
      return dump_data(htm, call);
    default:
      return kUnsupported;  // DUMP_DETAILS: no public caller, no public meaning
  }
}

int64_t hcall_htm(const struct htm_call* call) {
  const unsigned number = (unsigned)(call->operation >> 48);
  const unsigned type = (unsigned)(call->operation >> 32) & 0xffff;
  const bool known = htm_operation_name(number) != NULL;
  const enum htm_operation operation = known ? (enum htm_operation)number : 0;
  int64_t status;
  if (known) {
    report_call(operation);
    if (faults_apply(operation, &status)) return status;
  }
  // Only hardware indices, one of three ways to name a target, are documented.
  if ((call->flags | HTM_FLAG_NOWRAP) != (HTM_FLAG_HARDWARE_TARGET | HTM_FLAG_NOWRAP)) {
    return kParameter;
  }
  if ((call->target & 0xffff) != 0) return kP2;
  if (!known || (uint32_t)call->operation != 0 || !type_valid(operation, type)) return kP3;
  struct htm* htm = htm_find(type, (uint16_t)(call->target >> 48), (uint16_t)(call->target >> 32),
                             (uint16_t)(call->target >> 16));
  const bool whole_machine = operation == kDumpSysmemConf || operation == kDumpSysprocConf ||
                             type == kTypeNone || type == kTypeGlobal;
  if (htm == NULL && !whole_machine) return kP2;
  return dispatch(operation, type, htm, call);
}
