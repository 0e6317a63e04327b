// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/locate/location_memory.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/capture/private_folder.h"
#include "cli/locate/location_stamp.h"
#include "core/base/crc32c.h"
#include "core/base/error.h"
#include "output/recording/host_facts.h"

namespace htmtrace {
namespace {

constexpr const char* kCoresFile = "cores";
constexpr const char* kCannotRemember = "cannot remember the cores";

std::string whole_text(const Fd& file) {
  std::string text;
  std::array<char, 4096> piece{};
  ssize_t got = 0;
  while ((got = ::read(file.get(), piece.data(), piece.size())) > 0) {
    text.append(piece.data(), static_cast<size_t>(got));
  }
  return text;
}

std::string checksum_of(std::string_view text) {
  return fmt::format("{:08x}", crc32c(std::as_bytes(std::span(text))));
}

// "CPU NODE CHIP CORE STAMP CHECKSUM"; the checksum is that of the text preceding its space.
std::string line_of(int cpu, const StampedCore& known) {
  const TraceTarget& core = known.core;
  const std::string text =
      fmt::format("{} {} {} {} {}", cpu, core.node, core.chip, core.core, known.stamp);
  return fmt::format("{} {}\n", text, checksum_of(text));
}

std::optional<std::pair<int, StampedCore>> parse_line(const std::string& line) {
  const size_t end = line.rfind(' ');
  if (end == std::string::npos || line.substr(end + 1) != checksum_of(line.substr(0, end)))
    return std::nullopt;
  std::istringstream fields(line);
  fields.exceptions(std::ios::badbit);  // out of memory
  int cpu = 0;
  StampedCore known;
  fields >> cpu >> known.core.node >> known.core.chip >> known.core.core >> known.stamp;
  if (!fields) return std::nullopt;
  return std::pair(cpu, std::move(known));
}

}  // namespace

bool is_current(const std::string& stamp, int cpu, const std::filesystem::path& root) {
  try {
    return stamp == location_stamp(cpu, root);
  } catch (const Error&) {
    return false;
  }
}

StampedCores LocationMemory::read() const {
  StampedCores cores;
  const Fd file(::openat(folder_.get(), kCoresFile, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file) return cores;
  std::istringstream lines(whole_text(file));
  lines.exceptions(std::ios::badbit);  // out of memory
  for (std::string line; std::getline(lines, line);) {
    auto known = parse_line(line);
    if (known && is_current(known->second.stamp, known->first, root_)) cores.insert(*known);
  }
  return cores;
}

// The rename replaces the whole file at once, so other processes never read a part of it.
void LocationMemory::add(const StampedCores& cores) const {
  StampedCores all = read();
  for (const auto& [cpu, known] : cores) all[cpu] = known;
  std::string text;
  for (const auto& [cpu, known] : all) text += line_of(cpu, known);
  const std::string draft = fmt::format("{}.{}", kCoresFile, ::getpid());
  ::unlinkat(folder_.get(), draft.c_str(), 0);
  const int how = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const Fd file(::openat(folder_.get(), draft.c_str(), how, S_IRUSR | S_IWUSR));
  if (!file) throw Error(kCannotRemember, errno);
  const ssize_t written = ::write(file.get(), text.data(), text.size());
  const bool complete = written == static_cast<ssize_t>(text.size());
  if (complete && ::renameat(folder_.get(), draft.c_str(), folder_.get(), kCoresFile) == 0) return;
  const int reason = written < 0 || complete ? errno : ENOSPC;
  ::unlinkat(folder_.get(), draft.c_str(), 0);
  throw Error(kCannotRemember, reason);
}

StampedCores remembered_cores() {
  if (read_host_facts().shares_processors) return {};
  std::vector<Fd> folders = open_private_folders();
  if (folders.empty()) return {};
  return LocationMemory(std::move(folders.front())).read();
}

void remember_cores(const StampedCores& cores) {
  if (read_host_facts().shares_processors) return;
  LocationMemory(make_private_folder(kCannotRemember)).add(cores);
}

}  // namespace htmtrace
