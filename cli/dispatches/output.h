// SPDX-License-Identifier: GPL-2.0-or-later
// The destinations of the entries of a dispatch trace log: lines on standard output, a file, or an
// analysis. Recording and replay share this class.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/analysis/symbol_table.h"
#include "core/base/fd.h"
#include "core/dispatch_log/analysis.h"
#include "core/dispatch_log/blocks.h"
#include "core/dispatch_log/columns.h"
#include "core/dispatch_log/entry.h"
#include "core/dispatch_log/series.h"
#include "core/dispatch_log/task_names.h"
#include "core/dispatch_log/task_waits.h"
#include "core/dispatch_log/tasks.h"
#include "output/io/input_file.h"
#include "output/io/text_output.h"
#include "output/io/trace_sink.h"
#include "output/print/dtl_text.h"
#include "output/recording/ledger.h"
#include "output/report/dtl_summary.h"

namespace htmtrace {

struct DtlOutputOptions {
  DtlFormat format = DtlFormat::kText;
  bool summary = false;                   // an analysis instead of entries
  std::optional<DtlIntervals> intervals;  // a series over time instead of entries
  bool silent = false;                    // none of these
  bool tasks = false;                     // add the tasks to the output
  std::filesystem::path file;             // empty: no file
  bool rotates = false;                   // after an error of the file, wait for the next file
  Existing existing = Existing::kRefuse;
  std::optional<ProcessorBits> bits;
  std::filesystem::path kallsyms;  // empty: this machine's, for entries of this machine
  size_t top = 10;

  bool entries() const { return !summary && !intervals && !silent && file.empty(); }
};

// Returns nothing if this machine does not show the names of its kernel.
std::optional<InputFile> open_kallsyms();

class DtlOutput {
 public:
  // The state of one virtual processor. Only one thread at a time may pass its entries.
  class Track {
   public:
    explicit Track(int cpu) : cpu_(cpu) {}
    // The tasks of this virtual processor. Before take(), they must reach at least to the last
    // entry.
    DtlTaskTrack& tasks() { return tasks_; }

   private:
    friend class DtlOutput;
    int cpu_;
    DtlAnalysis analysis_;
    std::optional<DtlSeries> series_;
    std::vector<DtlEntry> pending_;         // not yet in the file
    std::unique_ptr<DtlCpuBlocks> blocks_;  // of the file
    uint64_t ticks_per_second_ = 0;
    std::chrono::steady_clock::time_point pending_since_;
    DtlTaskTrack tasks_;
    uint64_t tasks_needed_from_ = 0;  // time of the last entry
  };

  // The sums of one thread over its virtual processors.
  struct Sums {
    DtlPlaces places;
    DtlTaskWaits waits;
    std::vector<DtlTask> there;  // the task of each entry that take() processes

    explicit Sums(const DtlOutputOptions& options) : places(options.bits) {}
    void add(const Sums& other) {
      places.add(other.places);
      waits.add(other.waits);
    }
  };

  // Creates the file, which begins with `about`. Text goes to `text`. Throws Error.
  DtlOutput(const DtlOutputOptions& options, const std::string& about,
            TextOutput text = TextOutput::standard_output());

  // Several threads may call this for different tracks. `sums` belong to the calling thread.
  // `columns` holds the same entries, or is null. Throws Error if standard output cannot be
  // written.
  void take(Track& track, const DtlClock& clock, std::span<const DtlEntry> entries, Sums& sums,
            const DtlColumns* columns = nullptr);
  // Consumes statistics in place of entries, for the summary and the series.
  void take(Track& track, const DtlClock& clock, const DtlStatistics& statistics, Sums& sums);
  // Names of tasks: calls visit(DtlTaskNames&).
  template <class Visit>
  void with_names(Visit visit) {
    const std::lock_guard held(lock_);
    visit(names_);
  }
  // Writes the buffered text to standard output, and entries that are older than a second to the
  // file.
  void flush(std::span<Track* const> tracks);

  // The entries are of another machine or kernel, whose addresses have other names.
  void set_foreign() { foreign_ = true; }

  // A recording has begun: its file appears. Throws Error.
  void begin() {
    if (file_) file_->begin();
  }
  // Opens the next file of a recording in several files. The file begins with `about`. Throws
  // Error, also if the disk has no room.
  TraceSink open_next(const std::filesystem::path& path, const std::string& about) const;
  // Ends the file with `end`, and continues in `next`. No thread may pass entries during the call.
  // Returns the old file. The caller then calls begin_next(), and passes the old file to close().
  // Both can wait for the disk.
  TraceSink continue_in(TraceSink next, std::span<Track* const> tracks, const DtlEnd& end);
  // Makes the next file appear. The old file then has its end, so the user may move or remove all
  // files except the newest.
  void begin_next();
  void close(TraceSink file);
  // The size of the current file so far, and whether it could not be written.
  uint64_t file_bytes() const;
  bool file_failed() const;
  // A recording has not begun: an old file stays.
  void discard() {
    if (file_) file_->discard();
  }

  // Names of kernel addresses for the summary, from a /proc/kallsyms that was opened earlier.
  // Without this call, the summary opens the file.
  void set_kallsyms(InputFile kallsyms) { kallsyms_.emplace(std::move(kallsyms)); }

  // Prints a text instead of entries.
  void show(std::string_view text);

  // True if the reader of standard output has gone, or the file cannot be written: the recording
  // should end. Never waits.
  bool useless() const { return useless_; }

  // By default, a thread waits without a limit for the reader of standard output. If this was
  // called, give_up() limits each later wait to `patience`, and losses() includes the unwritten
  // bytes.
  void allow_to_give_up(std::chrono::milliseconds patience);
  void give_up();
  // How long a thread has been waiting for the reader. This call never waits.
  std::chrono::nanoseconds waiting() const { return text_.waiting(); }

  // Writes all remaining output. The file ends with `end`. Throws Error.
  void finish(std::span<Track* const> tracks, const Sums& sums, const DtlEnd& end);
  // Returns the entries that the file or the series could not hold.
  std::vector<Loss> losses(std::span<Track* const> tracks) const;

 private:
  void note_use();
  void write_pending(Track& track, bool last = false);
  void note_loss(const TraceSink& file, uint64_t lost_entries);
  void note_clock(const DtlClock& clock);
  DtlSeries& series_of(Track& track);
  void print_series(std::span<Track* const> tracks);
  void print_summary(std::span<Track* const> tracks, const Sums& sums);
  void find_tasks(Track& track, const DtlClock& clock, std::span<const DtlEntry> entries,
                  Sums& sums);

  DtlOutputOptions options_;
  bool foreign_ = false;
  std::atomic<bool> useless_ = false;
  Fd give_up_;  // an eventfd
  SymbolTable symbols_;
  std::optional<InputFile> kallsyms_;
  std::atomic<int64_t> series_room_;
  mutable std::mutex lock_;  // protects the following members
  TextOutput text_;
  std::optional<TraceSink> file_;
  uint64_t file_lost_entries_ = 0;  // entries that the current file could not hold
  std::vector<Loss> file_losses_;
  DtlTaskNames names_;
  DtlClock clock_;
  std::chrono::steady_clock::time_point clock_told_;  // when the file last got the clock
};

}  // namespace htmtrace
