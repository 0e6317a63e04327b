// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/export/dtl_metrics.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <array>
#include <bitset>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "output/io/utf8.h"

namespace htmtrace {
namespace {

constexpr uint64_t kMetricSecondNs = 1'000'000'000;
constexpr const char* kPrefix = "htmtrace_dtl_";

// Escapes the three special characters of a label's value: backslash, quote and newline. Replaces
// bytes that are not UTF-8, because Prometheus refuses a file with such bytes.
std::string escaped_label(std::string_view value) {
  std::string text;
  while (!value.empty()) {
    const char first = value[0];
    const size_t length = utf8_length(value);
    if (length == 0) {
      text += kReplacementCharacter;
    } else if (first == '\n') {
      text += "\\n";
    } else {
      if (first == '\\' || first == '"') text += '\\';
      text += value.substr(0, length);
    }
    value.remove_prefix(length == 0 ? 1 : length);
  }
  return text;
}

// Nanoseconds as seconds, without rounding.
std::string in_seconds(uint64_t ns) {
  return fmt::format("{}.{:09}", ns / kMetricSecondNs, ns % kMetricSecondNs);
}

uint64_t ticks_in_ns(uint64_t ticks, uint64_t ticks_per_second) {
  const DtlClock clock{.boot_timebase = 0, .ticks_per_second = ticks_per_second};
  return clock.nanoseconds(ticks).value_or(0);
}

// A histogram of one or several virtual processors.
struct Histogram {
  decltype(DtlWaitCounts::buckets) buckets{};  // not cumulative
  uint64_t ns = 0;

  void add(const DtlWaitCounts& counts, uint64_t ticks_per_second) {
    for (size_t i = 0; i < buckets.size(); i++) buckets[i] += counts.buckets[i];
    ns += ticks_in_ns(counts.ticks, ticks_per_second);
  }
};

class MetricsWriter {
 public:
  MetricsWriter(const DtlMetrics& metrics, DtlHistogramLimit& limit, std::string& text)
      : metrics_(metrics), limit_(limit), out_(std::back_inserter(text)) {}

  void write() {
    write_info();
    if (metrics_.recorder) write_recorder(*metrics_.recorder);
    write_dispatches();
    write_times();
    write_waits("enqueue_to_dispatch", "Time from the queue to a physical processor",
                &DtlCpuCounts::Waits::enqueue_to_dispatch);
    write_waits("ready_to_enqueue", "Time from ready to run to the queue",
                &DtlCpuCounts::Waits::ready_to_enqueue);
    write_waits("waiting_to_ready", "Time from the stop to ready to run",
                &DtlCpuCounts::Waits::waiting_to_ready);
    head("aggregated_histograms", "gauge",
         "Histograms beyond the limit; their waits count in cpu=\"other\".");
    plain("aggregated_histograms", limit_.aggregated());
    write_losses();
  }

 private:
  using Out = std::back_insert_iterator<std::string>;

  void head(std::string_view name, std::string_view type, std::string_view help) {
    fmt::format_to(out_, "# HELP {}{} {}\n# TYPE {}{} {}\n", kPrefix, name, help, kPrefix, name,
                   type);
  }

  // `labels` contain no braces.
  template <class Value>
  void sample(std::string_view name, std::string_view labels, const Value& value) {
    fmt::format_to(out_, "{}{}{{{}}} {}\n", kPrefix, name, labels, value);
  }

  template <class Value>
  void plain(std::string_view name, const Value& value) {
    fmt::format_to(out_, "{}{} {}\n", kPrefix, name, value);
  }

  // One sample for each CPU.
  template <class Value>
  void each(std::string_view name, std::string_view type, std::string_view help,
            const Value& value) {
    head(name, type, help);
    for (const DtlMetrics::Cpu& cpu : metrics_.cpus) {
      sample(name, fmt::format("cpu=\"{}\"", cpu.cpu), value(cpu));
    }
  }

  void write_info() {
    head("info", "gauge", "The recorder or the recording; the value is always 1.");
    const DtlMetrics::About& about = metrics_.about;
    std::string labels;
    for (const auto& [name, value] :
         {std::pair("version", &about.version), std::pair("partition", &about.partition),
          std::pair("kernel", &about.kernel), std::pair("driver", &about.driver),
          std::pair("event", &about.event)}) {
      if (value->empty()) continue;
      labels += fmt::format("{}{}=\"{}\"", labels.empty() ? "" : ",", name, escaped_label(*value));
    }
    sample("info", labels, 1);
  }

  void write_recorder(const DtlMetrics::Recorder& recorder) {
    head("running", "gauge", "1 while htmtrace records, 0 after the end.");
    plain("running", recorder.running ? 1 : 0);
    head("start_time_seconds", "gauge", "Start of the recorder, in seconds since 1970.");
    plain("start_time_seconds", in_seconds(static_cast<uint64_t>(recorder.start_ns)));
    head("metrics_write_errors_total", "counter", "Failed attempts to write this file.");
    plain("metrics_write_errors_total", recorder.write_errors);
  }

  void write_dispatches() {
    const DtlReasonNames& names = DtlReasonNames::of_dispatch();
    head("dispatches_total", "counter", "Dispatches by the reason of the dispatch.");
    for (const DtlMetrics::Cpu& cpu : metrics_.cpus) {
      for (size_t reason = 0; reason < DtlReasonNames::kMost; reason++) {
        if (cpu.counts.dispatches[reason] == 0) continue;
        sample("dispatches_total",
               fmt::format("cpu=\"{}\",dispatch_reason=\"{}\"", cpu.cpu, names.name(reason)),
               cpu.counts.dispatches[reason]);
      }
    }
    each("home_dispatches_total", "counter",
         "Dispatches on the physical processor with the most dispatches so far.",
         [](const DtlMetrics::Cpu& cpu) { return cpu.counts.home; });
    head("far_dispatches_total", "counter",
         "Dispatches on other physical processors, by the distance from that processor.");
    for (const DtlMetrics::Cpu& cpu : metrics_.cpus) write_far(cpu);
    each("moved_dispatches_total", "counter",
         "Dispatches on a physical processor other than that of the preceding dispatch.",
         [](const DtlMetrics::Cpu& cpu) { return cpu.counts.moved; });
  }

  void write_far(const DtlMetrics::Cpu& cpu) {
    const auto far = [&](const char* distance, uint64_t count) {
      sample("far_dispatches_total", fmt::format("cpu=\"{}\",distance=\"{}\"", cpu.cpu, distance),
             count);
    };
    if (!metrics_.distances) return far("unknown", cpu.counts.away);
    far("same_chip", cpu.counts.distances.same_chip);
    far("same_node", cpu.counts.distances.same_node);
    far("elsewhere", cpu.counts.distances.elsewhere);
  }

  // The sums of the waits over all reasons.
  void write_times() {
    const auto sum = [](const DtlMetrics::Cpu& cpu, auto ticks_of) {
      uint64_t ticks = 0;
      for (const DtlCpuCounts::Waits& waits : cpu.counts.waits) ticks += ticks_of(waits);
      return in_seconds(ticks_in_ns(ticks, cpu.counts.ticks_per_second));
    };
    each("stolen_seconds_total", "counter",
         "Time that the virtual processor was ready but did not run.",
         [&](const DtlMetrics::Cpu& cpu) {
           return sum(cpu, [](const DtlCpuCounts::Waits& waits) {
             return waits.enqueue_to_dispatch.ticks + waits.ready_to_enqueue.ticks;
           });
         });
    each("ready_seconds_total", "counter",
         "Time that the virtual processor was ready but not queued; a part of the stolen time.",
         [&](const DtlMetrics::Cpu& cpu) {
           return sum(
               cpu, [](const DtlCpuCounts::Waits& waits) { return waits.ready_to_enqueue.ticks; });
         });
    each("blocked_seconds_total", "counter",
         "Time that the virtual processor had stopped and was not ready.",
         [&](const DtlMetrics::Cpu& cpu) {
           return sum(
               cpu, [](const DtlCpuCounts::Waits& waits) { return waits.waiting_to_ready.ticks; });
         });
  }

  void write_waits(std::string_view wait, std::string_view help,
                   DtlWaitCounts DtlCpuCounts::Waits::*member) {
    const DtlReasonNames& names = DtlReasonNames::of_preempt();
    const std::string name = fmt::format("{}_seconds", wait);
    head(name, "histogram", fmt::format("{}, by the reason of the preceding stop.", help));
    std::array<Histogram, DtlReasonNames::kMost> others{};
    std::bitset<DtlReasonNames::kMost> has_others;
    for (const DtlMetrics::Cpu& cpu : metrics_.cpus) {
      for (size_t reason = 0; reason < DtlReasonNames::kMost; reason++) {
        const DtlWaitCounts& counts = cpu.counts.waits[reason].*member;
        if (counts.count() == 0) continue;
        Histogram own;
        const bool has_own = limit_.admit(cpu.cpu, reason);
        if (!has_own) has_others.set(reason);
        (has_own ? own : others[reason]).add(counts, cpu.counts.ticks_per_second);
        if (has_own) write_histogram(name, std::to_string(cpu.cpu), names.name(reason), own);
      }
    }
    for (size_t reason = 0; reason < DtlReasonNames::kMost; reason++) {
      if (!has_others.test(reason)) continue;
      write_histogram(name, "other", names.name(reason), others[reason]);
    }
  }

  void write_histogram(const std::string& name, std::string_view cpu, std::string_view reason,
                       const Histogram& histogram) {
    const std::string labels = fmt::format("cpu=\"{}\",preempt_reason=\"{}\"", cpu, reason);
    uint64_t until = 0;
    for (size_t i = 0; i < histogram.buckets.size(); i++) {
      until += histogram.buckets[i];
      // The shortest form of the number, as in node_exporter's output.
      const std::string bound =
          i < kDtlBucketBoundsNs.size()
              ? fmt::format("{}", static_cast<double>(kDtlBucketBoundsNs[i]) / kMetricSecondNs)
              : "+Inf";
      sample(name + "_bucket", fmt::format("{},le=\"{}\"", labels, bound), until);
    }
    sample(name + "_sum", labels, in_seconds(histogram.ns));
    sample(name + "_count", labels, until);
  }

  void write_losses() {
    each("untimed_dispatches_total", "counter",
         "Dispatches that are in no histogram and no sum of times, because the clock was unknown.",
         [](const DtlMetrics::Cpu& cpu) { return cpu.counts.untimed; });
    if (!metrics_.recorder) return;
    const auto of_capture = [this](std::string_view name, std::string_view type,
                                   std::string_view help, auto value) {
      each(name, type, help,
           [&](const DtlMetrics::Cpu& cpu) { return value(cpu.capture.value_or(Capture{})); });
    };
    of_capture("recording", "gauge", "1 while the log of the virtual processor is recorded.",
               [](const Capture& capture) { return capture.recording ? 1 : 0; });
    of_capture("loss_provable", "gauge",
               "1 if the hypervisor's index of the log shows each lost entry.",
               [](const Capture& capture) { return capture.loss_provable ? 1 : 0; });
    of_capture("lost_entries_total", "counter", "Dispatches that are missing in the other metrics.",
               [](const Capture& capture) { return capture.lost; });
    write_signs();
  }

  void write_signs() {
    head("loss_signs_total", "counter", "Events that lose entries, or may lose entries.");
    for (const DtlMetrics::Cpu& cpu : metrics_.cpus) {
      const DtlTotals signs = cpu.capture.value_or(Capture{}).signs;
      for (const auto& [name, count] :
           {std::pair("log_full", signs.saturated.count),
            std::pair("area_wrapped", signs.passes.count),
            std::pair("area_overrun", signs.overruns.count),
            std::pair("area_full", signs.area_full.count),
            std::pair("void_entry", signs.void_slots.count),
            std::pair("disordered_entry", signs.disordered.count),
            std::pair("not_logged", signs.not_logged.count),
            std::pair("log_taken", signs.taken.count), std::pair("flagged", signs.flagged.count)}) {
        sample("loss_signs_total", fmt::format("cpu=\"{}\",sign=\"{}\"", cpu.cpu, name), count);
      }
    }
  }

  using Capture = DtlMetrics::Capture;

  const DtlMetrics& metrics_;
  DtlHistogramLimit& limit_;
  Out out_;
};

}  // namespace

bool DtlHistogramLimit::admit(int cpu, size_t reason) {
  Reasons& own = own_[cpu];
  if (own.test(reason)) return true;
  if (free_pairs_ != 0) {
    free_pairs_--;
    own.set(reason);
    return true;
  }
  Reasons& others = others_[cpu];
  if (!others.test(reason)) aggregated_pairs_++;
  others.set(reason);
  return false;
}

std::string DtlMetrics::to_text(DtlHistogramLimit& limit) const {
  std::string text;
  MetricsWriter(*this, limit, text).write();
  return text;
}

}  // namespace htmtrace
