// SPDX-License-Identifier: GPL-2.0-or-later
// Tests events and the data ring on the running kernel. If the kernel denies access, the test case
// prints the reason and checks nothing.
#include "ringbuf/event_fd.h"

#include <doctest/doctest.h>
#include <sched.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include "cli/affinity.h"
#include "cli/capture/htm_source.h"
#include "core/base/error.h"
#include "pmu/event_attr.h"
#include "pmu/htm_event.h"
#include "pmu/migration_event.h"
#include "ringbuf/perf_ring.h"
#include "ringbuf/records.h"

namespace htmtrace {
namespace {

EventAttr software_event(uint64_t which) {
  EventAttr attr = htm_witness_attr();
  attr.base().config = which;
  return attr;
}

// Opens the event on the first permitted CPU, or prints the reason for the failure.
EventFd open_or_tell(const EventAttr& attr, int cpu = 0) {
  EventFd event = EventFd::open(attr.bytes(), cpu);
  if (!event) MESSAGE("skipped: perf_event_open: " << std::strerror(errno));
  return event;
}

}  // namespace

TEST_CASE("the count of a thread's moves shows each move to another CPU") {
  const std::vector<int> cpus = carrier_candidates();
  if (cpus.size() < 2) {
    MESSAGE("skipped: only one CPU");
    return;
  }
  const auto moves_after = [&](const std::vector<int>& path) {
    std::optional<uint64_t> moves;
    std::thread([&] {
      bind_to_cpus(0, {path.front()});
      const EventFd event = EventFd::open_for_task(migration_event_attr().bytes(), -1, 0);
      if (!event) {
        MESSAGE("skipped: perf_event_open: " << std::strerror(errno));
        return;
      }
      CHECK(is_bound_to(0, path.front()));
      for (const int cpu : path) bind_to_cpus(0, {cpu});
      moves = event.read()->value;
      CHECK(is_bound_to(0, path.back()));
    }).join();
    return moves;
  };
  if (!moves_after({cpus[0]})) return;
  CHECK(moves_after({cpus[0]}) == 0);
  CHECK(moves_after({cpus[0], cpus[1]}) == 1);
  CHECK(moves_after({cpus[0], cpus[1], cpus[0]}) == 2);
}

TEST_CASE("an event on the real kernel counts time while it runs") {
  EventAttr attr = software_event(PERF_COUNT_SW_DUMMY);
  attr.base().disabled = 1;
  const EventFd event = open_or_tell(attr);
  if (!event) return;
  const auto off = event.read();
  REQUIRE(off);
  CHECK(off->running_ns == 0);
  event.enable();
  const auto first = event.read();
  const auto second = event.read();
  REQUIRE(second);
  CHECK(second->running_ns > first->running_ns);
  CHECK_FALSE(event.refused());
}

TEST_CASE("records of the real kernel arrive in the mapped ring") {
  EventAttr attr = software_event(PERF_COUNT_SW_DUMMY);
  attr.base().mmap = 1;
  attr.base().mmap_data = 1;
  attr.base().sample_id_all = 1;
  attr.base().sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID;
  cpu_set_t before;
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(0, &only);
  ::sched_getaffinity(0, sizeof(before), &before);
  if (::sched_setaffinity(0, sizeof(only), &only) != 0) {
    MESSAGE("skipped: cpu 0 is not ours");
    return;
  }
  const EventFd event = open_or_tell(attr);
  if (event) {
    // No AUX area, because this kernel has no PMU with AUX. The test maps the data ring itself.
    const size_t size = 4 * page_size();
    const Mapping mapping = Mapping::map(event.get(), page_size() + size, 0);
    REQUIRE(mapping);
    auto* page = reinterpret_cast<perf_event_mmap_page*>(mapping.memory().data());
    DataRing ring(page, mapping.memory().subspan(page_size()));
    event.enable();
    uint64_t records = 0;
    uint64_t lost = 0;
    uint64_t skipped = 0;
    // More records than the ring holds, so that it wraps.
    for (int round = 0; round < 2000; round++) {
      const Mapping other = Mapping::map(event.get(), page_size() + size, 0);
      skipped += ring.drain([&](const Record& record) {
        // Other processes also run on this CPU. Their records arrive too, and may take up ring
        // space.
        if (record.type == PERF_RECORD_MMAP) records++;
        if (record.type == PERF_RECORD_LOST) lost += parse_lost(record.body).value_or(0);
      });
    }
    CHECK(skipped == 0);
    CHECK(records > 0);
    CHECK(records + lost >= 2000);
  }
  ::sched_setaffinity(0, sizeof(before), &before);
}

TEST_CASE("a PMU without an AUX area is distinguished from a lack of memory") {
  const EventFd event = open_or_tell(software_event(PERF_COUNT_SW_DUMMY));
  if (!event) return;
  const RingSizes sizes{.data_bytes = 4 * page_size(), .aux_bytes = 4 * page_size()};
  MapFailure failure;
  CHECK_FALSE(PerfRing::map(event, sizes, failure));
  CHECK_FALSE(failure.less_may_do());
  const std::string message = failure.explain().what();
  CHECK(message.find("of AUX ring: Operation not supported") != std::string::npos);
}

}  // namespace htmtrace
