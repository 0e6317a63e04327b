// SPDX-License-Identifier: GPL-2.0-or-later
// Metrics of dispatches: histograms, counters, losses, and their text for Prometheus.
#include "core/dispatch_log/metrics.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "cli/dispatches/metrics.h"
#include "cli/dtl/metrics.h"
#include "core/base/error.h"
#include "core/dispatch_log/loss_count.h"
#include "output/export/dtl_metrics.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

constexpr uint64_t kMetricsHz = 512'000'000;  // a microsecond has 512 ticks

DtlEntry dispatch_of(uint32_t wait, uint8_t preempt_reason = 2, uint16_t processor = 7) {
  return {.dispatch_reason = 3,
          .preempt_reason = preempt_reason,
          .processor_id = processor,
          .enqueue_to_dispatch = wait,
          .ready_to_enqueue = 512,
          .waiting_to_ready = 5120};
}

void add_one(DtlCpuMetrics& metrics, const DtlEntry& entry, uint64_t hz = kMetricsHz) {
  metrics.add(std::span(&entry, 1), hz);
}

DtlMetrics metrics_of(const DtlCpuMetrics& counted) {
  DtlMetrics metrics;
  metrics.cpus.push_back({.cpu = 3, .counts = counted.counts()});
  return metrics;
}

const DtlWaitCounts& waits_after_cede(const DtlCpuMetrics& counted) {
  return counted.counts().waits[DtlReasonNames::of_preempt().number(2)].enqueue_to_dispatch;
}

std::string metrics_text(const DtlMetrics& metrics) {
  DtlHistogramLimit limit;
  return metrics.to_text(limit);
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

}  // namespace

TEST_CASE("metrics: a wait that equals a bound is in the bucket of the bound") {
  DtlCpuMetrics metrics(std::nullopt);
  for (const uint32_t wait : {0U, 512U, 513U, 5120U, 5121U, UINT32_MAX}) {
    add_one(metrics, dispatch_of(wait));
  }
  const DtlWaitCounts& waits = waits_after_cede(metrics);
  CHECK(waits.buckets[0] == 2);
  CHECK(waits.buckets[1] == 2);
  CHECK(waits.buckets[2] == 1);
  CHECK(waits.buckets.back() == 1);
  CHECK(waits.count() == 6);
  CHECK(waits.ticks == 0ULL + 512 + 513 + 5120 + 5121 + UINT32_MAX);
}

TEST_CASE("metrics: no bucket depends on rounding, even if ticks are not whole nanoseconds") {
  constexpr uint64_t kOddHz = 333'333'333;
  for (const uint64_t bound : kDtlBucketBoundsNs) {
    const auto last = static_cast<uint32_t>(bound * kOddHz / 1'000'000'000);
    DtlCpuMetrics metrics(std::nullopt);
    add_one(metrics, dispatch_of(last), kOddHz);
    add_one(metrics, dispatch_of(last + 1), kOddHz);
    size_t until = 0;
    for (size_t i = 0; i < kDtlBucketBoundsNs.size() && kDtlBucketBoundsNs[i] <= bound; i++) {
      until += waits_after_cede(metrics).buckets[i];
    }
    CHECK(until == 1);
  }
}

TEST_CASE("metrics: codes with the same name count together, codes without a name as other") {
  const DtlReasonNames& names = DtlReasonNames::of_dispatch();
  CHECK(names.number(1) == names.number(5));
  CHECK(names.name(names.number(5)) == "firmware_internal_event");
  CHECK(names.name(names.number(11)) == "other");
  CHECK(names.number(11) == names.number(255));
  for (int code = 0; code < 11; code++) {
    const auto byte = static_cast<uint8_t>(code);
    CHECK(names.name(names.number(byte)) == dispatch_reason_name(byte));
  }
  const DtlReasonNames& preempt = DtlReasonNames::of_preempt();
  CHECK(preempt.name(preempt.number(kPreemptTimeSlice)) == "time_slice");
}

TEST_CASE("metrics: the home is the processor with the most dispatches so far") {
  DtlCpuMetrics metrics(ProcessorBits{.chip = 4, .node = 8});
  const auto on = [&](uint16_t processor) { add_one(metrics, dispatch_of(1, 2, processor)); };
  on(0x10);   // home
  on(0x20);   // the same node as 0x10
  on(0x20);   // the new home
  on(0x21);   // the same chip as 0x20
  on(0x120);  // elsewhere
  const DtlCpuCounts& counts = metrics.counts();
  CHECK(counts.home == 2);
  CHECK(counts.away == 3);
  CHECK(counts.moved == 3);
  CHECK(counts.distances.same_node == 1);
  CHECK(counts.distances.same_chip == 1);
  CHECK(counts.distances.elsewhere == 1);
}

TEST_CASE("metrics: the home stays right with more processors than the table holds") {
  DtlCpuMetrics metrics(std::nullopt);
  for (uint16_t round = 0; round < 3; round++) {
    for (uint16_t i = 0; i < 10; i++) add_one(metrics, dispatch_of(1, 2, 9000));
    for (uint16_t i = 0; i < 2 * DtlCpuMetrics::kProcessors; i++) {
      add_one(metrics, dispatch_of(1, 2, i));
    }
  }
  CHECK(metrics.counts().home == 30);
  CHECK(metrics.counts().home + metrics.counts().away == 30 + 6 * DtlCpuMetrics::kProcessors);
}

TEST_CASE("metrics: one call and many calls with the same entries give the same counts") {
  std::vector<DtlEntry> entries;
  for (uint32_t i = 0; i < 1000; i++) {
    entries.push_back(
        dispatch_of(i * i, static_cast<uint8_t>(i % 11), static_cast<uint16_t>(i % 7)));
  }
  DtlCpuMetrics at_once(std::nullopt), one_by_one(std::nullopt);
  at_once.add(entries, kMetricsHz);
  for (const DtlEntry& entry : entries) add_one(one_by_one, entry);
  CHECK(metrics_text(metrics_of(at_once)) == metrics_text(metrics_of(one_by_one)));
}

TEST_CASE("metrics: without a clock, dispatches count and waits do not") {
  DtlCpuMetrics metrics(std::nullopt);
  add_one(metrics, dispatch_of(100), 0);
  const std::string text = metrics_text(metrics_of(metrics));
  CHECK(has_line(text, "htmtrace_dtl_untimed_dispatches_total{cpu=\"3\"} 1"));
  CHECK(has_line(text,
                 "htmtrace_dtl_dispatches_total{cpu=\"3\",dispatch_reason="
                 "\"decrementer_interrupt\"} 1"));
  CHECK(has_line(text, "htmtrace_dtl_stolen_seconds_total{cpu=\"3\"} 0.000000000"));
  CHECK(text.find("_bucket{") == std::string::npos);
}

TEST_CASE("metrics: the text has cumulative buckets, sums and counts in seconds") {
  DtlCpuMetrics metrics(std::nullopt);
  add_one(metrics, dispatch_of(512));              // 1 us
  add_one(metrics, dispatch_of(512 * 15'000));     // 15 ms
  add_one(metrics, dispatch_of(512 * 3'000'000));  // 3 s
  const std::string text = metrics_text(metrics_of(metrics));
  const std::string name = "htmtrace_dtl_enqueue_to_dispatch_seconds";
  const std::string labels = "cpu=\"3\",preempt_reason=\"H_CEDE\"";
  const auto bucket = [&](const char* le, int count) {
    return has_line(text,
                    name + "_bucket{" + labels + ",le=\"" + le + "\"} " + std::to_string(count));
  };
  CHECK(has_line(text, "# TYPE " + name + " histogram"));
  const std::pair<const char*, int> buckets[] = {
      {"1e-06", 1}, {"1e-05", 1}, {"0.0001", 1}, {"0.0005", 1}, {"0.001", 1},
      {"0.002", 1}, {"0.005", 1}, {"0.01", 1},   {"0.02", 2},   {"0.05", 2},
      {"0.1", 2},   {"1", 2},     {"+Inf", 3}};
  for (const auto& [le, count] : buckets) CHECK(bucket(le, count));
  CHECK(has_line(text, name + "_sum{" + labels + "} 3.015001000"));
  CHECK(has_line(text, name + "_count{" + labels + "} 3"));
  CHECK(has_line(text, "htmtrace_dtl_stolen_seconds_total{cpu=\"3\"} 3.015004000"));
  CHECK(has_line(text, "htmtrace_dtl_ready_seconds_total{cpu=\"3\"} 0.000003000"));
  CHECK(has_line(text, "htmtrace_dtl_blocked_seconds_total{cpu=\"3\"} 0.000030000"));
  CHECK(has_line(text, "htmtrace_dtl_far_dispatches_total{cpu=\"3\",distance=\"unknown\"} 0"));
  CHECK(text.find("lost_entries") == std::string::npos);  // only a recorder knows
}

TEST_CASE("metrics: labels are escaped, and empty labels are left out") {
  DtlMetrics metrics{.about = {.version = "1", .kernel = "a\"b\\c\n1"}};
  CHECK(has_line(metrics_text(metrics),
                 "htmtrace_dtl_info{version=\"1\",kernel=\"a\\\"b\\\\c\\n1\"} 1"));
}

TEST_CASE("metrics: labels are UTF-8") {
  const std::string replacement = "\xef\xbf\xbd", umlaut = "\xc3\xa4", part = "\xe2\x82";
  CHECK(has_line(metrics_text({.about = {.partition = "\xff" + umlaut + part + "z"}}),
                 "htmtrace_dtl_info{partition=\"" + replacement + umlaut + replacement +
                     replacement + "z\"} 1"));
}

TEST_CASE("metrics: histograms beyond the limit count in cpu=other, and the choice stays") {
  // CPU 0 has stopped for one reason, the others for two.
  std::vector<DtlCpuMetrics> counted(3, DtlCpuMetrics(std::nullopt));
  for (size_t cpu = 0; cpu < counted.size(); cpu++) {
    add_one(counted[cpu], dispatch_of(512, 2));
    if (cpu != 0) add_one(counted[cpu], dispatch_of(512, kPreemptTimeSlice));
  }
  DtlHistogramLimit limit(3);
  const auto print = [&] {
    DtlMetrics metrics;
    for (size_t cpu = 0; cpu < counted.size(); cpu++) {
      metrics.cpus.push_back({.cpu = static_cast<int>(cpu), .counts = counted[cpu].counts()});
    }
    return metrics.to_text(limit);
  };
  const auto count_is = [](const std::string& text, const char* cpu, const char* reason,
                           int count) {
    return has_line(text, std::string("htmtrace_dtl_ready_to_enqueue_seconds_count{cpu=\"") + cpu +
                              "\",preempt_reason=\"" + reason + "\"} " + std::to_string(count));
  };
  const std::string first = print();
  CHECK(count_is(first, "0", "H_CEDE", 1));
  CHECK(count_is(first, "1", "H_CEDE", 1));
  CHECK(count_is(first, "1", "time_slice", 1));
  CHECK(count_is(first, "other", "H_CEDE", 1));
  CHECK(count_is(first, "other", "time_slice", 1));
  CHECK(has_line(first,
                 "htmtrace_dtl_ready_to_enqueue_seconds_sum{cpu=\"other\",preempt_reason="
                 "\"H_CEDE\"} 0.000001000"));
  CHECK(has_line(first, "htmtrace_dtl_aggregated_histograms 6"));
  CHECK(first.find("seconds_count{cpu=\"2\"") == std::string::npos);
  // All other metrics still have the CPU.
  CHECK(has_line(first, "htmtrace_dtl_stolen_seconds_total{cpu=\"2\"} 0.000004000"));
  // A new reason of CPU 0 must not take the place of another pair.
  add_one(counted[0], dispatch_of(512, kPreemptTimeSlice));
  add_one(counted[2], dispatch_of(512, 2));
  const std::string second = print();
  CHECK(count_is(second, "0", "H_CEDE", 1));
  CHECK(count_is(second, "1", "time_slice", 1));
  CHECK(count_is(second, "other", "H_CEDE", 2));
  CHECK(count_is(second, "other", "time_slice", 2));
  CHECK(has_line(second, "htmtrace_dtl_aggregated_histograms 9"));
}

TEST_CASE("metrics: a recorder adds its state, losses and signs of loss") {
  DtlTotals signs;
  signs.saturated.count = 4;
  DtlMetrics metrics{.recorder = DtlMetrics::Recorder{.running = true,
                                                      .start_ns = 1'700'000'000'250'000'000,
                                                      .write_errors = 2}};
  metrics.cpus.push_back(
      {.cpu = 1,
       .capture = DtlMetrics::Capture{
           .recording = true, .loss_provable = true, .lost = 9, .signs = signs}});
  const std::string text = metrics_text(metrics);
  CHECK(has_line(text, "htmtrace_dtl_running 1"));
  CHECK(has_line(text, "htmtrace_dtl_start_time_seconds 1700000000.250000000"));
  CHECK(has_line(text, "htmtrace_dtl_metrics_write_errors_total 2"));
  CHECK(has_line(text, "htmtrace_dtl_recording{cpu=\"1\"} 1"));
  CHECK(has_line(text, "htmtrace_dtl_loss_provable{cpu=\"1\"} 1"));
  CHECK(has_line(text, "htmtrace_dtl_lost_entries_total{cpu=\"1\"} 9"));
  CHECK(has_line(text, "htmtrace_dtl_loss_signs_total{cpu=\"1\",sign=\"log_full\"} 4"));
  CHECK(has_line(text, "htmtrace_dtl_loss_signs_total{cpu=\"1\",sign=\"area_wrapped\"} 0"));
}

TEST_CASE("metrics: losses count when an entry after the reading has arrived, and never decrease") {
  DtlLossCount count;
  const auto take = [&](uint64_t timebase) {
    const DtlEntry entry{.timebase = timebase};
    count.take(std::span(&entry, 1));
  };
  take(10);
  count.add_reading(5, 100);
  CHECK(count.lost() == 0);  // the entries may be on their way
  take(50);
  take(90);
  count.add_reading(30, 200);  // the first reading still waits
  CHECK(count.lost() == 0);
  take(150);
  CHECK(count.lost() == 2);
  count.add_reading(6, 300);  // four taken, two lost
  take(310);
  CHECK(count.lost() == 2);
  count.add_reading(17, 400);
  take(410);
  CHECK(count.lost() == 12);
  count.add_reading(3, 500);  // another user restarted the log
  take(510);
  CHECK(count.lost() == 12);
}

TEST_CASE("metrics: a failed write is counted, the old file stays, and the next write succeeds") {
  const TemporaryFolder folder;
  const std::filesystem::path inner = folder.path() / "metrics", file = inner / "a.prom";
  std::filesystem::create_directory(inner);
  DtlMetricsWriter writer({.file = file}, {.version = "1"});
  writer.begin({});
  CHECK(has_line(folder.read("metrics/a.prom"), "htmtrace_dtl_info{version=\"1\"} 1"));
  CHECK(has_line(folder.read("metrics/a.prom"), "htmtrace_dtl_running 0"));
  CHECK(!writer.write({}, true));
  CHECK(!writer.due());
  CHECK(has_line(folder.read("metrics/a.prom"), "htmtrace_dtl_running 1"));
  std::filesystem::rename(inner, folder.path() / "gone");
  for (int i = 0; i < 2; i++) {
    const auto failure = writer.write({}, true);
    REQUIRE(failure);
    CHECK(failure->find("No such file or directory") != std::string::npos);
    CHECK(writer.failing());
  }
  std::filesystem::rename(folder.path() / "gone", inner);
  CHECK(has_line(folder.read("metrics/a.prom"), "htmtrace_dtl_metrics_write_errors_total 0"));
  CHECK(!writer.write({}, false));
  CHECK(!writer.failing());
  CHECK(has_line(folder.read("metrics/a.prom"), "htmtrace_dtl_metrics_write_errors_total 2"));
  CHECK(has_line(folder.read("metrics/a.prom"), "htmtrace_dtl_running 0"));
  // No other file stays.
  CHECK(std::distance(std::filesystem::directory_iterator(inner), {}) == 1);
}

TEST_CASE("metrics: a folder that does not exist, a device and a symbolic link are errors") {
  const TemporaryFolder folder;
  DtlHistogramLimit limit;
  CHECK_THROWS_AS(write_metrics(folder.path() / "none" / "a.prom", {}, limit), Error);
  CHECK_THROWS_AS(write_metrics("/dev/null", {}, limit), Error);
  std::filesystem::create_symlink("a.prom", folder.path() / "link.prom");
  write_metrics(folder.path() / "a.prom", {}, limit);
  CHECK_THROWS_AS(write_metrics(folder.path() / "link.prom", {}, limit), Error);
}

}  // namespace htmtrace
