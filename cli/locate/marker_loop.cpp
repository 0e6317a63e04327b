// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/locate/marker_loop.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "cli/affinity.h"
#include "core/base/error.h"
#include "core/base/start_thread.h"

namespace htmtrace {

bool MarkerLoop::supported() {
#if defined(__powerpc64__) && defined(_CALL_ELF) && _CALL_ELF == 2
  return true;
#else
  return false;
#endif
}

MarkerLoop::MarkerLoop(int cpu, const Marker& marker) : cpu_(cpu) {
  if (!supported()) {
    throw Error("cannot run a marker: this program is not for 64-bit little-endian POWER")
        .hint("run htmtrace on the machine to be traced");
  }
  map_code(marker);
  thread_ = start_thread([this] { run(); });
  if (!thread_) {
    unmap_code();
    throw Error("cannot start a thread for the marker").hint("raise the limit: ulimit -u");
  }
  while (rounds() == 0 && failure_ == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (const int reason = failure_; reason != 0) {
    thread_->join();
    unmap_code();
    throw Error(fmt::format("cannot run on cpu {}", cpu_), reason)
        .hint("choose CPUs that this process may use (taskset -p shows them)");
  }
}

MarkerLoop::~MarkerLoop() {
  stop();
  unmap_code();
}

void MarkerLoop::stop() {
  stop_ = true;
  if (thread_->joinable()) thread_->join();
}

// The code is never writable and executable at the same time.
void MarkerLoop::map_code(const Marker& marker) {
  const std::vector<uint32_t> words = marker_function(marker);
  const size_t bytes = words.size() * sizeof(uint32_t);
  void* const at =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) throw Error("cannot map memory for the marker", errno);
  code_ = {static_cast<uint32_t*>(at), words.size()};
  std::ranges::copy(words, code_.begin());
  if (::mprotect(at, bytes, PROT_READ | PROT_EXEC) != 0) {
    const int reason = errno;
    unmap_code();
    throw Error("cannot make the marker executable", reason)
        .hint("allow this process executable memory (SELinux: execmem)");
  }
  char* const begin = static_cast<char*>(at);
  __builtin___clear_cache(begin, begin + bytes);
}

void MarkerLoop::unmap_code() {
  ::munmap(code_.data(), code_.size_bytes());
}

void MarkerLoop::run() {
  thread_id_ = ::gettid();
  if (const int reason = bind_to_cpus(0, {cpu_}); reason != 0) {
    failure_ = reason;
    return;
  }
  const auto function = reinterpret_cast<void (*)(uint64_t)>(code_.data());
  while (!stop_.load(std::memory_order_relaxed)) {
    function(kPassesOfRound);
    rounds_.fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace htmtrace
