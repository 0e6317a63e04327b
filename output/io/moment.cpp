// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/io/moment.h"

#include <ctime>

namespace htmtrace {
namespace {

int64_t clock_ns(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

Moment now() {
  return {clock_ns(CLOCK_REALTIME), clock_ns(CLOCK_MONOTONIC)};
}

}  // namespace htmtrace
