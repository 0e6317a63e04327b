// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/dispatch_log/task_names.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace htmtrace {
namespace {

// Removes a number and the following blank from the start of a line.
bool take_number(std::string_view& line, uint32_t& number) {
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc{} || end == line.data() + line.size() || *end != ' ') return false;
  line.remove_prefix(static_cast<size_t>(end - line.data()) + 1);
  return true;
}

}  // namespace

void DtlTaskNames::set(DtlTask task, std::string_view name) {
  if (!task.known()) return;
  std::string text(name.substr(0, kMostLength));
  std::ranges::replace_if(
      text, [](char each) { return static_cast<unsigned char>(each) < ' ' || each == '\x7f'; },
      '?');
  const auto found = names_.find(task.key());
  if (found == names_.end() ? names_.size() >= kMostNames : found->second == text) return;
  names_[task.key()] = std::move(text);
  fresh_.push_back(task.key());
}

void DtlTaskNames::set_first(DtlTask task, std::string_view name) {
  if (of(task).empty()) set(task, name);
}

void DtlTaskNames::inherit(DtlTask task, DtlTask parent) {
  // A copy is necessary: set() may move the name in memory.
  if (const std::string name(of(parent)); !name.empty()) set(task, name);
}

std::string_view DtlTaskNames::of(DtlTask task) const {
  const auto found = names_.find(task.key());
  return found == names_.end() ? std::string_view() : found->second;
}

void DtlTaskNames::take_all_again() {
  fresh_.clear();
  for (const auto& [key, name] : names_) fresh_.push_back(key);
}

std::string DtlTaskNames::take_new() {
  std::string lines;
  for (const uint64_t key : fresh_) {
    const DtlTask task = DtlTask::of_key(key);
    lines += std::to_string(task.pid) + ' ' + std::to_string(task.tid) + ' ' + names_[key] + '\n';
  }
  fresh_.clear();
  return lines;
}

void DtlTaskNames::set_lines(std::string_view lines) {
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 1, lines.size()));
    DtlTask task;
    if (take_number(line, task.pid) && take_number(line, task.tid)) set(task, line);
  }
}

}  // namespace htmtrace
