// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/io/machine_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <sstream>
#include <system_error>
#include <utility>

#include "core/base/fd.h"

namespace htmtrace {

namespace fs = std::filesystem;

MachineFile read_machine_file(const fs::path& path) {
  constexpr size_t kPieceBytes = 64 << 10;
  MachineFile read;
  // O_NONBLOCK: the open of a FIFO would wait for a writer.
  const Fd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat facts {};
  if (!file || ::fstat(file.get(), &facts) != 0) {
    read.reason = errno;
    return read;
  }
  if (!S_ISREG(facts.st_mode)) {
    read.reason = EINVAL;
    return read;
  }
  size_t size = 0;
  while (size < MachineFile::kMostBytes) {
    read.text.resize(size + kPieceBytes);
    const ssize_t got = ::read(file.get(), read.text.data() + size, kPieceBytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) read.reason = errno;
    if (got <= 0) break;
    size += static_cast<size_t>(got);
  }
  read.text.resize(size);
  return read;
}

std::optional<std::string> text_of(const fs::path& path) {
  MachineFile file = read_machine_file(path);
  if (file.reason != 0) return std::nullopt;
  while (file.text.ends_with('\n') || file.text.ends_with('\0')) file.text.pop_back();
  return std::move(file.text);
}

std::optional<int64_t> number_in(const fs::path& path) {
  const auto text = text_of(path);
  if (!text) return std::nullopt;
  const char* const end = text->data() + text->size();
  int64_t value = 0;
  const auto [rest, failure] = std::from_chars(text->data(), end, value);
  if (failure != std::errc() || rest != end) return std::nullopt;
  return value;
}

std::string value_of(const fs::path& path, std::string_view key, char separator) {
  return value_in(text_of(path).value_or(""), key, separator);
}

std::string value_in(const std::string& text, std::string_view key, char separator) {
  constexpr const char* kSpace = " \t";
  std::istringstream lines(text);
  lines.exceptions(std::ios::badbit);  // out of memory
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    const size_t at = line.find_first_not_of(kSpace, key.size());
    if (at == std::string::npos || line[at] != separator) continue;
    const size_t start = line.find_first_not_of(kSpace, at + 1);
    return start == std::string::npos ? std::string() : line.substr(start);
  }
  return {};
}

std::optional<uint32_t> cell_in(const fs::path& path) {
  const MachineFile file = read_machine_file(path);
  if (file.reason != 0 || file.text.size() < sizeof(uint32_t)) return std::nullopt;
  uint32_t value = 0;
  for (const char byte : file.text.substr(0, sizeof(uint32_t))) {
    value = value << 8 | static_cast<unsigned char>(byte);
  }
  return value;
}

}  // namespace htmtrace
