// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/recording/symbol_files.h"

#include <fmt/core.h>

#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "output/recording/file_names.h"
#include "output/symbols/proc_text.h"

namespace htmtrace {
namespace {

namespace fs = std::filesystem;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

}  // namespace

bool save_kallsyms(InputFile& kallsyms, TraceSink& sink) {
  std::vector<std::byte> piece(InputFile::kPieceBytes);
  bool shown = false;
  bool line_begins = true;
  while (const size_t got = kallsyms.read(piece)) {
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
    const std::string maps = proc_text(entry->path() / "maps");
    if (maps.empty()) continue;  // a kernel thread, an ended process, or access is denied
    const std::string start = stat_field(proc_text(entry->path() / "stat"), kStatStart);
    sink.append(bytes_of(
        fmt::format("# pid {} {} {}\n", pid, start, one_line(proc_text(entry->path() / "comm")))));
    sink.append(bytes_of(maps));
    count++;
  }
  if (failure) throw Error("cannot read " + proc.string(), failure.value());
  return count;
}

SymbolFiles::SymbolFiles(const fs::path& folder, Existing existing, Parts parts) {
  const auto create = [&](bool wanted, const char* name, std::optional<TraceSink>& sink) {
    if (wanted) sink.emplace(TraceSink::create(folder / name, existing));
  };
  create(parts.kallsyms, kKallsymsName, kallsyms_);
  create(parts.maps, kMapsName, maps_);
  create(parts.pages, kPagesName, pages_);
}

template <class Use>
void SymbolFiles::each(const Use& use) {
  for (std::optional<TraceSink>* sink : {&kallsyms_, &maps_, &pages_}) {
    if (*sink) use(**sink);
  }
}

void SymbolFiles::begin() {
  each([](TraceSink& sink) { sink.begin(); });
}

void SymbolFiles::add_to_maps(std::string_view text) {
  maps_->append(std::as_bytes(std::span(text)));
}

void SymbolFiles::add_pages(int own_pagemap, ProcessPages& pages) {
  if (!pages.write(own_pagemap, *pages_)) pages_->discard();
}

bool SymbolFiles::add_kallsyms(InputFile& kallsyms) {
  const bool shown = save_kallsyms(kallsyms, *kallsyms_);
  if (!shown) kallsyms_->discard();
  return shown;
}

void SymbolFiles::finish() {
  each([](TraceSink& sink) {
    sink.finish();
    if (sink.error()) throw Error("cannot write " + sink.path().string(), *sink.error());
  });
}

void SymbolFiles::discard() {
  each([](TraceSink& sink) { sink.discard(); });
}

}  // namespace htmtrace
