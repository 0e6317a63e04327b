// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/print/dtl_tasks_text.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/dispatch_log/entry.h"
#include "output/io/csv_field.h"
#include "output/io/json_writer.h"
#include "output/io/shares.h"

namespace htmtrace {
namespace {

// Names a task without a known name by its number, as perf does.
std::string name_of(DtlTask task, const DtlTaskNames& names) {
  if (!task.known()) return "unknown";
  if (task.idle()) return "idle";
  const std::string_view name = names.of(task);
  return name.empty() ? fmt::format(":{}", task.tid) : std::string(name);
}

std::string number_or(uint32_t number, const char* unknown) {
  return number == DtlTask::kUnknown ? unknown : fmt::format("{}", number);
}

// The name for programs. Empty if unknown.
std::string_view comm_of(DtlTask task, const DtlTaskNames& names) {
  return task.idle() ? "idle" : names.of(task);
}

// Returns three fields of a row of CSV. Unknown values are empty.
std::string csv_fields(DtlTask task, const DtlTaskNames& names) {
  return fmt::format("{},{},{}", number_or(task.pid, ""), number_or(task.tid, ""),
                     csv_field(comm_of(task, names)));
}

// Writes three members of an object. Unknown values are null.
void write_fields(JsonWriter& json, DtlTask task, const DtlTaskNames& names) {
  const auto known = [](uint32_t number) {
    return number == DtlTask::kUnknown ? std::nullopt : std::optional<uint64_t>(number);
  };
  json.number("pid", known(task.pid));
  json.number("tid", known(task.tid));
  const std::string_view comm = comm_of(task, names);
  comm.empty() ? json.null("comm") : json.text("comm", comm);
}

struct ReasonWait {
  std::string name;
  uint64_t ticks;
};

// Why the virtual processor had stopped before the waits; the longest waiting time first.
std::vector<ReasonWait> reasons_of(const DtlTaskWaits::Wait& wait) {
  std::vector<ReasonWait> reasons;
  for (size_t code = 0; code < wait.by_reason.size(); code++) {
    if (wait.by_reason[code] == 0) continue;
    std::string name(preempt_reason_name(static_cast<uint8_t>(code)));
    if (name.empty()) name = fmt::format("reason_{}", code);
    if (code == wait.by_reason.size() - 1) name = "other";
    reasons.push_back({std::move(name), wait.by_reason[code]});
  }
  std::ranges::stable_sort(reasons, std::greater<>(), &ReasonWait::ticks);
  return reasons;
}

// A line of the table. Without a task, the line describes unknown tasks.
struct Waiting {
  DtlTask task;
  const DtlTaskWaits::Wait* wait = nullptr;
};

class TaskTable {
 public:
  explicit TaskTable(const DtlTaskTable& table)
      : table_(table),
        since_{.boot_timebase = 0, .ticks_per_second = table.clock.ticks_per_second} {
    if (table.waits->tasks() != nullptr) slots_ = table.waits->tasks()->top(table.top);
    for (const auto& slot : slots_) lines_.push_back({DtlTask::of_key(slot.key), &slot.entry});
    for (const Waiting& apart :
         {Waiting{kIdleTask, &table.waits->idle()}, Waiting{DtlTask{}, &table.waits->unknown()}}) {
      if (apart.wait->times.count() != 0) lines_.push_back(apart);
    }
  }

  std::string text() const {
    std::string text;
    const auto out = std::back_inserter(text);
    fmt::format_to(out, "\nwaited from ready to dispatch, by task{}, {}:\n", most_of(),
                   since_.ticks_per_second != 0 ? "us" : "ticks");
    fmt::format_to(out, "{:>10}{:>10}{:>12}{:>16}{:>10}{:>12}{:>12}{:>12}  {:<16}  {}\n", "pid",
                   "tid", "dispatches", "waited", "share", "p50", "p99", "max", "comm",
                   "waited after");
    const uint64_t all = sum();
    for (const auto& [task, wait] : lines_) {
      fmt::format_to(out, "{:>10}{:>10}{:>12}{:>16}{:>10}{:>12}{:>12}{:>12}  {:<16}  {}\n",
                     number_or(task.pid, "-"), number_or(task.tid, "-"), wait->times.count(),
                     time(wait->count), share(wait->count, all), time(wait->times.quantile(500)),
                     time(wait->times.quantile(990)), time(wait->times.most()),
                     name_of(task, *table_.names), shares_of(*wait));
    }
    return text;
  }

  std::string csv() const {
    std::string text = "pid,tid,comm,dispatches,waited_ns,p50_ns,p99_ns,max_ns,waited_ns_after\n";
    for (const auto& [task, wait] : lines_) {
      std::string after;
      for (const auto& [name, ticks] : reasons_of(*wait)) {
        after += fmt::format("{}{}:{}", after.empty() ? "" : " ", name, ns(ticks));
      }
      text += fmt::format("{},{},{},{},{},{},{}\n", csv_fields(task, *table_.names),
                          wait->times.count(), ns(wait->count), ns(wait->times.quantile(500)),
                          ns(wait->times.quantile(990)), ns(wait->times.most()), after);
    }
    return text;
  }

  std::string json() const {
    std::string text;
    JsonWriter json(JsonWriter::Layout::kCompact);
    for (const auto& [task, wait] : lines_) {
      json.begin_object();
      write_fields(json, task, *table_.names);
      json.number("dispatches", wait->times.count());
      json.number("waited_ns", ns(wait->count));
      json.number("p50_ns", ns(wait->times.quantile(500)));
      json.number("p99_ns", ns(wait->times.quantile(990)));
      json.number("max_ns", ns(wait->times.most()));
      json.begin_object("waited_ns_after");
      for (const auto& [name, ticks] : reasons_of(*wait)) json.number(name, ns(ticks));
      json.end_object();
      json.end_object();
      text += json.take();
    }
    return text;
  }

 private:
  static std::string shares_of(const DtlTaskWaits::Wait& wait) {
    std::string text;
    for (const auto& [name, ticks] : reasons_of(wait)) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, share(ticks, wait.count));
    }
    return text;
  }

  uint64_t ns(uint64_t ticks) const { return since_.nanoseconds(ticks).value_or(0); }
  // Microseconds, or ticks if the clock is unknown.
  std::string time(uint64_t ticks) const {
    return since_.ticks_per_second != 0 ? decimal(ns(ticks)) : fmt::format("{}", ticks);
  }

  uint64_t sum() const {
    uint64_t all = table_.waits->idle().count + table_.waits->unknown().count;
    if (table_.waits->tasks() == nullptr) return all;
    for (const auto& slot : table_.waits->tasks()->entries()) all += slot.entry.count;
    return all;
  }

  std::string most_of() const {
    const DtlTaskWaits::Table* tasks = table_.waits->tasks();
    if (tasks == nullptr) return {};
    std::string text;
    if (tasks->size() > table_.top) text = fmt::format(", the {} that waited longest", table_.top);
    if (tasks->error() != 0) {
      text += fmt::format(" (waited: too low by at most {})", time(tasks->error()));
    }
    return text;
  }

  const DtlTaskTable& table_;
  DtlClock since_;
  std::vector<DtlTaskWaits::Table::Slot> slots_;
  std::vector<Waiting> lines_;
};

}  // namespace

std::string DtlTaskColumn::text(DtlFormat format, size_t entry) const {
  const DtlTask task = tasks[entry];
  switch (format) {
    case DtlFormat::kText:
      return fmt::format(", tid:{}, comm:{}", number_or(task.tid, "-"), name_of(task, *names));
    case DtlFormat::kCsv:
      return "," + csv_fields(task, *names);
    case DtlFormat::kJson:
      break;
  }
  JsonWriter json(JsonWriter::Layout::kCompact);
  json.continue_object();
  write_fields(json, task, *names);
  return json.take_part();
}

std::string DtlTaskTable::to_text(DtlFormat format) const {
  const TaskTable table(*this);
  switch (format) {
    case DtlFormat::kText:
      return table.text();
    case DtlFormat::kCsv:
      return table.csv();
    case DtlFormat::kJson:
      return table.json();
  }
  return {};
}

}  // namespace htmtrace
