// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/dtl_text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <string_view>

#include "output/hex_text.h"
#include "output/put_text.h"

namespace htmtrace {
namespace {

char* put_reason(char* to, std::string_view name, uint8_t code) {
  return name.empty() ? put_decimal(to, code) : put_text(to, name);
}

char* put_hex(char* to, uint64_t value) {
  to = put_text(to, "0x");
  // Without leading zeros, but for the last digit.
  const auto zeros = static_cast<unsigned>(std::countl_zero(value | 1)) / 4;
  return put_hex64(to, value << 4 * zeros) - zeros;
}

// A line's beginning up to the decimal point, which is the same for a second.
class Seconds {
 public:
  Seconds(int cpu, const DtlClock& clock) : cpu_(cpu), clock_(clock) {}

  // "[003]     1.000000195"
  char* put(char* to, uint64_t timebase) {
    if (clock_.ticks_per_second == 0 || clock_.ticks_per_second > kMostTicks) {
      return put_slowly(to, timebase);
    }
    timebase = std::max(timebase, clock_.boot_timebase);
    if (timebase - begin_ >= clock_.ticks_per_second || !known_) find(timebase);
    std::memcpy(to, text_.data(), text_.size());
    return put_fraction(to + length_, (timebase - begin_) * kSecond / clock_.ticks_per_second);
  }

 private:
  static constexpr uint64_t kSecond = 1'000'000'000, kEightDigits = 100'000'000;
  static constexpr uint64_t kMostTicks = UINT64_MAX / kSecond;

  void find(uint64_t timebase) {
    const uint64_t seconds = (timebase - clock_.boot_timebase) / clock_.ticks_per_second;
    begin_ = clock_.boot_timebase + seconds * clock_.ticks_per_second;
    known_ = true;
    length_ = static_cast<size_t>(put_begin(text_.data(), seconds) - text_.data());
  }

  char* put_begin(char* to, uint64_t seconds) const {
    to = put_cpu(to);
    for (uint64_t limit = 10'000; limit > std::max<uint64_t>(seconds, 1); limit /= 10) *to++ = ' ';
    return put_text(put_decimal(to, seconds), ".");
  }

  char* put_cpu(char* to) const {
    to = put_text(to, "[");
    for (int limit = 100; limit > std::max(cpu_, 1); limit /= 10) *to++ = '0';
    return put_text(put_decimal(to, static_cast<uint64_t>(cpu_)), "] ");
  }

  static char* put_fraction(char* to, uint64_t ns) {
    *to++ = static_cast<char>('0' + ns / kEightDigits);
    return put_digits(to, eight_digits(static_cast<uint32_t>(ns % kEightDigits)), 0);
  }

  char* put_slowly(char* to, uint64_t timebase) const {
    const auto time = clock_.nanoseconds(timebase);
    if (!time) return put_text(put_cpu(to), "-");
    return put_fraction(put_begin(to, *time / kSecond), *time % kSecond);
  }

  int cpu_;
  const DtlClock& clock_;
  bool known_ = false;
  uint64_t begin_ = 0;  // timebase of the second
  size_t length_ = 0;
  std::array<char, 48> text_{};
};

// What a reason looks like in a line. All are copied with the same length, which is faster.
struct Reason {
  std::array<char, 64> text{};
  size_t length = 0;
};
using Reasons = std::array<Reason, 256>;

Reasons make_reasons(std::string_view field, std::string_view (*name)(uint8_t)) {
  Reasons reasons;
  for (size_t code = 0; code < reasons.size(); code++) {
    char* const begin = reasons[code].text.data();
    const auto number = static_cast<uint8_t>(code);
    const char* end = put_reason(put_text(begin, field), name(number), number);
    reasons[code].length = static_cast<size_t>(end - begin);
  }
  return reasons;
}

char* put_reason(char* to, const Reason& reason) {
  std::memcpy(to, reason.text.data(), reason.text.size());
  return to + reason.length;
}

struct Line {
  Seconds seconds;
  const Reasons& dispatch;
  const Reasons& preempt;
};

char* put_line(char* to, Line& line, const DtlEntry& entry) {
  to = line.seconds.put(to, entry.timebase);
  to = put_decimal(put_text(to, ": vpa-dtl: timebase:"), entry.timebase);
  to = put_reason(to, line.dispatch[entry.dispatch_reason]);
  to = put_reason(to, line.preempt[entry.preempt_reason]);
  to = put_decimal(put_text(to, ", enqueue_to_dispatch_time:"), entry.enqueue_to_dispatch);
  to = put_decimal(put_text(to, ", ready_to_enqueue_time:"), entry.ready_to_enqueue);
  to = put_decimal(put_text(to, ", waiting_to_ready_time:"), entry.waiting_to_ready);
  to = put_decimal(put_text(to, ", processor_id:"), entry.processor_id);
  to = put_hex(put_text(to, ", fault_addr:"), entry.fault_address);
  to = put_hex(put_text(to, ", srr0:"), entry.srr0);
  to = put_hex(put_text(to, ", srr1:"), entry.srr1);
  return put_text(to, "\n");
}

constexpr std::string_view kCsvHead =
    "cpu,time_ns,timebase,dispatch_reason,preempt_reason,enqueue_to_dispatch_time,"
    "ready_to_enqueue_time,waiting_to_ready_time,processor_id,fault_addr,srr0,srr1\n";

char* put_csv(char* to, int cpu, const DtlClock& clock, const DtlEntry& entry) {
  to = put_text(put_decimal(to, static_cast<uint64_t>(cpu)), ",");
  if (const auto time = clock.nanoseconds(entry.timebase)) to = put_decimal(to, *time);
  to = put_decimal(put_text(to, ","), entry.timebase);
  to = put_reason(put_text(to, ","), dispatch_reason_name(entry.dispatch_reason),
                  entry.dispatch_reason);
  to = put_reason(put_text(to, ","), preempt_reason_name(entry.preempt_reason),
                  entry.preempt_reason);
  to = put_decimal(put_text(to, ","), entry.enqueue_to_dispatch);
  to = put_decimal(put_text(to, ","), entry.ready_to_enqueue);
  to = put_decimal(put_text(to, ","), entry.waiting_to_ready);
  to = put_decimal(put_text(to, ","), entry.processor_id);
  to = put_hex(put_text(to, ","), entry.fault_address);
  to = put_hex(put_text(to, ","), entry.srr0);
  to = put_hex(put_text(to, ","), entry.srr1);
  return put_text(to, "\n");
}

// Numbers that JSON's readers may round, those of 64 bits that are addresses, are text.
char* put_json(char* to, int cpu, const DtlClock& clock, const DtlEntry& entry) {
  to = put_decimal(put_text(to, R"({"cpu":)"), static_cast<uint64_t>(cpu));
  to = put_text(to, R"(,"time_ns":)");
  const auto time = clock.nanoseconds(entry.timebase);
  to = time ? put_decimal(to, *time) : put_text(to, "null");
  to = put_decimal(put_text(to, R"(,"timebase":)"), entry.timebase);
  to = put_reason(put_text(to, R"(,"dispatch_reason":")"),
                  dispatch_reason_name(entry.dispatch_reason), entry.dispatch_reason);
  to = put_reason(put_text(to, R"(","preempt_reason":")"),
                  preempt_reason_name(entry.preempt_reason), entry.preempt_reason);
  to = put_decimal(put_text(to, R"(","enqueue_to_dispatch_time":)"), entry.enqueue_to_dispatch);
  to = put_decimal(put_text(to, R"(,"ready_to_enqueue_time":)"), entry.ready_to_enqueue);
  to = put_decimal(put_text(to, R"(,"waiting_to_ready_time":)"), entry.waiting_to_ready);
  to = put_decimal(put_text(to, R"(,"processor_id":)"), entry.processor_id);
  to = put_hex(put_text(to, R"(,"fault_addr":")"), entry.fault_address);
  to = put_hex(put_text(to, R"(","srr0":")"), entry.srr0);
  to = put_hex(put_text(to, R"(","srr1":")"), entry.srr1);
  return put_text(to, "\"}\n");
}

// A line has some 460 characters at most.
template <class Put>
void print_all(TextOutput& output, std::span<const DtlEntry> entries, Put put) {
  for (const DtlEntry& entry : entries) output.commit(put(output.room(), entry));
}

void print_lines(TextOutput& output, int cpu, const DtlClock& clock,
                 std::span<const DtlEntry> entries) {
  static const Reasons dispatch = make_reasons(", dispatch_reason:", dispatch_reason_name);
  static const Reasons preempt = make_reasons(", preempt_reason:", preempt_reason_name);
  Line line{Seconds(cpu, clock), dispatch, preempt};
  print_all(output, entries,
            [&](char* to, const DtlEntry& entry) { return put_line(to, line, entry); });
}

}  // namespace

void print_dtl_head(TextOutput& output, DtlFormat format) {
  if (format == DtlFormat::kCsv) output.put(kCsvHead);
}

void print_dtl_entries(TextOutput& output, DtlFormat format, int cpu, const DtlClock& clock,
                       std::span<const DtlEntry> entries) {
  switch (format) {
    case DtlFormat::kText:
      return print_lines(output, cpu, clock, entries);
    case DtlFormat::kCsv:
      return print_all(output, entries, [&](char* to, const DtlEntry& entry) {
        return put_csv(to, cpu, clock, entry);
      });
    case DtlFormat::kJson:
      return print_all(output, entries, [&](char* to, const DtlEntry& entry) {
        return put_json(to, cpu, clock, entry);
      });
  }
}

}  // namespace htmtrace
