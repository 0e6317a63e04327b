// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/record/workload_account.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>

#include "core/base/error.h"

namespace htmtrace {
namespace {

// A workload such as `sleep 5` only sets the length of the trace, and runs far less than this part.
constexpr int kWaitingPart = 100;
constexpr size_t kMostListedCpus = 8;

std::string seconds_text(uint64_t ns) {
  return fmt::format("{:.3f} s", static_cast<double>(ns) / 1e9);
}

}  // namespace

WorkloadAccount::WorkloadAccount(pid_t workload, const Fd& pagemap)
    : shared_files_(executed_files("/proc")), pagemap_(pagemap), watch_(workload) {}

void WorkloadAccount::end() {
  watch_.look();
  times_trouble_ = watch_.trouble();
  try {
    times_ = watch_.times();
  } catch (const Error& error) {
    times_trouble_ = error.what();
  }
}

void WorkloadAccount::look_last() {
  watch_.look();
  try {
    watch_.times();
  } catch (const Error&) {
    // times() has set WorkloadWatch::lost().
  }
}

void WorkloadAccount::measure(const std::filesystem::path& folder, const Manifest& manifest) {
  if (!watch_.trouble().empty()) {
    share_trouble_ = watch_.trouble();
    return;
  }
  const ProgramPages pages = find_program_pages(watch_.files(), shared_files_, pagemap_);
  knows_all_files_ = pages.all && !watch_.lost();
  share_trouble_ = pages.trouble;
  if (!share_trouble_.empty()) return;
  std::optional<uint32_t> partition;
  if (manifest.host.partition_id) partition = static_cast<uint32_t>(*manifest.host.partition_id);
  const auto until = std::chrono::steady_clock::now() + kMostMeasuring;
  WorkloadShare share;
  try {
    for (const Manifest::Target& target : manifest.targets) {
      if (target.target.type != HtmType::kCore) continue;
      add_share(folder / target.trace_file, folder / target.translation_file, partition, pages,
                until, share);
    }
  } catch (const Error& error) {
    share_trouble_ = error.what();
    return;
  }
  if (share.instructions == share.untranslated) {
    share_trouble_ = "no instruction of the trace has a logical address";
    return;
  }
  share_ = share;
}

uint64_t WorkloadAccount::run_ns() const {
  uint64_t sum = 0;
  for (const WorkloadWatch::CpuTime& time : times_) sum += time.ns;
  return sum;
}

// Sorts by run time, because a program that moves itself, such as taskset, begins on another CPU.
std::string WorkloadAccount::cpus() const {
  if (times_.size() == 1) return fmt::format("cpu {}", times_.front().cpu);
  std::vector<WorkloadWatch::CpuTime> times = times_;
  std::ranges::sort(times, std::greater{}, &WorkloadWatch::CpuTime::ns);
  std::string text;
  for (size_t i = 0; i < std::min(times.size(), kMostListedCpus); i++) {
    text +=
        fmt::format("{} {} ({})", i == 0 ? "cpus" : ",", times[i].cpu, seconds_text(times[i].ns));
  }
  if (times.size() > kMostListedCpus) {
    text += fmt::format(" and {} more", times.size() - kMostListedCpus);
  }
  return text;
}

std::string WorkloadAccount::line() const {
  std::string text;
  if (!times_trouble_.empty()) {
    text = fmt::format("the CPUs of the workload are not known ({})", times_trouble_);
  } else if (times_.empty()) {
    text = "the workload did not run";
  } else {
    text = fmt::format("the workload ran {} on {}", seconds_text(run_ns()), cpus());
  }
  if (!share_)
    return text + fmt::format("; its share of the trace is not known ({})", share_trouble_);
  text += fmt::format(
      "; {}{} of {}{} instructions in the trace are in its own program files ({:.1f} %)",
      knows_all_files_ ? "" : "at least ", share_->own, share_->all ? "" : "the first ",
      share_->instructions, share_->percent());
  if (share_->untranslated != 0) {
    text += fmt::format("; {} have no logical address", share_->untranslated);
  }
  return text;
}

bool WorkloadAccount::is_absent(std::chrono::nanoseconds traced) const {
  const bool known =
      share_ && share_->all && knows_all_files_ && !share_->damaged && share_->untranslated == 0;
  return known && share_->own == 0 &&
         run_ns() >= static_cast<uint64_t>(traced.count()) / kWaitingPart;
}

std::string WorkloadAccount::describe_absence() const {
  return fmt::format(
      "none of {} instructions in the trace is in the workload's own program files: the workload "
      "did not run them on a traced core (it ran on {})",
      share_->instructions, cpus());
}

}  // namespace htmtrace
