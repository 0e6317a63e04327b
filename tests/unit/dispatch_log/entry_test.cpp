// SPDX-License-Identifier: GPL-2.0-or-later
// Tests dispatch trace log entries, their text, and the proof that no entry is missing.
#include "core/dispatch_log/entry.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cpu_list.h"
#include "cli/dispatches/report.h"
#include "core/dispatch_log/proof.h"
#include "output/print/dtl_text.h"
#include "pmu/dtl_event.h"
#include "ringbuf/vpa_counters.h"
#include "tests/unit/dtl_bytes.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

std::string printed(const std::string& bytes, const DtlClock& clock,
                    DtlFormat format = DtlFormat::kText) {
  std::vector<DtlEntry> entries;
  for (size_t at = 0; at < bytes.size(); at += kDtlEntryBytes) {
    entries.push_back(load_dtl_entry(std::as_bytes(std::span(bytes)).data() + at));
  }
  const TemporaryFolder folder;
  const auto path = folder.path() / "text";
  TextOutput output = TextOutput::create(path, Existing::kRefuse);
  print_dtl_head(output, format);
  print_dtl_entries(output, format, 3, clock, entries);
  output.finish();
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string reason_text(std::string_view name, uint8_t code) {
  return name.empty() ? std::to_string(code) : std::string(name);
}

std::string plain_line(const DtlEntry& entry, const DtlClock& clock) {
  __extension__ typedef unsigned __int128 Wide;
  const uint64_t ticks = std::max(entry.timebase, clock.boot_timebase) - clock.boot_timebase;
  const uint64_t seconds = ticks / clock.ticks_per_second;
  const auto ns = static_cast<uint64_t>(Wide{ticks % clock.ticks_per_second} * 1'000'000'000 /
                                        clock.ticks_per_second);
  return fmt::format(
      "[003] {:5}.{:09}: vpa-dtl: timebase:{}, dispatch_reason:{}, preempt_reason:{}, "
      "enqueue_to_dispatch_time:{}, ready_to_enqueue_time:{}, waiting_to_ready_time:{}, "
      "processor_id:{}, fault_addr:{:#x}, srr0:{:#x}, srr1:{:#x}\n",
      seconds, ns, entry.timebase,
      reason_text(dispatch_reason_name(entry.dispatch_reason), entry.dispatch_reason),
      reason_text(preempt_reason_name(entry.preempt_reason), entry.preempt_reason),
      entry.enqueue_to_dispatch, entry.ready_to_enqueue, entry.waiting_to_ready, entry.processor_id,
      entry.fault_address, entry.srr0, entry.srr1);
}

DtlReport report_of(const DtlCpuResult& result, const std::string& event = "all") {
  DtlReport report;
  report.event = event;
  report.period_ns = 5'000'000;
  report.duration = std::chrono::milliseconds(1500);
  report.add(result, {}, {});
  return report;
}

}  // namespace

TEST_CASE("programs receive an entry as a line of CSV or JSON") {
  const std::string entry = dtl_entry({.dispatch_reason = 3,
                                       .preempt_reason = 200,
                                       .processor_id = 3,
                                       .enqueue_to_dispatch = 100,
                                       .ready_to_enqueue = 7,
                                       .waiting_to_ready = 55,
                                       .timebase = 512'000'100,
                                       .srr0 = 0xc000000000001234,
                                       .srr1 = 0x8000000000009033});
  const DtlClock clock{.boot_timebase = 100, .ticks_per_second = 512'000'000};
  CHECK(printed(entry, clock, DtlFormat::kCsv) ==
        "cpu,time_ns,timebase,dispatch_reason,preempt_reason,enqueue_to_dispatch_time,"
        "ready_to_enqueue_time,waiting_to_ready_time,processor_id,fault_addr,srr0,srr1\n"
        "3,1000000000,512000100,decrementer_interrupt,200,100,7,55,3,0x0,0xc000000000001234,"
        "0x8000000000009033\n");
  CHECK(printed(entry, clock, DtlFormat::kJson) ==
        R"({"cpu":3,"time_ns":1000000000,"timebase":512000100,)"
        R"("dispatch_reason":"decrementer_interrupt","preempt_reason":"200",)"
        R"("enqueue_to_dispatch_time":100,"ready_to_enqueue_time":7,"waiting_to_ready_time":55,)"
        R"("processor_id":3,"fault_addr":"0x0","srr0":"0xc000000000001234",)"
        R"("srr1":"0x8000000000009033"})"
        "\n");
  CHECK(printed(entry, {}, DtlFormat::kJson).find(R"("time_ns":null,)") != std::string::npos);
  CHECK(printed(entry, {}, DtlFormat::kCsv).find("\n3,,512000100,") != std::string::npos);
}

TEST_CASE("an entry is printed with perf's field names") {
  CHECK(printed(dtl_entry({.dispatch_reason = 3,
                           .preempt_reason = 2,
                           .processor_id = 3,
                           .enqueue_to_dispatch = 100,
                           .ready_to_enqueue = 7,
                           .waiting_to_ready = 55,
                           .timebase = 513000000,
                           .fault_address = 0x10,
                           .srr0 = 0xc000000000001234,
                           .srr1 = 0x8000000000009033}),
                {.boot_timebase = 1000000, .ticks_per_second = 512000000}) ==
        "[003]     1.000000000: vpa-dtl: timebase:513000000, "
        "dispatch_reason:decrementer_interrupt, preempt_reason:H_CEDE, "
        "enqueue_to_dispatch_time:100, ready_to_enqueue_time:7, waiting_to_ready_time:55, "
        "processor_id:3, fault_addr:0x10, srr0:0xc000000000001234, srr1:0x8000000000009033\n");
}

TEST_CASE("a reason without a name is a number, and a time without a clock is a dash") {
  const std::string text =
      printed(dtl_entry({.dispatch_reason = 11, .preempt_reason = 255, .timebase = 5}), {});
  CHECK(text.find("[003] -: vpa-dtl: timebase:5, dispatch_reason:11, preempt_reason:255,") == 0);
}

// The printer caches parts of a line for the next line, and replaces divisions by multiplications.
TEST_CASE("each line is the same as if it were printed alone, field by field") {
  std::mt19937_64 random(1);
  const auto any = [&] { return random() >> random() % 64; };
  for (const uint64_t ticks :
       {uint64_t{1}, uint64_t{3}, uint64_t{1} << 29, uint64_t{512'000'000}, uint64_t{999'999'999},
        uint64_t{18'446'744'073}, uint64_t{18'446'744'074}, uint64_t{1} << 60}) {
    CAPTURE(ticks);
    const DtlClock clock{.boot_timebase = any(), .ticks_per_second = ticks};
    std::string bytes, expected;
    uint64_t timebase = random() % 200'000'000;
    for (int i = 0; i < 500; i++) {
      // A small step ahead, a step to the end of a second or of 100 million, or a random step.
      const uint64_t way = random() % 8;
      if (way < 4) timebase += random() % (ticks < 100'000'000 ? ticks + 1 : 60'000'000);
      if (way == 4) timebase = clock.boot_timebase + (random() % 9 + 1) * ticks - random() % 2;
      if (way == 5) timebase += 100'000'000 - timebase % 100'000'000 - random() % 2;
      if (way == 6) timebase = any();
      const DtlEntry entry{.dispatch_reason = static_cast<uint8_t>(random() % (i % 9 ? 12 : 256)),
                           .preempt_reason = static_cast<uint8_t>(random() % (i % 7 ? 11 : 256)),
                           .processor_id = static_cast<uint16_t>(any()),
                           .enqueue_to_dispatch = static_cast<uint32_t>(any()),
                           .ready_to_enqueue = static_cast<uint32_t>(any()),
                           .waiting_to_ready = static_cast<uint32_t>(any()),
                           .timebase = timebase,
                           .fault_address = random() % 2 == 0 ? 0 : any(),
                           .srr0 = any(),
                           .srr1 = any()};
      bytes += dtl_entry(entry);
      expected += plain_line(entry, clock);
    }
    CHECK(printed(bytes, clock) == expected);
  }
}

TEST_CASE("the longest entry fits the room of a line") {
  DtlEntry most;
  most.dispatch_reason = 8;
  most.preempt_reason = 5;
  most.processor_id = UINT16_MAX;
  most.enqueue_to_dispatch = most.ready_to_enqueue = most.waiting_to_ready = UINT32_MAX;
  most.timebase = most.fault_address = most.srr0 = most.srr1 = UINT64_MAX;
  CHECK(printed(dtl_entry(most), {.boot_timebase = 0, .ticks_per_second = 1}).size() <
        TextOutput::kRoom);
}

TEST_CASE("time is exact after months, and never earlier than boot") {
  const DtlClock clock{.boot_timebase = 1000, .ticks_per_second = 512000000};
  const uint64_t year = uint64_t{365} * 24 * 3600 * 512000000;
  CHECK(clock.nanoseconds(1000 + year + 64) == uint64_t{365} * 24 * 3600 * 1'000'000'000 + 125);
  CHECK(clock.nanoseconds(999) == 0);
  CHECK_FALSE(DtlClock{}.nanoseconds(5));
}

TEST_CASE("CPU lists are parsed") {
  CHECK(parse_cpu_list("0-2,16") == std::vector{0, 1, 2, 16});
  CHECK(parse_cpu_list("5,3,3-4") == std::vector{3, 4, 5});
  for (const char* bad : {"", ",", "1,", "2-1", "-1", "1-", "a", "1;2", "99999999999", "1 2"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_cpu_list(bad));
  }
}

TEST_CASE("the hypervisor's index shows how many entries are missing") {
  DtlProof proof;
  CHECK_FALSE(proof.shortfall());
  for (uint64_t i = 1; i <= 90; i++) proof.take(i);
  proof.add_reading(100, 98, 110);
  proof.take(105);
  proof.take(107);
  // The index may or may not include two of the entries.
  CHECK(proof.shortfall()->least == 6);
  CHECK(proof.shortfall()->most == 8);
  // A reading without an entry in between resolves this, and later readings do not change the
  // result.
  proof.add_reading(120, 99, 121);
  proof.take(122);
  CHECK(proof.shortfall()->least == 7);
  CHECK(proof.shortfall()->most == 7);
  CHECK_FALSE(proof.shortfall()->too_many);
  CHECK(proof.taken() == 93);
  // If several entries arrive at once, each reading is still compared with its own entry.
  const std::vector<DtlEntry> more{{.timebase = 101}, {.timebase = 121}, {.timebase = 300}};
  proof.take(more);
  CHECK(proof.taken() == 96);
  CHECK(proof.shortfall()->least == 5);
  CHECK(proof.shortfall()->most == 8);
}

TEST_CASE("an entry that is being written neither hides nor causes a loss") {
  DtlProof proof;
  proof.add_reading(100, 1, 101);
  proof.take(99);
  proof.take(100);
  CHECK(proof.shortfall()->most == 0);
  CHECK_FALSE(proof.shortfall()->too_many);
  proof.take(100);
  CHECK(proof.shortfall()->too_many);
}

// One of three entries was lost. At the first and the third reading, the last entry has its time
// but does not count in the index yet, so these readings alone would show no loss.
TEST_CASE("entries that are being written at some readings do not hide a loss") {
  DtlProof proof;
  for (uint64_t i = 1; i <= 9; i++) proof.take(i * 10);
  proof.add_reading(95, 9, 96);
  proof.add_reading(97, 10, 98);
  proof.take(105);
  proof.add_reading(106, 10, 107);
  CHECK(proof.shortfall()->least == 1);
  CHECK(proof.shortfall()->most == 1);
  CHECK_FALSE(proof.shortfall()->too_many);
}

TEST_CASE("a loss between two readings counts") {
  DtlProof proof;
  for (uint64_t i = 1; i <= 9; i++) proof.take(i * 10);
  proof.add_reading(95, 9, 96);
  proof.take(150);
  proof.add_reading(155, 15, 156);
  CHECK(proof.shortfall()->least == 5);
  CHECK(proof.shortfall()->most == 5);
}

TEST_CASE("the dispatch counter increases twice for each entry, and wraps") {
  CHECK(dispatches_between(1000, 1200) == 100);
  CHECK(dispatches_between(1000, 1201) == 101);
  CHECK(dispatches_between(UINT32_MAX - 99, 100) == 100);
  CHECK(dispatches_agree(100, 100));
  CHECK(dispatches_agree(100, 98));
  CHECK_FALSE(dispatches_agree(100, 97));
  CHECK_FALSE(dispatches_agree(100, 103));
}

TEST_CASE("a complete recording states its evidence") {
  const DtlReport report = report_of(
      {.cpu = 0, .entries = 50, .shortfall = DtlShortfall{}, .dispatches = 50, .logged = 50});
  CHECK(report.ledger().empty());
  CHECK(report.text() ==
        "  dispatch reasons:\n  preempt reasons:\n"
        "  complete: on 1 of 1 CPUs, by the hypervisor's index of the log\n"
        "  dispatch counter: agrees with the index on 1 of 1 CPUs\n"
        "htmtrace: 50 entries of 1 CPU in 1.500 s, read every 5000 us; nothing lost\n");
}

TEST_CASE("a loss has its CPU, its count, its cause and its time") {
  const DtlReport report = report_of(
      {.cpu = 7,
       .entries = 50,
       .totals = {.saturated = {.count = 2, .first_ns = 1'500'000'000, .last_ns = 2'000'000'000},
                  .passes = {.count = 1, .first_ns = 7'000'000, .last_ns = 7'000'000}},
       .shortfall = DtlShortfall{.least = 9, .most = 10}});
  REQUIRE(report.ledger().entries().size() == 1);
  CHECK(report.ledger().entries()[0].loss ==
        Loss{"CPU 7",
             "the log was full 2 times, 1.500 s to 2.000 s; the AUX area wrapped once, at "
             "0.007 s; at least 9",
             LossUnit::kEntries, 10});
}

TEST_CASE("the driver's count is the loss if the index shows a smaller loss") {
  const DtlReport report =
      report_of({.cpu = 7,
                 .entries = 50,
                 .totals = {.saturated = {.count = 1, .first_ns = 1'500'000'000}},
                 .shortfall = DtlShortfall{.least = 1, .most = 1},
                 .announced = 3});
  REQUIRE(report.ledger().entries().size() == 1);
  CHECK(report.ledger().entries()[0].loss ==
        Loss{"CPU 7", "the log was full once, at 1.500 s; at least 1", LossUnit::kEntries, 3});
}

TEST_CASE("without an index, the count of htmtrace's own driver is the loss") {
  DtlCpuResult result{.cpu = 7, .entries = 50};
  result.totals.flagged = {.count = 2, .first_ns = 1'500'000'000, .last_ns = 2'000'000'000};
  const DtlReport uncounted = report_of(result);
  REQUIRE(uncounted.ledger().entries().size() == 1);
  CHECK(uncounted.ledger().entries()[0].loss ==
        Loss{"CPU 7", "the driver flagged missing entries 2 times, 1.500 s to 2.000 s",
             LossUnit::kUnknown, 0});
  result.totals.saturated = {.count = 1, .first_ns = 1'500'000'000, .last_ns = 1'500'000'000};
  result.totals.area_full = {.count = 1, .first_ns = 2'000'000'000, .last_ns = 2'000'000'000};
  result.totals.announced_entries = 39;
  const DtlReport counted = report_of(result);
  REQUIRE(counted.ledger().entries().size() == 1);
  CHECK(counted.ledger().entries()[0].loss ==
        Loss{"CPU 7", "the log was full once, at 1.500 s; the AUX area was full once, at 2.000 s",
             LossUnit::kEntries, 39});
}

TEST_CASE("a competing reader of the log is named") {
  DtlCpuResult result{.cpu = 7, .entries = 50, .off = true};
  result.totals.last_ns = 2'000'000'000;
  result.totals.taken.note(2'000'000'000);
  const DtlReport report = report_of(result, "preempt");
  REQUIRE(report.ledger().entries().size() == 1);
  CHECK(
      report.ledger().entries()[0].loss ==
      Loss{"CPU 7", "another user of the log restarted it, after 2.000 s", LossUnit::kUnknown, 0});
}

TEST_CASE("the report names the driver") {
  DtlReport report;
  report.driver = "a driver";
  CHECK(report.text().starts_with("  driver: a driver\n"));
}

TEST_CASE("an event that the kernel switched off loses all later dispatches") {
  DtlCpuResult result{.cpu = 7,
                      .entries = 50,
                      .off = true,
                      .shortfall = DtlShortfall{},
                      .dispatches = 80,
                      .logged = 50};
  result.totals.last_ns = 3'000'000'000;
  const Loss lost{"CPU 7", "the kernel disabled the event, after 3.000 s, by the dispatch counter",
                  LossUnit::kEntries, 30};
  REQUIRE(report_of(result).ledger().entries().size() == 1);
  CHECK(report_of(result).ledger().entries()[0].loss == lost);
  CHECK(report_of(result).text().find("complete: on 0 of 1 CPUs") != std::string::npos);
  // The counter counts all dispatches, not only preemptions.
  REQUIRE(report_of(result, "preempt").ledger().entries().size() == 1);
  CHECK(report_of(result, "preempt").ledger().entries()[0].loss.unit == LossUnit::kUnknown);
}

TEST_CASE("without the hypervisor's counters, losses are named and completeness is not claimed") {
  DtlCpuResult result{.cpu = 7, .entries = 50};
  CHECK(report_of(result).ledger().empty());
  CHECK(report_of(result).text().find("complete: not provable") != std::string::npos);
  result.totals.saturated.count = 2;
  result.totals.passes.count = 3;
  result.totals.overruns.count = 1;
  result.totals.overrun_entries = 88;
  const DtlReport report = report_of(result);
  REQUIRE(report.ledger().entries().size() == 3);
  CHECK(report.ledger().entries()[0].loss.unit == LossUnit::kUnknown);
  CHECK(report.ledger().entries()[1].loss.amount == 3 * 2 * 84);
  CHECK(report.ledger().entries()[2].loss.amount == 88);
}

TEST_CASE("a log that belongs to another reader is not reported as complete") {
  const DtlCpuResult result{.cpu = 7, .entries = 50, .shortfall = DtlShortfall{.too_many = true}};
  CHECK(report_of(result).ledger().entries().size() == 1);
}

TEST_CASE("the counters are found in the VPA") {
  const TemporaryFolder folder;
  std::string vpa(640, '\0');
  vpa[256 + 2] = 1;
  vpa[256 + 3] = 2;
  vpa[536 + 7] = 9;
  std::ofstream(folder.path() / "cpu-4", std::ios::binary) << vpa;
  const auto counters = VpaArea(folder.path(), 4).read();
  REQUIRE(counters);
  CHECK(counters->dispatch_count == 0x102);
  CHECK(counters->log_index == 9);
  CHECK_FALSE(VpaArea(folder.path(), 5).read());
  std::ofstream(folder.path() / "cpu-5", std::ios::binary) << vpa.substr(0, 540);
  CHECK_FALSE(VpaArea(folder.path(), 5).read());
}

}  // namespace htmtrace
