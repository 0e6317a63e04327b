// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/report/dtl_preemptors.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "core/base/counted.h"
#include "output/io/csv_field.h"
#include "output/io/json_writer.h"
#include "output/io/shares.h"

namespace htmtrace {
namespace {

// The number of virtual processors that a line of the table names.
constexpr size_t kNamedCpus = 4;
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
    fmt::format_to(out_, "who ran while {} waited: {}, {} us\n\n", table_.names[kWaiting],
                   counted(waits_.all().waits, "wait"), us(waits_.all().ticks));
    for (const std::string& name : table_.names) width_ = std::max(width_, name.size());
    fmt::format_to(out_, "{:<{}}{:>10}{:>16}{:>11}{:>14}  {}\n", "partition", width_, "waits",
                   "time us", "share", "longest us", "virtual processors");
    const size_t lines = std::min(others_.size(), table_.top);
    for (size_t i = 0; i < lines; i++) {
      const auto& [partition, part] = others_[i];
      put_part(table_.names[partition], part, cpus_of(partition));
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
    return fmt::format(
        "{}, CPU {} ({})",
        wait.owner->partition == kWaiting ? "own" : table_.names[wait.owner->partition],
        wait.owner->cpu, share(wait.owner_ticks, wait.ticks));
  }

  void put_limits() {
    text_ += "\nmerged:";
    for (size_t i = 0; i < table_.names.size(); i++) {
      fmt::format_to(out_, "{} {}", i == 0 ? "" : ",", table_.names[i]);
    }
    text_ += '\n';
    fmt::format_to(out_, "own: another virtual processor of {}.\n", table_.names[kWaiting]);
    text_ +=
        "unknown: the processor was idle, or the hypervisor or a partition without a recording\n"
        "used it; htmtrace cannot name a partition without a recording.\n"
        "The times of partitions are upper bounds: after a lost entry, and after the last entry\n"
        "of a virtual processor, htmtrace does not see when the virtual processor stopped.\n";
  }

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
