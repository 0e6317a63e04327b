// SPDX-License-Identifier: GPL-2.0-or-later
#include "pmu/htm_info.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace htmtrace {
namespace {

// A memory map of 32 TiB takes 4 MiB. The limit protects against an endless list.
constexpr size_t kMostBytes = 64 << 20;
// The maximum size of a block.
constexpr size_t kPieceBytes = 64 << 10;

}  // namespace

HtmAnswer read_htm_answer(const std::filesystem::path& file) {
  HtmAnswer answer;
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    answer.error_number = errno;
    return answer;
  }
  std::vector<std::byte> piece(kPieceBytes);
  while (answer.bytes.size() < kMostBytes) {
    const ssize_t got = ::read(fd, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) answer.error_number = errno;
    if (got <= 0) break;
    answer.bytes.insert(answer.bytes.end(), piece.begin(), piece.begin() + got);
  }
  ::close(fd);
  return answer;
}

std::string status_file(HtmType type) {
  return std::string("status_") + htm_type_name(type);
}

size_t status_entry_bytes(HtmType type) {
  return type == HtmType::kCore ? kCoreStatusEntryBytes : kOtherStatusEntryBytes;
}

bool is_own_driver(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder / "capabilities", ignored);
}

}  // namespace htmtrace
