// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/htm_source.h"

#include <sched.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "core/error.h"
#include "pmu/htm_errors.h"
#include "pmu/htm_event.h"
#include "pmu/pmu_description.h"

namespace htmtrace {
namespace {

// The driver moves up to one ring per read(2) with interrupts off, so more is not better; 8 MiB
// keep the number of reads small. One block of the memory map is up to 64 KiB. Drivers of the first
// generation write the whole map in one read: 4 MiB on a machine of 32 TiB.
constexpr RingSizes kUsualSizes = {.data_bytes = 1 << 20, .aux_bytes = 8 << 20};
constexpr RingSizes kOldDriverSizes = {.data_bytes = 8 << 20, .aux_bytes = 8 << 20};
// Four pages of 64 KiB.
constexpr RingSizes kLeastSizes = {.data_bytes = 256 << 10, .aux_bytes = 256 << 10};

constexpr int kAliveTries = 20;

// The kernel refuses what is asked of this CPU, another one may do.
bool try_next_cpu(int reason) {
  return reason == EBUSY;
}

}  // namespace

std::vector<int> carrier_candidates() {
  std::vector<int> cpus;
  // Machines may have more CPUs than a cpu_set_t; those beyond its 1024 are never needed here.
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0) CPU_SET(0, &allowed);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (CPU_ISSET(cpu, &allowed) && cpu_is_online(cpu)) cpus.push_back(cpu);
  }
  return cpus;
}

HtmSource::HtmSource(const Wish& wish) : target_(wish.target) {
  if (!PmuDescription::exists(kPmuRoot, kHtmPmu)) throw missing_htm_pmu(kPmuRoot);
  const auto pmu = PmuDescription::read(kPmuRoot, kHtmPmu);
  const EventAttr attr = htm_event_attr(pmu, target_);
  open(attr, wish.cpu);
  if (old_driver_) refuse_first_driver(attr);
  // All events of the group are opened before the first is enabled: a newcomer would make the
  // kernel take the running event off its CPU. A driver that cannot lead a group has no witness.
  witness_ = EventFd::open(htm_witness_attr().bytes(), cpu_, event_.get());

  const RingSizes usual = old_driver_ ? kOldDriverSizes : kUsualSizes;
  ring_ = PerfRing::map(event_, wish.sizes.value_or(usual), wish.sizes.value_or(kLeastSizes));
  rings_shrunk_ = !wish.sizes && ring_->sizes() != usual;
}

void HtmSource::open(const EventAttr& attr, const std::optional<int>& cpu) {
  const std::vector<int> candidates = cpu ? std::vector{*cpu} : carrier_candidates();
  int reason = ENODEV;
  for (const int candidate : candidates) {
    if (try_open(attr, candidate)) return;
    reason = errno;
    cpu_ = candidate;
    if (!try_next_cpu(reason)) break;
  }
  throw explain_open_failure(reason, target_, cpu_);
}

bool HtmSource::try_open(const EventAttr& attr, int cpu) {
  // Later drivers refuse a frequency before they look at the target.
  old_driver_ = static_cast<bool>(EventFd::open(htm_generation_probe(attr).bytes(), cpu));
  event_ = EventFd::open(attr.bytes(), cpu);
  if (!event_) return false;
  cpu_ = cpu;
  return true;
}

// The first published driver hands the hypervisor the whole AUX area as if it were one physical
// block, and so lets it write over other memory. It is the only one that lets a target be opened
// twice.
void HtmSource::refuse_first_driver(const EventAttr& attr) const {
  for (const int other : carrier_candidates()) {
    if (other == cpu_) continue;
    if (EventFd::open(attr.bytes(), other)) break;
    if (errno == EBUSY) return;
  }
  throw Error("this kernel's htm driver is not safe to use")
      .on("reason: it looks like the first published one, which can overwrite kernel memory")
      .hint("use the driver of htmtrace (kmod/) or a newer kernel");
}

bool HtmSource::alive() const {
  if (event_.refused()) return false;
  if (!witness_) return true;
  const auto before = witness_.read();
  for (int tries = 0; before && tries < kAliveTries; tries++) {
    const auto after = witness_.read();
    if (!after) break;
    if (after->running_ns > before->running_ns) return !event_.refused();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

}  // namespace htmtrace
