// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/dtl_text.h"

#include <fmt/compile.h>

#include <algorithm>
#include <string_view>

namespace htmtrace {
namespace {

char* put(char* to, std::string_view text) {
  return std::copy(text.begin(), text.end(), to);
}

char* put_reason(char* to, std::string_view name, uint8_t code) {
  return name.empty() ? fmt::format_to(to, FMT_COMPILE("{}"), code) : put(to, name);
}

char* put_time(char* to, const DtlClock& clock, uint64_t timebase) {
  constexpr uint64_t kSecond = 1'000'000'000;
  const auto time = clock.nanoseconds(timebase);
  if (!time) return put(to, "-");
  return fmt::format_to(to, FMT_COMPILE("{:5}.{:09}"), *time / kSecond, *time % kSecond);
}

char* put_entry(char* to, int cpu, const DtlClock& clock, const DtlEntry& entry) {
  to = fmt::format_to(to, FMT_COMPILE("[{:03}] "), cpu);
  to = put_time(to, clock, entry.timebase);
  to = fmt::format_to(to, FMT_COMPILE(": vpa-dtl: timebase:{}, dispatch_reason:"), entry.timebase);
  to = put_reason(to, dispatch_reason_name(entry.dispatch_reason), entry.dispatch_reason);
  to = put(to, ", preempt_reason:");
  to = put_reason(to, preempt_reason_name(entry.preempt_reason), entry.preempt_reason);
  to = fmt::format_to(to,
                      FMT_COMPILE(", enqueue_to_dispatch_time:{}, ready_to_enqueue_time:{}, "
                                  "waiting_to_ready_time:{}, processor_id:{}, "),
                      entry.enqueue_to_dispatch, entry.ready_to_enqueue, entry.waiting_to_ready,
                      entry.processor_id);
  return fmt::format_to(to, FMT_COMPILE("fault_addr:{:#x}, srr0:{:#x}, srr1:{:#x}\n"),
                        entry.fault_address, entry.srr0, entry.srr1);
}

}  // namespace

void print_dtl_entries(TextOutput& output, int cpu, const DtlClock& clock,
                       std::span<const std::byte> entries) {
  for (size_t at = 0; at + kDtlEntryBytes <= entries.size(); at += kDtlEntryBytes) {
    // A line has some 420 characters at most.
    output.commit(put_entry(output.room(), cpu, clock, load_dtl_entry(entries.data() + at)));
  }
}

}  // namespace htmtrace
