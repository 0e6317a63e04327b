// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/dispatches/output.h"

#include <fmt/core.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/base/error.h"
#include "core/base/timebase.h"
#include "output/io/input_file.h"
#include "output/io/moment.h"
#include "output/print/dtl_series_text.h"
#include "output/report/dtl_waits_text.h"
#include "output/symbols/kallsyms.h"

namespace htmtrace {
namespace {

using std::chrono::steady_clock;

// A killed recorder loses at most the entries of this time.
constexpr std::chrono::seconds kLongestPending{1};
constexpr std::chrono::seconds kClockEvery{10};
constexpr uint64_t kMostKallsyms = 256 << 20;
// The next file of a recording needs this room on the disk.
constexpr uint64_t kLeastRoomBytes = 1 << 20;
// The limit of all virtual processors together: about 150 MiB.
constexpr int64_t kMostPoints = 1'000'000;

std::string read_text(InputFile file) {
  const auto bytes = file.read_all(kMostKallsyms);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Reads the names of kernel addresses from the user's file. An empty file, such as /dev/null, has
// no names. Throws Error.
SymbolTable read_symbols(const std::filesystem::path& path) {
  SymbolTable table;
  const std::string text = read_text(InputFile::open(path));
  KallsymsReport report;
  try {
    report = add_kallsyms(text, table);
  } catch (const Error& error) {
    throw error.about("cannot use " + path.string());
  }
  if (report.symbols == 0 && !text.empty()) {
    throw Error(path.string() + " has no addresses")
        .hint(report.hidden != 0 ? "copy /proc/kallsyms as root"
                                 : "copy /proc/kallsyms of the machine that made the recording");
  }
  table.finish();
  return table;
}

// Returns the symbols of this machine, or none if it cannot read them.
SymbolTable read_symbols_here(std::optional<InputFile> kallsyms) {
  SymbolTable table;
  if (!kallsyms) return table;
  try {
    add_kallsyms(read_text(std::move(*kallsyms)), table);
  } catch (const Error&) {
    return {};
  }
  table.finish();
  return table;
}

}  // namespace

std::optional<InputFile> open_kallsyms() {
  try {
    return InputFile::open("/proc/kallsyms");
  } catch (const Error&) {
    return std::nullopt;
  }
}

DtlOutput::DtlOutput(const DtlOutputOptions& options, const std::string& about, TextOutput text)
    : options_(options), series_room_(kMostPoints), text_(std::move(text)) {
  // Reports errors of the file before the recording starts.
  if (options_.summary && !options_.kallsyms.empty()) symbols_ = read_symbols(options_.kallsyms);
  if (!options_.file.empty()) {
    file_.emplace(TraceSink::create(options_.file, options_.existing));
    file_->append(make_dtl_text_block(DtlBlockKind::kStart, about));
  } else if (options_.entries()) {
    print_dtl_head(text_, options_.format, options_.tasks);
  }
}

void DtlOutput::take(Track& track, const DtlClock& clock, std::span<const DtlEntry> entries,
                     Sums& sums, const DtlColumns* columns) {
  if (entries.empty()) return;
  if (options_.tasks) find_tasks(track, clock, entries, sums);
  if (options_.summary) {
    if (columns != nullptr) {
      track.analysis_.add(*columns, track.cpu_, clock.ticks_per_second, sums.places);
    } else {
      track.analysis_.add(entries, track.cpu_, clock.ticks_per_second, sums.places);
    }
    if (options_.tasks) sums.waits.add(entries, sums.there);
  }
  if (options_.intervals) series_of(track).add(entries, clock);
  if (file_) {
    note_clock(clock);
    track.ticks_per_second_ = clock.ticks_per_second;
    if (track.pending_.empty()) track.pending_since_ = steady_clock::now();
    while (!entries.empty()) {
      const size_t room = kMostDtlEntries - track.pending_.size();
      const auto now = entries.first(std::min(room, entries.size()));
      track.pending_.insert(track.pending_.end(), now.begin(), now.end());
      entries = entries.subspan(now.size());
      if (track.pending_.size() == kMostDtlEntries) write_pending(track);
    }
  } else if (options_.entries()) {
    const std::lock_guard held(lock_);
    const DtlTaskColumn tasks{.tasks = sums.there, .names = &names_};
    print_dtl_entries(text_, options_.format, track.cpu_, clock, entries,
                      options_.tasks ? &tasks : nullptr);
    note_use();
  } else {
    const std::lock_guard held(lock_);
    clock_ = clock;
  }
}

void DtlOutput::take(Track& track, const DtlClock& clock, const DtlStatistics& statistics,
                     Sums& sums) {
  if (options_.summary) statistics.append_to(track.analysis_, track.cpu_, sums.places);
  if (options_.intervals) series_of(track).add(statistics, clock);
  clock_ = clock;
}

// Later entries need no earlier task, so this function forgets these tasks. With a file,
// write_pending() forgets them after they are written.
void DtlOutput::find_tasks(Track& track, const DtlClock& clock, std::span<const DtlEntry> entries,
                           Sums& sums) {
  sums.there.clear();
  track.tasks_needed_from_ = clock.nanoseconds(entries.back().timebase).value_or(0);
  if (!options_.summary && !options_.entries()) return;
  for (const DtlEntry& entry : entries) {
    const auto ns = clock.nanoseconds(entry.timebase);
    sums.there.push_back(ns ? track.tasks_.at(*ns) : DtlTask{});
  }
  if (!file_) track.tasks_.forget(track.tasks_needed_from_);
}

DtlSeries& DtlOutput::series_of(Track& track) {
  if (!track.series_) track.series_.emplace(*options_.intervals, options_.bits, series_room_);
  return *track.series_;
}

// Writes the clock to the file ahead of the first entries and every 10 s: a block may be damaged,
// and CLOCK_REALTIME may be set.
void DtlOutput::note_clock(const DtlClock& clock) {
  const std::lock_guard held(lock_);
  if (clock.ticks_per_second == 0) return;
  const auto when = steady_clock::now();
  if (clock_.ticks_per_second != 0 && when - clock_told_ < kClockEvery) return;
  clock_ = clock;
  clock_told_ = when;
  const Moment moment = now();
  file_->append(make_dtl_clock_block({.boot_timebase = clock.boot_timebase,
                                      .ticks_per_second = clock.ticks_per_second,
                                      .timebase = timebase_now(),
                                      .monotonic_ns = static_cast<uint64_t>(moment.monotonic_ns),
                                      .realtime_ns = static_cast<uint64_t>(moment.realtime_ns)}));
}

void DtlOutput::write_pending(Track& track, bool last) {
  std::vector<std::byte> blocks, names;
  if (const auto part = track.tasks_.take_new()) {
    add_dtl_switches(static_cast<uint16_t>(track.cpu_), *part, blocks);
    track.tasks_.forget(track.tasks_needed_from_);
  }
  if (!track.pending_.empty()) {
    if (!track.blocks_) {
      track.blocks_ = std::make_unique<DtlCpuBlocks>(static_cast<uint16_t>(track.cpu_));
    }
    track.blocks_->add(track.pending_, track.ticks_per_second_, blocks);
  }
  if (last && track.blocks_) track.blocks_->finish(blocks);
  const size_t entries = track.pending_.size();
  track.pending_.clear();
  const std::lock_guard held(lock_);
  add_dtl_names(names_.take_new(), names);
  file_->append(names);
  file_->append(blocks);
  if (file_->error()) file_lost_entries_ += entries;
  note_use();
}

TraceSink DtlOutput::open_next(const std::filesystem::path& path, const std::string& about) const {
  TraceSink next = TraceSink::create(path, options_.existing);
  try {
    next.reserve(kLeastRoomBytes);
    next.append(make_dtl_text_block(DtlBlockKind::kStart, about));
    if (next.error()) throw Error("cannot write " + path.string(), *next.error());
  } catch (...) {
    next.discard();
    throw;
  }
  return next;
}

TraceSink DtlOutput::continue_in(TraceSink next, std::span<Track* const> tracks,
                                 const DtlEnd& end) {
  for (Track* track : tracks) {
    write_pending(*track, true);
    track->blocks_.reset();
  }
  const std::lock_guard held(lock_);
  file_->append(make_dtl_end_block(end));
  file_->end();
  TraceSink old = std::move(*file_);
  file_.emplace(std::move(next));
  note_loss(old, std::exchange(file_lost_entries_, 0));
  clock_told_ = {};  // each file has the clock and all names
  names_.take_all_again();
  return old;
}

// Without the lock, because it waits for the disk. The other threads only append to the file.
void DtlOutput::begin_next() {
  const int reason = file_->try_begin();
  if (reason == 0) return;
  // For example, another program has just created a file with this name. DtlCapture::rotate() then
  // begins a further file.
  const std::lock_guard held(lock_);
  file_->fail(reason);
}

void DtlOutput::close(TraceSink file) {
  const bool failed = file.error().has_value();
  file.finish();
  const std::lock_guard held(lock_);
  if (!failed) note_loss(file, 0);
}

// Call it with the lock held. If no write failed, the disk failed later, and an unknown part of the
// file is on the disk.
void DtlOutput::note_loss(const TraceSink& file, uint64_t lost_entries) {
  if (!file.error()) return;
  file_losses_.push_back({file.path().string(), file.cause(),
                          lost_entries != 0 ? LossUnit::kEntries : LossUnit::kUnknown,
                          lost_entries});
}

uint64_t DtlOutput::file_bytes() const {
  const std::lock_guard held(lock_);
  return file_->written_bytes();
}

bool DtlOutput::file_failed() const {
  const std::lock_guard held(lock_);
  return file_->error().has_value();
}

void DtlOutput::flush(std::span<Track* const> tracks) {
  const auto old = steady_clock::now() - kLongestPending;
  for (Track* track : tracks) {
    if (!file_) continue;
    const bool waited = !track->pending_.empty() && track->pending_since_ < old;
    if (waited || track->tasks_.fresh() >= kMostDtlEntries) write_pending(*track);
  }
  const std::lock_guard held(lock_);
  text_.flush();
  note_use();
}

void DtlOutput::show(std::string_view text) {
  const std::lock_guard held(lock_);
  text_.put_large(text);
  text_.flush();
  note_use();
}

// Call it with the lock held.
void DtlOutput::note_use() {
  if (text_.reader_gone() || (file_ && file_->error() && !options_.rotates)) useless_ = true;
}

void DtlOutput::allow_to_give_up(std::chrono::milliseconds patience) {
  give_up_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!give_up_) throw Error("cannot make an eventfd", errno);
  text_.give_up_on(give_up_.get(), patience);
}

void DtlOutput::give_up() {
  if (give_up_) ::eventfd_write(give_up_.get(), 1);
}

void DtlOutput::finish(std::span<Track* const> tracks, const Sums& sums, const DtlEnd& end) {
  if (file_) {
    for (Track* track : tracks) write_pending(*track, true);
    file_->append(make_dtl_end_block(end));
    file_->finish();
    const std::lock_guard held(lock_);
    note_loss(*file_, file_lost_entries_);
  }
  if (options_.summary) print_summary(tracks, sums);
  if (options_.summary && options_.intervals) text_.put("\n");
  if (options_.intervals) print_series(tracks);
  text_.finish();
}

std::vector<Loss> DtlOutput::losses(std::span<Track* const> tracks) const {
  std::vector<Loss> losses = file_losses_;
  if (text_.unwritten_bytes() != 0) {
    losses.push_back({"standard output", "its reader was stalled at the end of the recording",
                      LossUnit::kBytes, text_.unwritten_bytes()});
  }
  uint64_t left_out = 0;
  for (const Track* track : tracks) left_out += track->series_ ? track->series_->left_out() : 0;
  if (left_out != 0) {
    losses.push_back({"the series",
                      fmt::format("it reached the limit of {} intervals; choose a longer "
                                  "--interval, or a part of the recording",
                                  kMostPoints),
                      LossUnit::kEntries, left_out});
  }
  return losses;
}

void DtlOutput::print_series(std::span<Track* const> tracks) {
  DtlSeriesText series{.clock = clock_,
                       .intervals = *options_.intervals,
                       .distances = options_.bits.has_value(),
                       .cpus = {}};
  for (const Track* track : tracks) {
    if (track->series_) series.cpus.emplace_back(track->cpu_, &*track->series_);
  }
  std::ranges::sort(series.cpus);
  series.print(text_, options_.format);
}

void DtlOutput::print_summary(std::span<Track* const> tracks, const Sums& sums) {
  const DtlTaskTable tasks{
      .clock = clock_, .waits = &sums.waits, .names = &names_, .top = options_.top};
  std::vector<std::pair<int, const DtlAnalysis*>> cpus;
  for (const Track* track : tracks) cpus.emplace_back(track->cpu_, &track->analysis_);
  std::ranges::sort(cpus);
  // Formats for programs have one table.
  if (options_.format != DtlFormat::kText) {
    const DtlWaitTables waits{.clock = clock_, .cpus = cpus};
    return text_.put(options_.tasks ? tasks.to_text(options_.format)
                                    : waits.for_programs(options_.format));
  }
  if (!foreign_ && options_.kallsyms.empty()) {
    symbols_ = read_symbols_here(kallsyms_ ? std::move(kallsyms_) : open_kallsyms());
  }
  DtlSummary summary;
  summary.clock = clock_;
  summary.cpus = std::move(cpus);
  summary.places = &sums.places;
  summary.distances = options_.bits.has_value();
  summary.symbols = &symbols_;
  summary.top = options_.top;
  text_.put(summary.to_text());
  if (options_.tasks) text_.put(tasks.to_text(DtlFormat::kText));
}

}  // namespace htmtrace
