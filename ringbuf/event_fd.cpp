// SPDX-License-Identifier: GPL-2.0-or-later
#include "ringbuf/event_fd.h"

#include <linux/perf_event.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <cerrno>

#include "core/base/error.h"

namespace htmtrace {

EventFd EventFd::open(std::span<const std::byte> attr, int cpu, int group_fd) {
  constexpr pid_t kEverything = -1;
  const long fd =
      ::syscall(SYS_perf_event_open, attr.data(), kEverything, cpu, group_fd, PERF_FLAG_FD_CLOEXEC);
  return EventFd(Fd(static_cast<int>(fd)));
}

EventFd EventFd::open_for_task(std::span<const std::byte> attr, int cpu, pid_t task) {
  const long fd = ::syscall(SYS_perf_event_open, attr.data(), task, cpu, -1, PERF_FLAG_FD_CLOEXEC);
  return EventFd(Fd(static_cast<int>(fd)));
}

void EventFd::enable() const {
  if (::ioctl(get(), PERF_EVENT_IOC_ENABLE, 0) != 0) throw Error("cannot enable the event", errno);
}

void EventFd::disable() const {
  if (::ioctl(get(), PERF_EVENT_IOC_DISABLE, 0) != 0)
    throw Error("cannot disable the event", errno);
}

std::optional<EventValue> EventFd::read() const {
  EventValue value;
  static_assert(sizeof(value) == 5 * sizeof(uint64_t));
  ssize_t got = 0;
  do {
    got = ::read(get(), &value, sizeof(value));
  } while (got < 0 && errno == EINTR);
  if (got < 0) throw Error("cannot read the event", errno);
  if (got != sizeof(value)) return std::nullopt;
  return value;
}

bool EventFd::refused() const {
  pollfd query{get(), POLLIN, 0};
  return ::poll(&query, 1, 0) == 1 && (query.revents & POLLERR) != 0;
}

}  // namespace htmtrace
