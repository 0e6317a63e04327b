// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/report/dtl_preemptors.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/base/counted.h"
#include "core/base/plain_text.h"
#include "output/io/csv_field.h"
#include "output/io/json_writer.h"
#include "output/io/shares.h"

namespace htmtrace {
namespace {

// The number of virtual processors that a line of the table names.
constexpr size_t kNamedCpus = 4;
constexpr size_t kFactWidth = 38;
constexpr size_t kWaiting = 0;  // the partition that waited

class PreemptorWriter {
 public:
  explicit PreemptorWriter(const DtlPreemptorTable& table)
      : table_(table), waits_(*table.waits), out_(std::back_inserter(text_)) {
    for (const auto& [partition, part] : waits_.partitions()) {
      if (partition != kWaiting) others_.emplace_back(partition, part);
    }
    std::ranges::sort(others_, [](const auto& a, const auto& b) {
      return std::tuple(b.second.ticks, a.first) < std::tuple(a.second.ticks, b.first);
    });
  }

  std::string text() {
    put_partitions();
    put_waits();
    put_unknown();
    put_limits();
    return std::move(text_);
  }

  std::string csv() {
    text_ = "kind,partition,cpu,waits,time_ns,longest_ns\n";
    each([this](const char* kind, const std::string* partition, const int* cpu,
                const DtlPreemptors::Part& part) {
      fmt::format_to(out_, "{},{},{},{},{},{}\n", kind, partition ? csv_field(*partition) : "",
                     cpu ? fmt::format("{}", *cpu) : "all", part.waits, ns(part.ticks),
                     ns(part.longest));
    });
    return std::move(text_);
  }

  std::string json() {
    each([this](const char* kind, const std::string* partition, const int* cpu,
                const DtlPreemptors::Part& part) {
      JsonWriter json(JsonWriter::Layout::kCompact);
      json.begin_object();
      json.text("kind", kind);
      partition ? json.text("partition", *partition) : json.null("partition");
      cpu ? json.number("cpu", *cpu) : json.null("cpu");
      json.number("waits", part.waits);
      json.number("time_ns", ns(part.ticks));
      json.number("longest_ns", ns(part.longest));
      json.end_object();
      text_ += json.take();
    });
    return std::move(text_);
  }

 private:
  // Calls visit(kind, partition or null, CPU or null, part) for each row for programs.
  template <class Visit>
  void each(Visit visit) const {
    const auto with_cpus = [&](const char* kind, size_t partition,
                               const DtlPreemptors::Part& part) {
      const std::string& name = table_.names[partition];
      visit(kind, &name, nullptr, part);
      const auto owners = waits_.owners_of(partition);
      for (size_t i = 0; i < std::min(owners.size(), table_.top); i++) {
        visit(kind, &name, &owners[i].first.cpu, owners[i].second);
      }
    };
    for (const auto& [partition, part] : others_) with_cpus("other", partition, part);
    with_cpus("own", kWaiting, own());
    visit("unknown", nullptr, nullptr, waits_.unknown());
    visit("all", nullptr, nullptr, waits_.all());
  }

  void put_partitions() {
    fmt::format_to(out_, "who ran while {} waited: {}, {} us\n\n", name(kWaiting),
                   counted(waits_.all().waits, "wait"), us(waits_.all().ticks));
    for (size_t i = 0; i < table_.names.size(); i++) width_ = std::max(width_, name(i).size());
    fmt::format_to(out_, "{:<{}}{:>10}{:>16}{:>11}{:>14}  {}\n", "partition", width_, "waits",
                   "time us", "share", "longest us", "virtual processors");
    const size_t lines = std::min(others_.size(), table_.top);
    for (size_t i = 0; i < lines; i++) {
      const auto& [partition, part] = others_[i];
      put_part(name(partition), part, cpus_of(partition));
    }
    if (others_.size() > lines) {
      fmt::format_to(out_, "({} more: --top {})\n", counted(others_.size() - lines, "partition"),
                     others_.size());
    }
    put_part("own", own(), cpus_of(kWaiting));
    put_part("unknown", waits_.unknown(), "");
  }

  void put_part(const std::string& name, const DtlPreemptors::Part& part, const std::string& cpus) {
    fmt::format_to(out_, "{:<{}}{:>10}{:>16}{:>11}{:>14}  {}", name, width_, part.waits,
                   us(part.ticks), share(part.ticks, waits_.all().ticks), us(part.longest), cpus);
    end_line();
  }

  std::string cpus_of(size_t partition) const {
    const auto owners = waits_.owners_of(partition);
    std::string text;
    for (size_t i = 0; i < std::min(owners.size(), kNamedCpus); i++) {
      text += fmt::format("{}{}", i == 0 ? "" : ", ", owners[i].first.cpu);
    }
    if (owners.size() > kNamedCpus) text += fmt::format(" and {} more", owners.size() - kNamedCpus);
    return text;
  }

  void put_waits() {
    const auto longest = waits_.longest();
    if (longest.empty()) return;
    fmt::format_to(out_, "\nlongest waits:\n{:>16}{:>6}{:>11}{:>14}  {}\n", "dispatched s", "CPU",
                   "processor", "wait us", "ran longest");
    for (const DtlPreemptors::Wait& wait : longest) {
      fmt::format_to(out_, "{:>16}{:>6}{:>11}{:>14}  {}\n", moment(wait.dispatched), wait.cpu,
                     wait.processor, us(wait.ticks), owner_of(wait));
    }
  }

  std::string owner_of(const DtlPreemptors::Wait& wait) const {
    if (!wait.owner) return "unknown";
    return fmt::format("{}, CPU {} ({})",
                       wait.owner->partition == kWaiting ? "own" : name(wait.owner->partition),
                       wait.owner->cpu, share(wait.owner_ticks, wait.ticks));
  }

  // Prints facts from the log about the time for which no partition is known.
  void put_unknown() {
    const DtlUnknownTime& unknown = waits_.unknown_time();
    if (unknown.all() == 0) return;
    fmt::format_to(out_, "\nunknown time, by facts from the recording of {}:\n", name(kWaiting));
    fmt::format_to(out_, "{:<{}}{:>16}{:>11}\n", "", kFactWidth, "time us", "share");
    put_fact("ready, not queued", unknown.not_queued());
    put_fact("queued for the processor", unknown.queued());
    put_fact("in waits over 10 ms", unknown.late());
    if (const auto home = unknown.for_home()) {
      put_fact("for the home processor", *home);
      put_fact("for another processor", unknown.all() - *home);
    }
    put_largest(unknown.by_preempt_reason(), [](size_t code) {
      const std::string_view name = preempt_reason_name(static_cast<uint8_t>(code));
      return name.empty() ? fmt::format("after preempt reason {}", code)
                          : fmt::format("after {}", name);
    });
    put_largest(unknown.by_hour(), [](size_t hour) {
      return fmt::format("{:02}:00 to {:02}:00 UTC", hour, (hour + 1) % DtlUnknownTime::kHours);
    });
  }

  void put_fact(const std::string& fact, uint64_t ticks) {
    fmt::format_to(out_, "{:<{}}{:>16}{:>11}\n", fact, kFactWidth, us(ticks),
                   share(ticks, waits_.unknown().ticks));
  }

  // Prints at most --top lines, the most ticks first.
  template <class Label>
  void put_largest(std::span<const uint64_t> ticks, Label label) {
    std::vector<size_t> lines;
    for (size_t i = 0; i < ticks.size(); i++) {
      if (ticks[i] != 0) lines.push_back(i);
    }
    std::ranges::stable_sort(lines, std::greater(), [&](size_t i) { return ticks[i]; });
    lines.resize(std::min(lines.size(), table_.top));
    for (const size_t i : lines) put_fact(label(i), ticks[i]);
  }

  void put_limits() {
    text_ += "\nmerged:";
    for (size_t i = 0; i < table_.names.size(); i++) {
      fmt::format_to(out_, "{} {}", i == 0 ? "" : ",", name(i));
    }
    text_ += '\n';
    fmt::format_to(out_, "own: another virtual processor of {}.\n", name(kWaiting));
    text_ +=
        "unknown: the processor was idle, or the hypervisor used it, or a partition without\n"
        "merged files for this time used it; htmtrace cannot name such a partition.\n"
        "ready, not queued: the hypervisor delays a virtual processor, for example if its\n"
        "partition has used its entitlement. Waits over 10 ms last longer than a dispatch window.\n"
        "htmtrace does not see when a virtual processor stopped after its last entry, or if its\n"
        "next entry is missing. The time of its partition can then be too long.\n"
        "The runs of missing entries are unknown. The time of their partition can be too short.\n";
  }

  // A name can come from a stranger's file, and contain control characters.
  std::string name(size_t partition) const { return without_controls(table_.names[partition]); }

  DtlPreemptors::Part own() const {
    const auto found = waits_.partitions().find(kWaiting);
    return found == waits_.partitions().end() ? DtlPreemptors::Part{} : found->second;
  }

  void end_line() {
    text_.erase(text_.find_last_not_of(' ') + 1);
    text_ += '\n';
  }

  uint64_t ns(uint64_t ticks) const {
    const DtlClock since{.boot_timebase = 0, .ticks_per_second = table_.clock.ticks_per_second};
    return since.nanoseconds(ticks).value_or(0);
  }
  std::string us(uint64_t ticks) const { return decimal(ns(ticks)); }
  // Seconds since boot, in the format of the entries.
  std::string moment(uint64_t timebase) const {
    const uint64_t at = table_.clock.nanoseconds(timebase).value_or(0);
    return fmt::format("{}.{:09}", at / 1'000'000'000, at % 1'000'000'000);
  }

  const DtlPreemptorTable& table_;
  const DtlPreemptors& waits_;
  std::vector<std::pair<size_t, DtlPreemptors::Part>> others_;  // the longest time first
  size_t width_ = sizeof("partition") - 1;
  std::string text_;
  std::back_insert_iterator<std::string> out_;
};

}  // namespace

std::string DtlPreemptorTable::to_text(DtlFormat format) const {
  PreemptorWriter writer(*this);
  switch (format) {
    case DtlFormat::kText:
      return writer.text();
    case DtlFormat::kCsv:
      return writer.csv();
    case DtlFormat::kJson:
      return writer.json();
  }
  return {};
}

}  // namespace htmtrace
