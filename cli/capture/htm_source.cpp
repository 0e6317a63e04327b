// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/capture/htm_source.h"

#include <fmt/core.h>
#include <sched.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "pmu/htm_errors.h"
#include "pmu/htm_event.h"

namespace htmtrace {
namespace {

// The driver moves up to one ring per read(2) with interrupts off, so a larger ring is not better;
// 8 MiB keep the number of reads small. One block of the memory map has up to 64 KiB.
// First-generation drivers write the whole map in one read: 4 MiB on a machine of 32 TiB.
constexpr RingSizes kUsualSizes = {.data_bytes = 1 << 20, .aux_bytes = 8 << 20};
constexpr RingSizes kOldDriverSizes = {.data_bytes = 8 << 20, .aux_bytes = 8 << 20};
// Four pages of 64 KiB.
constexpr RingSizes kLeastSizes = {.data_bytes = 256 << 10, .aux_bytes = 256 << 10};

constexpr int kAliveTries = 20;

// Returns true if another CPU may accept the event that this CPU refused.
bool try_next_cpu(int reason) {
  return reason == EBUSY;
}

}  // namespace

std::vector<int> carrier_candidates() {
  std::vector<int> cpus;
  // A machine may have more CPUs than a cpu_set_t. htmtrace never needs those beyond its 1024.
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0) CPU_SET(0, &allowed);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (CPU_ISSET(cpu, &allowed) && cpu_is_online(cpu)) cpus.push_back(cpu);
  }
  return cpus;
}

HtmSource::HtmSource(const EventAttr& attr, const TraceTarget& target, const std::vector<int>& cpus,
                     bool wraps, bool own_driver)
    : target_(target), attr_(attr), wraps_(wraps), own_driver_(own_driver) {
  int reason = ENODEV;
  for (const int cpu : cpus) {
    if (try_open(cpu)) break;
    reason = errno;
    cpu_ = cpu;
    if (!try_next_cpu(reason)) break;
  }
  if (!event_) explain_failure(reason);
}

void HtmSource::explain_failure(int reason) const {
  EventAttr plain = attr_;
  plain.set_aux_action(0);
  if (attr_.aux_action() != 0 && EventFd::open(plain.bytes(), cpu_)) {
    throw explain_no_pausing(reason, target_, cpu_);
  }
  throw explain_open_failure(reason, target_, cpu_);
}

void HtmSource::open_triggers(const Triggers& triggers) {
  if (triggers.resume) open_trigger(*triggers.resume, kAuxResume);
  if (triggers.pause) open_trigger(*triggers.pause, kAuxPause);
}

void HtmSource::open_trigger(const Trigger& trigger, uint32_t action) {
  EventAttr attr = trigger.attr();
  attr.set_aux_action(action);
  EventFd member = EventFd::open(attr.bytes(), cpu_, event_.get());
  if (!member) {
    const int reason = errno;
    attr.set_aux_action(0);
    if (EventFd::open(attr.bytes(), cpu_)) throw explain_no_pausing(reason, target_, cpu_);
    throw explain_trigger_failure(errno, trigger.text(), cpu_);
  }
  triggers_.push_back(
      {action == kAuxResume ? "resume" : "pause", trigger.text(), std::move(member)});
}

std::vector<HtmSource::TriggerCount> HtmSource::trigger_counts() const {
  std::vector<TriggerCount> counts;
  for (const Member& member : triggers_) {
    const auto value = member.fd.read();
    counts.push_back({member.action, member.event, value ? value->value - member.before : 0});
  }
  return counts;
}

void HtmSource::rearm(const std::optional<EventValue>& last) {
  event_.disable();
  if (last) baseline_ = *last;
  for (Member& member : triggers_) {
    if (const auto value = member.fd.read()) member.before = value->value;
  }
}

bool HtmSource::try_open(int cpu) {
  // Later drivers refuse a frequency before they look at the target.
  old_driver_ = static_cast<bool>(EventFd::open(htm_generation_probe(attr_).bytes(), cpu));
  event_ = EventFd::open(attr_.bytes(), cpu);
  if (!event_) return false;
  cpu_ = cpu;
  return true;
}

// Only the first driver lets two events open the same target. A CPU that carries another event
// always refuses, so this function tries all CPUs.
bool HtmSource::is_first_driver() const {
  if (!old_driver_) return false;
  bool tried = false;
  for (const int other : carrier_candidates()) {
    if (other == cpu_) continue;
    if (EventFd::open(attr_.bytes(), other)) return true;
    tried = true;
  }
  return !tried;
}

bool HtmSource::map_rings(RingSizes sizes, MapFailure& failure) {
  // Open all events of the group before the first is enabled: a new event would make the kernel
  // stop the running event. A driver that cannot lead a group has no witness.
  if (!witness_) witness_ = EventFd::open(htm_witness_attr().bytes(), cpu_, event_.get());
  ring_ = PerfRing::map(event_, sizes, failure);
  return ring_.has_value();
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

namespace {

// Halves the larger ring, unless the result is too small.
std::optional<RingSizes> smaller(RingSizes sizes) {
  size_t& larger = sizes.aux_bytes > kLeastSizes.aux_bytes && sizes.aux_bytes >= sizes.data_bytes
                       ? sizes.aux_bytes
                       : sizes.data_bytes;
  larger /= 2;
  if (sizes.data_bytes < kLeastSizes.data_bytes) return std::nullopt;
  return sizes;
}

bool map_all(Sources& sources, MapFailure& failure) {
  for (HtmSource& source : sources.list) {
    if (!source.map_rings(sources.sizes, failure)) return false;
  }
  return true;
}

// The rings of all targets have the same size, so that all targets share the limit evenly.
void map_rings(Sources& sources, const std::optional<RingSizes>& wanted) {
  const RingSizes usual = sources.list.front().old_driver() ? kOldDriverSizes : kUsualSizes;
  sources.sizes = wanted.value_or(usual);
  MapFailure failure;
  while (!map_all(sources, failure)) {
    for (HtmSource& source : sources.list) source.unmap_rings();
    // The events of the first driver were opened for a fixed size.
    const bool fixed = wanted || sources.first_driver;
    const auto less = fixed ? std::nullopt : smaller(sources.sizes);
    if (!less || !failure.less_may_do()) throw failure.explain();
    sources.sizes = *less;
  }
  sources.rings_shrunk = !wanted && sources.sizes != usual;
}

Error too_few_cpus(size_t targets, size_t cpus) {
  return Error(fmt::format(
                   "cannot trace {} targets: they need {} carrier CPUs, but only {} can be used",
                   targets, targets, cpus))
      .on("reason: a CPU can carry the event of only one target")
      .hint("trace fewer targets at once, or allow more CPUs (taskset, SMT, CPU hotplug)");
}

// The first driver passes the whole AUX area to the hypervisor as if it were one physical block. A
// watermark as large as the area makes the kernel try to allocate one block. htmtrace cannot check
// the result.
void take_first_driver(Sources& sources, const SourceWish& wish) {
  if (!wish.allow_first_driver) {
    throw Error("this kernel's htm driver is not safe to use")
        .on("reason: it looks like the first published driver, which can overwrite kernel memory")
        .hint("load htmtrace's driver (htmtrace doctor states how), or boot a newer kernel")
        .hint("pass --unsafe-driver to use it anyway");
  }
  sources.first_driver = true;
  if (!wish.sizes || wish.sizes->aux_bytes <= kLargestBlockBytes) return;
  throw Error(fmt::format("cannot use an AUX ring of {} KiB with this htm driver",
                          wish.sizes->aux_bytes / 1024))
      .on(fmt::format("reason: the ring must be one physical block of at most {} KiB",
                      kLargestBlockBytes / 1024))
      .hint("choose a smaller ring with -m");
}

// The public drivers cannot wrap. When enabled again, they do nothing or trace without a memory
// map. Only htmtrace's driver has the term.
void check_wrap(const PmuDescription& pmu, const SourceWish& wish) {
  if ((!wish.wrap && !wish.rearm) || pmu.terms().contains(kWrapTerm)) return;
  throw Error(wish.wrap ? "cannot use --wrap with this kernel's htm driver"
                        : "cannot make several traces in a row with this kernel's htm driver")
      .on(fmt::format("reason: the driver lacks the format term \"{}\"", kWrapTerm))
      .hint("load htmtrace's driver (htmtrace doctor states how)");
}

Triggers find_triggers(const SourceWish& wish) {
  Triggers triggers{wish.start_paused, {}, {}};
  const Trigger::Roots roots = Trigger::usual_roots();
  if (wish.resume_on) triggers.resume.emplace(*wish.resume_on, roots);
  if (wish.pause_on) triggers.pause.emplace(*wish.pause_on, roots);
  return triggers;
}

void open_events(Sources& sources, const PmuDescription& pmu, const SourceWish& wish,
                 std::vector<int> cpus) {
  sources.list.reserve(wish.targets.size());
  for (const TraceTarget& target : wish.targets) {
    EventAttr attr = htm_event_attr(pmu, target);
    if (sources.triggers.start_paused) attr.set_aux_action(kAuxStartPaused);
    if (wish.wrap) pmu.store(attr, kWrapTerm, 1);
    if (sources.first_driver) {
      attr.base().aux_watermark =
          static_cast<uint32_t>(wish.sizes.value_or(kOldDriverSizes).aux_bytes);
    }
    const HtmSource& source =
        sources.list.emplace_back(attr, target, cpus, wish.wrap, pmu.terms().contains(kWrapTerm));
    std::erase(cpus, source.carrier_cpu());
    if (sources.list.size() == 1 && !sources.first_driver && source.is_first_driver()) {
      take_first_driver(sources, wish);
      return;
    }
  }
}

}  // namespace

uint64_t usual_ring_bytes() {
  return page_size() + kUsualSizes.data_bytes + kUsualSizes.aux_bytes;
}

Sources open_sources(const SourceWish& wish) {
  if (!PmuDescription::exists(kPmuRoot, kHtmPmu)) throw missing_htm_pmu(kPmuRoot);
  const auto pmu = PmuDescription::read(kPmuRoot, kHtmPmu);
  check_wrap(pmu, wish);
  std::vector<int> cpus = wish.cpus.empty() ? carrier_candidates() : wish.cpus;
  if (wish.targets.size() > cpus.size()) throw too_few_cpus(wish.targets.size(), cpus.size());

  Sources sources;
  sources.triggers = find_triggers(wish);
  open_events(sources, pmu, wish, cpus);
  if (sources.first_driver) {
    // Open the events again, now with the attributes for the first driver.
    sources.list.clear();
    open_events(sources, pmu, wish, cpus);
  }
  for (HtmSource& source : sources.list) source.open_triggers(sources.triggers);
  map_rings(sources, wish.sizes);
  return sources;
}

}  // namespace htmtrace
