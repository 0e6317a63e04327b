// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/symbol_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/error.h"
#include "output/input_file.h"

namespace htmtrace {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostBytes = 256 << 20;  // of one process's maps

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// Empty when there is no such file (any more), or it may not be read.
std::string content_of(const fs::path& path) {
  try {
    const std::vector<std::byte> bytes = InputFile::open(path).read_all(kMostBytes);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  } catch (const Error&) {
    return {};
  }
}

// proc(5), /proc/pid/stat: the command is in parentheses and may hold anything; field 22 is the
// 20th behind it.
std::string start_of(const std::string& stat) {
  const size_t end = stat.rfind(')');
  if (end == std::string::npos) return "0";
  std::string_view rest = std::string_view(stat).substr(end + 1);
  for (int field = 2; field < 22; field++) {
    const size_t space = rest.find(' ');
    if (space == std::string_view::npos) return "0";
    rest.remove_prefix(space + 1);
  }
  return std::string(rest.substr(0, rest.find(' ')));
}

std::string one_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  std::ranges::replace(text, '\n', '?');
  return text;
}

}  // namespace

bool save_kallsyms(const fs::path& proc, TraceSink& sink) {
  InputFile file = InputFile::open(proc / "kallsyms");
  std::vector<std::byte> piece(InputFile::kPieceBytes);
  bool shown = false;
  bool line_begins = true;
  while (const size_t got = file.read(piece)) {
    const auto bytes = std::span(piece).first(got);
    for (const std::byte byte : bytes) {
      const auto letter = static_cast<char>(byte);
      const bool digit = (letter >= '1' && letter <= '9') || (letter >= 'a' && letter <= 'f');
      if (line_begins && digit) shown = true;
      if (letter != '0') line_begins = letter == '\n';
    }
    sink.append(bytes);
  }
  return shown;
}

uint64_t save_maps(const fs::path& proc, const std::string& when, TraceSink& sink) {
  sink.append(bytes_of(fmt::format("# maps of all processes when {}\n", when)));
  std::error_code failure;
  uint64_t count = 0;
  for (fs::directory_iterator entry(proc, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    const std::string pid = entry->path().filename().string();
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string maps = content_of(entry->path() / "maps");
    if (maps.empty()) continue;  // of the kernel, gone, or not ours to look at
    sink.append(
        bytes_of(fmt::format("# pid {} {} {}\n", pid, start_of(content_of(entry->path() / "stat")),
                             one_line(content_of(entry->path() / "comm")))));
    sink.append(bytes_of(maps));
    count++;
  }
  if (failure) throw Error("cannot read " + proc.string(), failure.value());
  return count;
}

SymbolFiles::SymbolFiles(const fs::path& folder, Existing existing)
    : kallsyms_(TraceSink::create(folder / kKallsymsName, existing)),
      maps_(TraceSink::create(folder / kMapsName, existing)) {}

bool SymbolFiles::finish() {
  const bool shown = save_kallsyms("/proc", kallsyms_);
  for (TraceSink* sink : {&kallsyms_, &maps_}) {
    sink->finish();
    if (sink->error()) throw Error("cannot write " + sink->path().string(), *sink->error());
  }
  return shown;
}

void SymbolFiles::discard() {
  kallsyms_.discard();
  maps_.discard();
}

}  // namespace htmtrace
