// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/dispatches/import.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "cli/dispatches/report.h"
#include "core/base/budget.h"
#include "core/base/error.h"
#include "core/dispatch_log/blocks.h"
#include "core/dispatch_log/slots.h"
#include "core/perf_data/dispatches.h"
#include "output/io/input_file.h"

namespace htmtrace {
namespace {

namespace fs = std::filesystem;

// The size of the pieces in which AUX data is read: whole slots.
constexpr uint64_t kPieceBytes = 16384 * kDtlEntryBytes;
// No AUX area is larger, so a larger size means a damaged file.
constexpr uint64_t kMostArea = uint64_t{4} << 30;

ReadAt reader_of(const InputFile& file) {
  return [&file](uint64_t offset, std::span<std::byte> buffer) {
    return file.read_at(offset, buffer);
  };
}

// Returns no bytes unless the file is regular: a pipe delivers each byte only once.
std::vector<std::byte> first_bytes_of(const fs::path& path) {
  const fs::file_type type = type_of_file(path);
  if (type != fs::file_type::not_found && type != fs::file_type::regular) return {};
  return InputFile::open(path).read_begin(kPerfDataMagicBytes);
}

bool is_of_perf(std::span<const std::byte> first_bytes) {
  return first_bytes.size() >= kPerfDataMagicBytes && is_perf_data(first_bytes);
}

class Import {
 public:
  Import(const InputFile& file, ScratchFile& recording)
      : file_(file),
        content_(find_dispatches(*file.size_bytes(), reader_of(file))),
        recording_(recording) {}

  void run() {
    write_start();
    MemoryBudget budget(*file_.size_bytes());
    for (const auto& [number, cpu] : content_.cpus) {
      budget.take(sizeof(Cpu));
      cpus_[number] = std::make_unique<Cpu>(*this, number);
    }
    for (const DtlPerfChunk& chunk : content_.chunks) take(*cpus_.at(chunk.cpu), chunk);
    for (auto& [number, cpu] : cpus_) {
      write_pending(*cpu);
      cpu->blocks.finish(blocks_);
    }
    recording_.append(blocks_);
    recording_.append(make_dtl_end_block(end()));
  }

 private:
  struct Cpu {
    Cpu(Import& import, int cpu_number)
        : number(cpu_number),
          blocks(static_cast<uint16_t>(cpu_number)),
          slots(import.content_.area_bytes,
                {.entries = [this, &import](auto entries) { import.take_entries(*this, entries); },
                 .loss =
                     [this](const Loss& loss) {
                       Loss here = loss;
                       here.place = fmt::format("CPU {}, {}", number, loss.place);
                       ledger.add(here);
                     }},
                import.content_.big_endian ? std::endian::big : std::endian::little) {}

    int number;
    DtlCpuBlocks blocks;
    DtlSlots slots;
    std::vector<DtlEntry> pending;
    DtlReasons reasons;
    Ledger ledger;
    uint64_t reader_at = 0;  // position up to which perf had read ahead of the last piece
    DtlSwitch told{};        // end of the written switches: the time, and the task at this time
    size_t switches = 0;     // number of switches already written
  };

  void write_start() {
    std::string text = fmt::format("perf.data\nevent {}\nperiod_ns {}\nkernel {}\nmachine {}\ncpus",
                                   content_.event, content_.period_ns, content_.kernel, "");
    for (const auto& [number, cpu] : content_.cpus) text += fmt::format(" {}", number);
    text += content_.switches.empty() ? "\n" : "\ntasks switches\n";
    recording_.append(make_dtl_text_block(DtlBlockKind::kStart, text));
    add_dtl_names(content_.names.take_new(), blocks_);
  }

  // Takes a chunk of the AUX area. perf reads the area in order, so the driver overwrote the bytes
  // that precede the chunk and follow the last chunk.
  void take(Cpu& cpu, const DtlPerfChunk& chunk) {
    DtlSlots& slots = cpu.slots;
    const uint64_t there = slots.position();
    const uint64_t end = chunk.position + chunk.at.size_bytes;
    if (end <= there || chunk.position < there) {
      cpu.ledger.add({fmt::format("CPU {}", cpu.number), "AUX data repeats an earlier position",
                      LossUnit::kBytes, std::min(end, there) - chunk.position});
    }
    if (end <= there) return;
    if (chunk.position > there && chunk.position - there > most_gone()) {
      cpu.ledger.add({fmt::format("CPU {}", cpu.number), "AUX data has an impossible position",
                      LossUnit::kBytes, chunk.at.size_bytes});
      return;
    }
    cpu.reader_at = there;
    uint64_t begin = std::max(chunk.position, there);
    if (begin > there) {
      const uint64_t gone = slots.gone_with(begin - there, end - there);
      slots.totals().overruns.note(cpu.slots.totals().last_ns);
      slots.totals().overrun_entries += gone / kDtlEntryBytes + 1;
      slots.skip(gone);
      begin = there + gone;
    }
    while (begin < end) begin += take_piece(cpu, chunk, begin, end);
  }

  // An upper bound of the missing bytes ahead of a chunk: damage can hide at most the size of the
  // file, and the driver can be ahead of perf by at most one area.
  uint64_t most_gone() const {
    const uint64_t area =
        content_.area_bytes == DtlSlots::kUnending ? 0 : std::min(content_.area_bytes, kMostArea);
    return *file_.size_bytes() + area;
  }

  // Takes bytes from `begin` on, up to the end of a slot. Returns their number.
  uint64_t take_piece(Cpu& cpu, const DtlPerfChunk& chunk, uint64_t begin, uint64_t end) {
    uint64_t length = std::min(end - begin, kPieceBytes);
    const uint64_t slots = dtl_slot_bytes(content_.area_bytes);
    const uint64_t place = begin & (content_.area_bytes - 1);
    if (place < slots && place + length > slots) length = slots - place;
    room_.resize(length);
    if (file_.read_at(chunk.at.offset + (begin - chunk.position), room_) != length) {
      throw Error("the file became shorter while it was read");
    }
    cpu.slots.take(room_);
    return length;
  }

  void take_entries(Cpu& cpu, std::span<const std::byte> entries) {
    if (!clock_told_) {
      const DtlClock clock = cpu.slots.clock();
      clock_told_ = clock.ticks_per_second != 0;
      if (clock_told_) {
        clock_ = clock;
        recording_.append(make_dtl_clock_block(
            {.boot_timebase = clock.boot_timebase, .ticks_per_second = clock.ticks_per_second}));
      }
    }
    for (size_t at = 0; at < entries.size(); at += kDtlEntryBytes) {
      const DtlEntry entry = load_dtl_entry(entries.data() + at);
      cpu.reasons.dispatch[entry.dispatch_reason]++;
      cpu.reasons.preempt[entry.preempt_reason]++;
      cpu.pending.push_back(entry);
      if (cpu.pending.size() == kMostDtlEntries) write_pending(cpu);
    }
    const uint64_t last = dtl_timebase(entries.last(kDtlEntryBytes).data());
    first_ = std::min(first_, dtl_timebase(entries.data()));
    last_ = std::max(last_, last);
    const uint64_t now_ns = clock_.nanoseconds(last).value_or(0);
    cpu.slots.set_time(now_ns);
    cpu.slots.totals().last_ns = now_ns;
  }

  void write_pending(Cpu& cpu) {
    if (cpu.pending.empty()) return;
    write_switches(cpu, clock_.nanoseconds(cpu.pending.back().timebase).value_or(0));
    cpu.blocks.add(cpu.pending, cpu.slots.clock().ticks_per_second, blocks_);
    cpu.pending.clear();
    recording_.append(blocks_);
    blocks_.clear();
  }

  // Writes the switches up to `until_ns`, the time of the last entry of the next block.
  void write_switches(Cpu& cpu, uint64_t until_ns) {
    const auto found = content_.switches.find(cpu.number);
    if (found == content_.switches.end()) return;
    DtlSwitches part{.switches = {cpu.told}, .until_ns = std::max(until_ns, cpu.told.ns)};
    const std::vector<DtlSwitch>& all = found->second;
    for (; cpu.switches < all.size() && all[cpu.switches].ns <= part.until_ns; cpu.switches++) {
      part.switches.push_back(all[cpu.switches]);
    }
    cpu.told = {part.until_ns, part.switches.back().task};
    add_dtl_switches(static_cast<uint16_t>(cpu.number), part, blocks_);
  }

  DtlEnd end() const {
    DtlReport report;
    report.event = content_.event;
    report.period_ns = content_.period_ns;
    report.unprovable = fmt::format(
        "perf does not record the hypervisor's index of the log, and does not wait for the "
        "driver's "
        "last read: the entries of up to {} us at the end of each CPU are missing",
        content_.period_ns / 1000);
    if (first_ <= last_) {
      report.duration = std::chrono::nanoseconds(clock_.nanoseconds(last_).value_or(0) -
                                                 clock_.nanoseconds(first_).value_or(0));
    }
    for (const auto& [number, cpu] : cpus_) {
      const DtlPerfCpu& told = content_.cpus.at(number);
      DtlTotals totals = cpu->slots.totals();
      totals.polls = told.totals.polls;
      totals.most_at_once = told.totals.most_at_once;
      totals.saturated = told.totals.saturated;
      totals.flagged = told.totals.flagged;
      if (told.totals.last_ns != 0) totals.last_ns = told.totals.last_ns;
      // The area was full when perf read it, so the driver had stopped.
      const bool full = content_.area_bytes != DtlSlots::kUnending &&
                        told.delivered >= cpu->reader_at + content_.area_bytes;
      report.add({.cpu = number,
                  .entries = totals.entries,
                  .totals = totals,
                  .off = told.truncated || full},
                 cpu->reasons, cpu->ledger);
    }
    for (const Loss& loss : content_.losses) report.add(loss);
    return report.end();
  }

  const InputFile& file_;
  DtlPerfContent content_;
  ScratchFile& recording_;
  std::map<int, std::unique_ptr<Cpu>> cpus_;
  std::vector<std::byte> room_, blocks_;
  DtlClock clock_;
  bool clock_told_ = false;
  uint64_t first_ = UINT64_MAX, last_ = 0;  // timebase
};

}  // namespace

bool is_dispatch_log(const fs::path& path) {
  const std::vector<std::byte> begin = first_bytes_of(path);
  if (is_dtl_recording(begin)) return true;
  if (!is_of_perf(begin)) return false;
  const InputFile file = InputFile::open(path);
  try {
    return has_only_dispatches(*file.size_bytes(), reader_of(file));
  } catch (const Error&) {
    return false;  // the actual reader reports the error
  }
}

bool may_be_perf_data(const fs::path& path) {
  try {
    return is_of_perf(first_bytes_of(path));
  } catch (const Error&) {
    return true;
  }
}

DtlInput::DtlInput(const fs::path& path) : recording_(path) {
  if (!is_of_perf(first_bytes_of(path))) return;
  import_perf_recording(path, scratch_.emplace());
  recording_ = scratch_->path();
}

void import_perf_recording(const fs::path& path, ScratchFile& recording) {
  const InputFile file = InputFile::open(path);
  try {
    Import(file, recording).run();
  } catch (const Error& error) {
    throw error.about("cannot read " + path.string());
  }
}

}  // namespace htmtrace
