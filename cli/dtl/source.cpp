// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/dtl/source.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <thread>

#include "cli/dtl/guard.h"
#include "core/dispatch_log/entry.h"
#include "pmu/dtl_event.h"
#include "ringbuf/dtl_drain.h"

namespace htmtrace {
namespace {

// The driver loses entries each time the AUX area wraps, so the area is large: 8 MiB hold 174761
// entries. All areas together take at most 512 MiB, unless the minimum for each CPU exceeds this.
constexpr size_t kMostDtlAuxBytes = 8 << 20;
constexpr size_t kAllAuxBytes = 512 << 20;
// The data ring holds a record of about 70 bytes for each delivery. Without an AUX area, it also
// holds the entries.
constexpr size_t kDataBytes = 256 << 10;
constexpr size_t kRawDataBytes = 1 << 20;
constexpr size_t kLeastDtlDataBytes = 64 << 10;

// The trial chooses a period at which the driver finds at most a quarter of the log filled, which
// leaves room for bursts. The first entry arrives after the trial, one period and
// kLookMilliseconds: at most 0.2 seconds.
constexpr uint64_t kTrialPeriodNs = 5'000'000;
constexpr std::chrono::milliseconds kTrial{100};
constexpr uint64_t kWantedAtOnce = kDtlMostAtOnce / 4;
constexpr uint64_t kLongestPeriodNs = 50'000'000;
// If a log fills quickly, htmtrace's driver reads it more often than once in this period.
constexpr uint64_t kOwnPeriodNs = 20'000'000;

constexpr int kDtlAliveTries = 20;

}  // namespace

Fd lock_dtl_pmu() {
  if (!PmuDescription::exists(kPmuRoot, kDtlPmu)) throw missing_dtl_pmu(kPmuRoot);
  // This file exists as long as the PMU, and no other program locks it.
  const auto path = kPmuRoot / std::filesystem::path(kDtlPmu) / "type";
  Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) throw Error("cannot open the PMU's description", errno).on("file: " + path.string());
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return file;
  if (errno != EWOULDBLOCK) {
    throw Error("cannot lock the PMU", errno).on("file: " + path.string());
  }
  throw Error("another htmtrace process is using the dispatch trace log")
      .on("locked: " + path.string())
      .hint("end that process first; `fuser -v` on this file shows it");
}

DtlDrain::Driver dtl_driver() {
  return is_own_dtl_driver(kPmuRoot) ? DtlDrain::Driver::kOwn : DtlDrain::Driver::kKernels;
}

DtlRings::DtlRings(std::optional<size_t> aux_bytes, size_t cpus) : fixed(aux_bytes.has_value()) {
  const size_t share = std::bit_floor(kAllAuxBytes / std::max<size_t>(cpus, 1));
  sizes.data_bytes = kDataBytes;
  sizes.aux_bytes = aux_bytes.value_or(std::clamp(share, kLeastAuxBytes, kMostDtlAuxBytes));
}

DtlSource::DtlSource(int cpu, const std::string& event, uint64_t period_ns, DtlRings rings)
    : cpu_(cpu) {
  const auto pmu = PmuDescription::read(kPmuRoot, kDtlPmu);
  event_ = EventFd::open(dtl_event_attr(pmu, event, period_ns).bytes(), cpu);
  if (!event_) throw explain_dtl_open_failure(errno, event, cpu);
  map(rings);
}

DtlSource::~DtlSource() {
  // This call does not fail on an open event.
  if (event_) ::ioctl(event_.get(), PERF_EVENT_IOC_DISABLE, 0);
}

void DtlSource::map(DtlRings rings) {
  MapFailure failure;
  while (true) {
    ring_ = PerfRing::map(event_, rings.sizes, failure);
    if (ring_) return;
    if (failure.reason == EOPNOTSUPP && rings.sizes.aux_bytes != 0) {
      rings.sizes = {.data_bytes = kRawDataBytes, .aux_bytes = 0};
      continue;
    }
    size_t& larger = rings.sizes.aux_bytes > DtlRings::kLeastAuxBytes ? rings.sizes.aux_bytes
                                                                      : rings.sizes.data_bytes;
    larger /= 2;
    if (rings.fixed || !failure.less_may_do() || rings.sizes.data_bytes < kLeastDtlDataBytes) {
      throw failure.explain();
    }
  }
}

bool DtlSource::alive() const {
  if (event_.refused()) return false;
  const auto before = event_.read();
  for (int tries = 0; before && tries < kDtlAliveTries; tries++) {
    const auto after = event_.read();
    if (!after) break;
    if (after->running_ns > before->running_ns) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

uint64_t choose_dtl_period(const std::vector<int>& cpus, const std::string& event,
                           const Signals& signals) {
  if (dtl_driver() == DtlDrain::Driver::kOwn) return kOwnPeriodNs;
  const DtlRings rings(DtlRings::kLeastAuxBytes, cpus.size());
  std::vector<DtlSource> sources;
  sources.reserve(cpus.size());
  for (const int cpu : cpus) sources.emplace_back(cpu, event, kTrialPeriodNs, rings);
  std::vector<const DtlSource*> guarded;
  guarded.reserve(sources.size());
  for (const DtlSource& source : sources) guarded.push_back(&source);
  const DtlGuard guard(guarded);
  for (const DtlSource& source : sources) source.enable();
  pollfd arrived{signals.fd(), POLLIN, 0};
  ::poll(&arrived, 1, kTrial.count());
  uint64_t most = 1;
  std::vector<std::byte> room;
  for (const DtlSource& source : sources) {
    const PerfRing& ring = source.ring();
    DtlDrain drain(ring.data(), ring.has_aux() ? std::optional(ring.aux()) : std::nullopt,
                   ring.sizes().aux_bytes,
                   {.entries = [](auto) {},
                    .loss = [](const Loss&) {},
                    .boot_timebase = [](uint64_t) { return uint64_t{0}; }},
                   dtl_driver());
    drain.look(room);
    most = std::max(most, drain.totals().most_at_once);
  }
  if (most >= kDtlMostAtOnce) return kLeastDtlPeriodNs;
  return std::clamp(kTrialPeriodNs * kWantedAtOnce / most, kLeastDtlPeriodNs, kLongestPeriodNs);
}

}  // namespace htmtrace
