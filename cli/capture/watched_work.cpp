// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/capture/watched_work.h"

#include <chrono>
#include <future>
#include <system_error>

namespace htmtrace {

void watch_during(const std::function<void()>& work, const std::function<void()>& look) {
  constexpr std::chrono::milliseconds kInterval{20};
  std::future<void> done;
  try {
    done = std::async(std::launch::async, work);
  } catch (const std::system_error&) {
    return work();  // signals wait until the reader reads
  }
  while (done.wait_for(kInterval) != std::future_status::ready) look();
  done.get();
}

}  // namespace htmtrace
