// SPDX-License-Identifier: GPL-2.0-or-later
// Encodes dispatch trace log entries as the hypervisor writes them.
#pragma once

#include <cstdint>
#include <string>

#include "core/dispatch_log/entry.h"

namespace htmtrace {

inline std::string dtl_entry(const DtlEntry& entry) {
  std::string bytes;
  const auto put = [&](uint64_t value, int length) {
    for (int i = length - 1; i >= 0; i--) bytes += static_cast<char>(value >> (8 * i));
  };
  put(entry.dispatch_reason, 1);
  put(entry.preempt_reason, 1);
  put(entry.processor_id, 2);
  put(entry.enqueue_to_dispatch, 4);
  put(entry.ready_to_enqueue, 4);
  put(entry.waiting_to_ready, 4);
  put(entry.timebase, 8);
  put(entry.fault_address, 8);
  put(entry.srr0, 8);
  put(entry.srr1, 8);
  return bytes;
}

}  // namespace htmtrace
