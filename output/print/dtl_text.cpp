// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/print/dtl_text.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>

#include "core/base/spread.h"
#include "output/io/hex_text.h"
#include "output/io/json_key.h"
#include "output/io/put_text.h"

namespace htmtrace {
namespace {

char* put_reason(char* to, std::string_view name, uint8_t code) {
  return name.empty() ? put_decimal(to, code) : put_text(to, name);
}

// Inlined into the code of a line: calls would take a fifth of the printing time.
[[gnu::always_inline]] inline char* put_hex(char* to, uint64_t value) {
  return put_short_hex(put_text(to, "0x"), value);
}

constexpr uint64_t kEightDigits = 100'000'000;

[[gnu::always_inline]] inline char* put_ticks(char* to, uint32_t value) {
  return value < kEightDigits ? put_short_decimal(to, value) : put_decimal(to, value);
}

// The start of a line up to the decimal point, which all entries of one second share.
class Seconds {
 public:
  Seconds(int cpu, const DtlClock& clock) : cpu_(cpu), clock_(clock) {
    if (clock.ticks_per_second != 0) inverse_ = UINT64_MAX / clock.ticks_per_second;
  }

  // Prepares the text for put(). Returns false if only put_slowly() can print this time.
  bool find(uint64_t timebase) {
    timebase = std::max(timebase, clock_.boot_timebase);
    return timebase - begin_ < known_ticks_ || find_second(timebase);
  }

  // After find(), the nanoseconds since the start of the second.
  uint32_t nanoseconds(uint64_t timebase) const {
    return static_cast<uint32_t>(nanoseconds_of(std::max(timebase, clock_.boot_timebase) - begin_));
  }

  // "[003]     1.", after find().
  char* put(char* to) const {
    std::memcpy(to, text_.data(), kUsualText);
    if (length_ > kUsualText) [[unlikely]] {
      std::memcpy(to + kUsualText, text_.data() + kUsualText, text_.size() - kUsualText);
    }
    return to + length_;
  }

  // "[003]     1.000000195"
  char* put_slowly(char* to, uint64_t timebase) const {
    const auto time = clock_.nanoseconds(timebase);
    if (!time) return put_text(put_cpu(to), "-");
    return put_fraction(put_begin(to, *time / kSecond), *time % kSecond);
  }

 private:
  static constexpr uint64_t kSecond = 1'000'000'000;
  static constexpr uint64_t kMostTicks = UINT64_MAX / kSecond;

  // Requires ticks of less than a second. A division takes longer than all other numbers of a line.
  // The product with the inverse equals the quotient, or is too small by 1.
  uint64_t nanoseconds_of(uint64_t ticks) const {
    __extension__ typedef unsigned __int128 Wide;
    const uint64_t dividend = ticks * kSecond;
    const auto about = static_cast<uint64_t>(Wide{dividend} * inverse_ >> 64);
    const uint64_t rest = dividend - about * clock_.ticks_per_second;
    return about + (rest >= clock_.ticks_per_second ? 1 : 0);
  }

  // Returns false if the second does not exist, or its nanoseconds need larger numbers.
  bool find_second(uint64_t timebase) {
    if (clock_.ticks_per_second == 0 || clock_.ticks_per_second > kMostTicks) return false;
    const uint64_t seconds = (timebase - clock_.boot_timebase) / clock_.ticks_per_second;
    begin_ = clock_.boot_timebase + seconds * clock_.ticks_per_second;
    known_ticks_ = clock_.ticks_per_second;
    length_ = static_cast<size_t>(put_begin(text_.data(), seconds) - text_.data());
    return true;
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

  int cpu_;
  DtlClock clock_;
  uint64_t inverse_ = 0;      // 2^64 / ticks per second
  uint64_t begin_ = 0;        // timebase of the second
  uint64_t known_ticks_ = 0;  // the text changes at this tick
  size_t length_ = 0;
  static constexpr size_t kUsualText = 16;
  // put_decimal() needs more room than its text takes.
  std::array<char, 48> text_{};
};

// Caches ": vpa-dtl: timebase:513000000". The digits above the lowest eight change every 0.2
// seconds.
class Timebase {
 public:
  // Prepares the text for put(). Returns false if only put_slowly() can print this timebase.
  bool find(uint64_t timebase) {
    if (timebase - begin_ >= kEightDigits || begin_ == 0) [[unlikely]] {
      if (timebase < kEightDigits) return false;
      begin_ = timebase - timebase % kEightDigits;
      char* const end = put_decimal(put_text(text_.data(), kName), timebase / kEightDigits);
      length_ = static_cast<size_t>(end - text_.data());
    }
    return true;
  }

  // After find(), the number of the lowest eight digits.
  uint32_t lowest(uint64_t timebase) const { return static_cast<uint32_t>(timebase - begin_); }

  // The text up to the lowest eight digits, after find().
  char* put(char* to) const {
    std::memcpy(to, text_.data(), kMostText);
    return to + length_;
  }

  static char* put_slowly(char* to, uint64_t timebase) {
    return put_decimal(put_text(to, kName), timebase);
  }

 private:
  static constexpr std::string_view kName = ": vpa-dtl: timebase:";
  static constexpr size_t kMostText = 32;  // the name and twelve digits

  uint64_t begin_ = 0;  // 0: no text is cached
  size_t length_ = 0;
  std::array<char, kMostText + 16> text_{};
};

// Caches texts of numbers that often recur. `make(to, number)` makes a text of at most kMostText
// characters and returns its end.
template <size_t kMostText, unsigned kRowBits>
class NumberTexts {
 public:
  NumberTexts() {
    for (Row& row : rows_) row.length = 0;
  }

  // Requires room for kMostText characters.
  template <class Make>
  char* put(char* to, uint64_t number, const Make& make) {
    Row& row = rows_[spread(number) >> (64 - kRowBits)];
    if (row.number != number || row.length == 0) [[unlikely]] {
      row.number = number;
      row.length = static_cast<uint32_t>(make(row.text.data(), number) - row.text.data());
    }
    std::memcpy(to, row.text.data(), kMostText);
    return to + row.length;
  }

 private:
  struct Row {
    uint64_t number;
    uint32_t length;
    // put_decimal() and put_hex() need more room than their texts take.
    std::array<char, kMostText + 20> text;
  };
  std::array<Row, size_t{1} << kRowBits> rows_;
};

// Caches the text of two reasons with the names of the fields around them. Each text is copied with
// a fixed length, which is faster.
class Reasons {
 public:
  static char* put_any(char* to, uint8_t dispatch, uint8_t preempt) {
    to = put_reason(put_text(to, ", dispatch_reason:"), dispatch_reason_name(dispatch), dispatch);
    to = put_reason(put_text(to, ", preempt_reason:"), preempt_reason_name(preempt), preempt);
    return put_text(to, ", enqueue_to_dispatch_time:");
  }

  Reasons() {
    for (size_t i = 0; i < texts_.size(); i++) {
      std::array<char, 256> text{};
      const char* end = put_any(text.data(), static_cast<uint8_t>(i / kCodes), i % kCodes);
      texts_[i].length = static_cast<uint64_t>(end - text.data());
      std::memcpy(texts_[i].text.data(), text.data(), texts_[i].text.size());
    }
  }

  char* put(char* to, uint8_t dispatch, uint8_t preempt) const {
    if ((dispatch | preempt) >= kCodes) [[unlikely]]
      return put_any(to, dispatch, preempt);
    const Text& text = texts_[dispatch * kCodes + preempt];
    std::memcpy(to, text.text.data(), kUsual);
    if (text.length > kUsual) [[unlikely]] {
      std::memcpy(to + kUsual, text.text.data() + kUsual, kMost - kUsual);
    }
    return to + text.length;
  }

 private:
  static constexpr size_t kCodes = 16;  // codes with names, and a few codes beyond them
  static constexpr size_t kUsual = 96, kMost = 120;

  struct alignas(64) Text {
    std::array<char, kMost> text;
    uint64_t length;
  };
  std::array<Text, kCodes * kCodes> texts_;
};

struct Line {
  Seconds seconds;
  Timebase timebase;
  const Reasons& reasons;
  // A virtual processor uses few physical processors at a time, and most entries have the same few
  // values of srr1.
  NumberTexts<48, 6> processors;
  NumberTexts<32, 3> srr1;
};

char* put_times(char* to, Line& line, uint64_t timebase) {
  if (line.seconds.find(timebase) && line.timebase.find(timebase)) [[likely]] {
    const uint32_t ns = line.seconds.nanoseconds(timebase);
    const auto digits = eight_digits_of_both(ns % kEightDigits, line.timebase.lowest(timebase));
    to = line.seconds.put(to);
    *to++ = static_cast<char>('0' + ns / kEightDigits);
    to = line.timebase.put(put_digits(to, digits.first, 0));
    return put_digits(to, digits.second, 0);
  }
  return Timebase::put_slowly(line.seconds.put_slowly(to, timebase), timebase);
}

char* put_waits(char* to, const DtlEntry& entry) {
  constexpr std::string_view kReady = ", ready_to_enqueue_time:";
  constexpr std::string_view kWaiting = ", waiting_to_ready_time:";
  if (entry.enqueue_to_dispatch < kEightDigits && entry.waiting_to_ready < kEightDigits)
      [[likely]] {
    const auto digits = eight_digits_of_both(entry.enqueue_to_dispatch, entry.waiting_to_ready);
    to = put_short_digits(to, digits.first);
    to = put_ticks(put_text(to, kReady), entry.ready_to_enqueue);
    return put_short_digits(put_text(to, kWaiting), digits.second);
  }
  to = put_ticks(to, entry.enqueue_to_dispatch);
  to = put_ticks(put_text(to, kReady), entry.ready_to_enqueue);
  return put_ticks(put_text(to, kWaiting), entry.waiting_to_ready);
}

char* put_line(char* to, Line& line, const DtlEntry& entry) {
  to = put_times(to, line, entry.timebase);
  to = line.reasons.put(to, entry.dispatch_reason, entry.preempt_reason);
  to = put_waits(to, entry);
  to = line.processors.put(to, entry.processor_id, [](char* text, uint64_t processor) {
    return put_text(put_decimal(put_text(text, ", processor_id:"), processor), ", fault_addr:0x");
  });
  if (entry.fault_address == 0) {
    *to++ = '0';
  } else {
    to = put_short_hex(to, entry.fault_address);
  }
  to = put_hex(put_text(to, ", srr0:"), entry.srr0);
  return line.srr1.put(to, entry.srr1, [](char* text, uint64_t srr1) {
    return put_hex(put_text(text, ", srr1:"), srr1);
  });
}

constexpr std::string_view kCsvHead =
    "cpu,time_ns,timebase,dispatch_reason,preempt_reason,enqueue_to_dispatch_time,"
    "ready_to_enqueue_time,waiting_to_ready_time,processor_id,fault_addr,srr0,srr1";

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
  return put_hex(put_text(to, ","), entry.srr1);
}

// JSON readers may round large numbers, so 64-bit addresses are text.
char* put_json(char* to, int cpu, const DtlClock& clock, const DtlEntry& entry) {
  to = put_decimal(put_first_key<"cpu">(to), static_cast<uint64_t>(cpu));
  to = put_key<"time_ns">(to);
  const auto time = clock.nanoseconds(entry.timebase);
  to = time ? put_decimal(to, *time) : put_text(to, "null");
  to = put_decimal(put_key<"timebase">(to), entry.timebase);
  to = put_quote(put_key<"dispatch_reason">(to));
  to =
      put_quote(put_reason(to, dispatch_reason_name(entry.dispatch_reason), entry.dispatch_reason));
  to = put_quote(put_key<"preempt_reason">(to));
  to = put_quote(put_reason(to, preempt_reason_name(entry.preempt_reason), entry.preempt_reason));
  to = put_decimal(put_key<"enqueue_to_dispatch_time">(to), entry.enqueue_to_dispatch);
  to = put_decimal(put_key<"ready_to_enqueue_time">(to), entry.ready_to_enqueue);
  to = put_decimal(put_key<"waiting_to_ready_time">(to), entry.waiting_to_ready);
  to = put_decimal(put_key<"processor_id">(to), entry.processor_id);
  to = put_quote(put_hex(put_quote(put_key<"fault_addr">(to)), entry.fault_address));
  to = put_quote(put_hex(put_quote(put_key<"srr0">(to)), entry.srr0));
  return put_quote(put_hex(put_quote(put_key<"srr1">(to)), entry.srr1));
}

// Writes the end of a line, after all fields.
[[gnu::always_inline]] inline char* put_end(char* to, DtlFormat format) {
  return format == DtlFormat::kJson ? put_text(to, "}\n") : put_text(to, "\n");
}

// A line has at most about 460 characters without its task.
template <DtlFormat kFormat, class Put>
void print_all(TextOutput& output, std::span<const DtlEntry> entries, const DtlTaskColumn* tasks,
               Put put) {
  if (tasks == nullptr) {
    for (const DtlEntry& entry : entries)
      output.commit(put_end(put(output.room(), entry), kFormat));
    return;
  }
  for (size_t i = 0; i < entries.size(); i++) {
    output.commit(put(output.room(), entries[i]));
    output.commit(put_end(put_text(output.room(), tasks->text(kFormat, i)), kFormat));
  }
}

void print_lines(TextOutput& output, int cpu, const DtlClock& clock,
                 std::span<const DtlEntry> entries, const DtlTaskColumn* tasks) {
  static const Reasons reasons;
  Line line{Seconds(cpu, clock), {}, reasons, {}, {}};
  print_all<DtlFormat::kText>(output, entries, tasks, [&](char* to, const DtlEntry& entry) {
    return put_line(to, line, entry);
  });
}

}  // namespace

void print_dtl_head(TextOutput& output, DtlFormat format, bool tasks) {
  if (format != DtlFormat::kCsv) return;
  output.put(kCsvHead);
  output.put(tasks ? ",pid,tid,comm\n" : "\n");
}

void print_dtl_entries(TextOutput& output, DtlFormat format, int cpu, const DtlClock& clock,
                       std::span<const DtlEntry> entries, const DtlTaskColumn* tasks) {
  switch (format) {
    case DtlFormat::kText:
      return print_lines(output, cpu, clock, entries, tasks);
    case DtlFormat::kCsv:
      return print_all<DtlFormat::kCsv>(
          output, entries, tasks,
          [&](char* to, const DtlEntry& entry) { return put_csv(to, cpu, clock, entry); });
    case DtlFormat::kJson:
      return print_all<DtlFormat::kJson>(
          output, entries, tasks,
          [&](char* to, const DtlEntry& entry) { return put_json(to, cpu, clock, entry); });
  }
}

}  // namespace htmtrace
