// SPDX-License-Identifier: GPL-2.0-or-later
#include "ringbuf/vpa_counters.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <cstddef>

#include "core/base/big_endian.h"

namespace htmtrace {
namespace {

// struct lppaca of the kernel (arch/powerpc/include/asm/lppaca.h): yield_count and dtl_idx.
constexpr size_t kDispatchCountOffset = 256;
constexpr size_t kLogIndexOffset = 536;

}  // namespace

VpaArea::VpaArea(const std::filesystem::path& root, int cpu)
    : file_(::open((root / fmt::format("cpu-{}", cpu)).c_str(), O_RDONLY | O_CLOEXEC)) {}

std::optional<VpaCounters> VpaArea::read() const {
  std::array<std::byte, kLogIndexOffset + sizeof(uint64_t) - kDispatchCountOffset> bytes{};
  const ssize_t got = ::pread(file_.get(), bytes.data(), bytes.size(), kDispatchCountOffset);
  if (got != static_cast<ssize_t>(bytes.size())) return std::nullopt;
  return VpaCounters{.dispatch_count = load_be32(bytes.data()),
                     .log_index = load_be64(bytes.data() + kLogIndexOffset - kDispatchCountOffset)};
}

}  // namespace htmtrace
