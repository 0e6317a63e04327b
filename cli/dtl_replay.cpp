// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/dtl_replay.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <functional>
#include <map>
#include <string_view>

#include "cli/commands.h"
#include "cli/messages.h"
#include "core/error.h"
#include "output/dtl_perf_data.h"
#include "output/dtl_reader.h"

namespace htmtrace {
namespace {

// The timebase at this time, so that exactly the entries of that time and later are not before it.
uint64_t timebase_at(const DtlClock& clock, uint64_t ns) {
  __extension__ typedef unsigned __int128 Wide;
  constexpr uint64_t kSecond = 1'000'000'000;
  const Wide ticks = (static_cast<Wide>(ns) * clock.ticks_per_second + kSecond - 1) / kSecond;
  const Wide timebase = ticks + clock.boot_timebase;
  return timebase > UINT64_MAX ? UINT64_MAX : static_cast<uint64_t>(timebase);
}

// What is wrong with the file, for people; true when something is.
bool tell(const DtlReader& reader, const std::string& name) {
  if (reader.damaged_bytes() != 0) {
    print_warning(fmt::format("{}: {} bytes are damaged, the first at {}; they were passed by",
                              name, reader.damaged_bytes(), *reader.first_damage()));
  }
  if (!reader.ended()) {
    print_warning(fmt::format(
        "{}: the recording was not ended; at most its last second is missing, and what was lost is "
        "not known",
        name));
  }
  return reader.damaged_bytes() != 0 || !reader.ended();
}

using Take = std::function<bool(int cpu, std::span<const DtlEntry> entries)>;

// Hands out what is wanted, until `take` says that it is enough.
void read_wanted(DtlReader& reader, const DtlReplay& replay, const Take& take) {
  DtlReader::Wanted wanted{.cpus = replay.cpus};
  bool timed = !replay.from_ns && !replay.to_ns;
  while (const auto block = reader.next(wanted)) {
    std::span<const DtlEntry> entries = block->entries;
    if (!timed && reader.clock().ticks_per_second != 0) {
      // The clock is known now; this block was chosen without it.
      timed = true;
      if (replay.from_ns) wanted.from = timebase_at(reader.clock(), *replay.from_ns);
      if (replay.to_ns) wanted.to = timebase_at(reader.clock(), *replay.to_ns + 1) - 1;
      entries = DtlReader::within(entries, wanted);
    }
    if (!entries.empty() && !take(block->cpu, entries)) return;
  }
}

// What the recording says about itself: the value of a line, or nothing.
std::string value_of(const std::string& text, std::string_view name) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    if (line.starts_with(name) && line.size() > name.size() && line[name.size()] == ' ') {
      return std::string(line.substr(name.size() + 1));
    }
    at = end + 1;
  }
  return {};
}

DtlPerfData::About about_of(const DtlReader& reader) {
  DtlPerfData::About about{.event = value_of(reader.start_text(), "event"),
                           .period_ns = 0,
                           .clock = reader.clock(),
                           .kernel = value_of(reader.start_text(), "kernel")};
  if (about.event.empty()) about.event = "all";
  const std::string period = value_of(reader.start_text(), "period_ns");
  std::from_chars(period.data(), period.data() + period.size(), about.period_ns);
  return about;
}

void write_out(TraceSink& file, std::vector<std::byte>& bytes) {
  file.append(bytes);
  bytes.clear();
}

int status_of(const DtlReader& reader, bool incomplete) {
  return incomplete || (reader.ended() && !reader.end_text().starts_with("status 0\n"))
             ? kExitIncomplete
             : kExitDone;
}

}  // namespace

int replay_dtl(const DtlReplay& replay, const DtlOutputOptions& options) {
  DtlReader reader(InputFile::open(replay.input));
  DtlOutput output(options, "");
  std::map<int, DtlOutput::Track> tracks;
  DtlPlaces places;
  uint64_t taken = 0;
  read_wanted(reader, replay, [&](int cpu, std::span<const DtlEntry> entries) {
    output.take(tracks.try_emplace(cpu, cpu).first->second, reader.clock(), entries, places);
    taken += entries.size();
    return !output.useless();
  });
  std::vector<DtlOutput::Track*> all;
  all.reserve(tracks.size());
  for (auto& [cpu, track] : tracks) all.push_back(&track);
  output.finish(all, places, "");
  if (reader.clock().ticks_per_second == 0) {
    print_warning(
        fmt::format("{}: nothing tells the clock, so there are no times", replay.input.string()));
  }
  const bool incomplete = tell(reader, replay.input.string());
  // The recording's own verdict has its status in its first line.
  const std::string& verdict = reader.end_text();
  if (const size_t line = verdict.find('\n'); line != std::string::npos) {
    std::fputs(verdict.c_str() + line + 1, stderr);
  }
  print_note(fmt::format("{} of {} entries", taken, reader.entries()));
  return status_of(reader, incomplete);
}

// The file begins with sizes, so the recording is read twice.
int export_dtl(const DtlReplay& replay, const std::filesystem::path& path, Existing existing) {
  DtlPerfData form;
  DtlReader first(InputFile::open(replay.input));
  read_wanted(first, replay, [&](int cpu, std::span<const DtlEntry> entries) {
    form.announce(cpu, entries);
    return true;
  });
  if (first.clock().ticks_per_second == 0) {
    throw Error("the recording does not tell the clock, without which perf shows nothing")
        .on("file: " + replay.input.string())
        .hint("--format text prints its entries");
  }
  TraceSink file = TraceSink::create(path, existing);
  std::vector<std::byte> bytes;
  form.begin(about_of(first), bytes);
  write_out(file, bytes);
  uint64_t taken = 0;
  DtlReader reader(InputFile::open(replay.input));
  read_wanted(reader, replay, [&](int cpu, std::span<const DtlEntry> entries) {
    form.add(cpu, entries, bytes);
    write_out(file, bytes);
    taken += entries.size();
    return !file.error();
  });
  form.end(bytes);
  write_out(file, bytes);
  file.finish();
  if (file.error()) {
    throw Error("cannot write the file", *file.error()).on("file: " + path.string());
  }
  if (form.strange_reasons() != 0) {
    print_warning(
        fmt::format("{} entries have a reason that perf has no name for and shows wrongly",
                    form.strange_reasons()));
  }
  const bool incomplete = tell(reader, replay.input.string());
  print_note(fmt::format("{} of {} entries to {}, {} bytes", taken, reader.entries(), path.string(),
                         file.written_bytes()));
  return status_of(reader, incomplete);
}

}  // namespace htmtrace
