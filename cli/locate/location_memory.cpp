// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/locate/location_memory.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "cli/capture/private_folder.h"
#include "cli/locate/location_stamp.h"
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

}  // namespace

CpuCores LocationMemory::read() const {
  CpuCores cores;
  const Fd file(::openat(folder_.get(), kCoresFile, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file) return cores;
  std::istringstream lines(whole_text(file));
  int cpu = 0;
  TraceTarget core;
  std::string stamp;
  while (lines >> cpu >> core.node >> core.chip >> core.core >> stamp) {
    if (stamp == location_stamp(cpu, root_)) cores[cpu] = core;
  }
  return cores;
}

// The rename replaces the whole file at once, so other processes never read a part of it.
void LocationMemory::add(const CpuCores& cores) const {
  CpuCores all = read();
  for (const auto& [cpu, core] : cores) all[cpu] = core;
  std::string text;
  for (const auto& [cpu, core] : all) {
    text += fmt::format("{} {} {} {} {}\n", cpu, core.node, core.chip, core.core,
                        location_stamp(cpu, root_));
  }
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

CpuCores remembered_cores() {
  if (read_host_facts().shares_processors) return {};
  std::vector<Fd> folders = open_private_folders();
  if (folders.empty()) return {};
  return LocationMemory(std::move(folders.front())).read();
}

void remember_cores(const CpuCores& cores) {
  if (read_host_facts().shares_processors) return;
  LocationMemory(make_private_folder(kCannotRemember)).add(cores);
}

}  // namespace htmtrace
