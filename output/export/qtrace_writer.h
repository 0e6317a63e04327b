// SPDX-License-Identifier: GPL-2.0-or-later
// Writes decoded instructions as a qtrace file, which performance simulators read.
// htmtrace-qtrace(5) describes the part of the format that htmtrace writes. All numbers are
// big-endian and unaligned.
//
// A record also describes how control reached the next instruction, so the writer always holds one
// record.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <utility>

#include "core/analysis/control_flow.h"
#include "core/base/add_counts.h"
#include "core/core_trace/events.h"
#include "output/export/qtrace_record.h"
#include "output/io/text_output.h"

namespace htmtrace {

struct QtraceCounts {
  uint64_t records = 0;     // a prefixed instruction has two records
  uint64_t headers = 0;     // the first header, and one header after each gap
  uint64_t unwritable = 0;  // omitted instructions: no address, no word, or the word 0
  // Entered code pages and data accesses without a page: the trace does not contain the page, or
  // the format cannot express it.
  uint64_t pages_left_out = 0;
  uint64_t second_accesses = 0;  // omitted: the format has room for one access

  void add(const QtraceCounts& more) { add_counts(*this, more); }
};

// Returns several lines with line ends. Omits zero counts that carry no information.
std::string describe(const QtraceCounts& counts);

// A sink for CoreDecoder.
class QtraceWriter {
  using Page = qtrace::Page;

  struct Held {
    uint64_t ea = 0;
    uint64_t data_ea = 0;
    uint32_t opcode = 0;
    uint32_t prefix = 0;
    bool prefixed = false;
    bool has_data = false;
    Page data_page;
  };

 public:
  // The kind of address that the page numbers refer to.
  enum class Pages : uint8_t { kNone, kReal, kLogical };

  QtraceWriter(TextOutput& output, Pages pages) : output_(output), pages_(pages) {}

  [[gnu::always_inline]] void instruction(const Instruction& instruction) {
    if (arrive(instruction.ea.value, writable(instruction), page_of(instruction))) [[likely]]
      hold(instruction);
  }

  // Writes runs of instructions in one page (core/core_trace/plain_pages.h). The compiler can
  // keep these members in registers, unlike the members of the writer.
  class Rows {
   public:
    explicit Rows(QtraceWriter& writer) : writer_(&writer) { load(); }

    [[gnu::always_inline]] void enter(EffectiveAddr ea, RealAddr ra, LogicalAddr la, bool has_la) {
      page_ = writer_->page_of(ea, ra, true, la, has_la);
      has_page_ = page_.known() != 0 || writer_->pages_ == Pages::kNone;
    }
    [[gnu::always_inline]] void instruction(EffectiveAddr ea, uint32_t opcode, uint16_t) {
      if (!arrive(ea, opcode)) [[unlikely]]
        return;
      held_.opcode = opcode;
      held_.ea = ea.value;
      held_.has_data = false;
    }
    [[gnu::always_inline]] void instruction(EffectiveAddr ea, uint32_t opcode, uint16_t,
                                            const DataAccess& data) {
      if (!arrive(ea, opcode)) [[unlikely]]
        return;
      held_.opcode = opcode;
      held_.ea = ea.value;
      held_.has_data = true;
      held_.data_ea = data.ea.value;
      held_.data_page = writer_->page_of(data);
      if (held_.data_page.known() == 0 && writer_->pages_ != Pages::kNone) [[unlikely]]
        writer_->counts_.pages_left_out++;
    }
    [[gnu::always_inline]] void finish() { store(); }

   private:
    void load() {
      held_ = writer_->held_;
      held_there_ = writer_->held_there_;
      known_page_ = writer_->page_;
      to_ = writer_->output_.room();
      last_ = writer_->output_.last_room();
    }
    void store() {
      writer_->held_ = held_;
      writer_->page_ = known_page_;
      writer_->output_.commit(to_);
      writer_->counts_.records += std::exchange(records_, 0);
    }

    // Writes the held instruction. Returns false if the format cannot express this instruction.
    [[gnu::always_inline]] bool arrive(EffectiveAddr ea, uint32_t opcode) {
      if (to_ > last_ || !has_page_ || held_.prefixed || opcode == 0 || !held_there_) [[unlikely]] {
        return arrive_slowly(ea, opcode);
      }
      to_ = put(to_, held_, known_page_, ea.value, page_);
      records_++;
      return true;
    }
    bool arrive_slowly(EffectiveAddr ea, uint32_t opcode) {
      store();
      const bool writable = writer_->arrive(ea.value, opcode != 0, page_);
      load();
      held_.prefixed = false;
      return writable;
    }

    QtraceWriter* writer_;
    Held held_;
    bool held_there_ = false;
    Page page_;        // of these instructions
    Page known_page_;  // QtraceWriter::page_
    bool has_page_ = false;
    char* to_ = nullptr;
    char* last_ = nullptr;
    uint64_t records_ = 0;
  };
  static constexpr bool in_rows() { return true; }

  // The instruction after a loss, a pause or damage does not follow the preceding instruction.
  void stamp(const Stamp& stamp) {
    if (breaks_flow(stamp)) skipped();
  }
  void defect(const Defect&) { skipped(); }

  // The decoder omitted instructions here.
  void skipped() {
    if (inside_) broken_ = true;
    if (!held_there_) return;
    put_held(held_.ea + (held_.prefixed ? 8 : 4), Page{});
    held_there_ = false;
  }

  void finish() { skipped(); }

  // These functions and finish() support parts of a trace that decode in parallel: see
  // FollowsPrinter in output/print/part_printer.h.
  void start_inside() { inside_ = true; }
  // The part has an instruction, and its text does not depend on the page of an earlier
  // instruction.
  bool can_follow(const QtraceWriter&) const {
    return first_there_ && (first_.page.known() != 0 || pages_ == Pages::kNone);
  }
  // Writes the end of the preceding part to the output of `earlier`, the writer of that part. Adds
  // its counts.
  void follow(QtraceWriter& earlier) {
    if (broken_) earlier.skipped();
    earlier.arrive(first_.ea, first_.page);
    counts_.add(earlier.counts_);
  }

  const QtraceCounts& counts() const { return counts_; }

 private:
  // Real page numbers count units of 4 KiB, whatever the size of the page.
  static constexpr unsigned kSmallestPageShift = 12;
  static constexpr uint64_t kSmallestPageBytes = 1 << kSmallestPageShift;

  // A first word of 0 would turn the record into a header. Inlined by force, so that an instruction
  // stays in registers (plain_records.h).
  [[gnu::always_inline]] static bool writable(const Instruction& i) {
    return i.has_ea && i.has_opcode && (i.has_prefix ? i.prefix : i.opcode) != 0;
  }

  template <class Place>
  [[gnu::always_inline]] Page page_of(const Place& place) const {
    return page_of(place.ea, place.ra, place.has_ra, place.la, place.has_la);
  }
  [[gnu::always_inline]] Page page_of(EffectiveAddr ea, RealAddr ra, bool has_ra, LogicalAddr la,
                                      bool has_la) const {
    if (pages_ == Pages::kReal && has_ra) return page_at(ea.value, ra.value);
    if (pages_ == Pages::kLogical && has_la) return page_at(ea.value, la.value);
    return {};
  }

  // The bits below the page number are those of the effective address. A number has 32 bits. An
  // address of more than 44 bits therefore needs more low bits in common with the effective
  // address.
  [[gnu::always_inline]] static Page page_at(uint64_t ea, uint64_t address) {
    constexpr unsigned kNumberBits = 32;
    unsigned shift = kSmallestPageShift;
    if (address >> (kNumberBits + kSmallestPageShift) != 0) [[unlikely]] {
      shift = static_cast<unsigned>(std::bit_width(address)) - kNumberBits;
      if (((ea ^ address) & ((uint64_t{1} << shift) - kSmallestPageBytes)) != 0) return {};
    }
    return {static_cast<uint32_t>(address >> shift), shift};
  }

  // Control reaches an instruction at `ea`. Returns false if the format cannot express the
  // instruction.
  [[gnu::always_inline]] bool arrive(uint64_t ea, bool writable, Page page) {
    if (!writable) [[unlikely]] {
      counts_.unwritable++;
      skipped();
      return false;
    }
    if (page.known() == 0 && pages_ != Pages::kNone) [[unlikely]] {
      // A POWER8 trace states the page only on entry to it.
      const bool same = held_there_ && (held_.ea ^ ea) < kSmallestPageBytes;
      if (!same) counts_.pages_left_out++;
    }
    arrive(ea, page);
    held_there_ = true;
    return true;
  }
  [[gnu::always_inline]] void arrive(uint64_t ea, Page page) {
    if (held_there_) [[likely]] {
      put_held(ea, page);
    } else {
      begin(ea, page);
    }
  }

  [[gnu::always_inline]] void hold(const Instruction& instruction) {
    held_.ea = instruction.ea.value;
    held_.opcode = instruction.opcode;
    held_.prefix = instruction.prefix;
    held_.prefixed = instruction.has_prefix;
    held_.has_data = instruction.data_count != 0;
    if (held_.has_data) {
      held_.data_ea = instruction.data[0].ea.value;
      held_.data_page = page_of(instruction.data[0]);
      if (held_.data_page.known() == 0 && pages_ != Pages::kNone) counts_.pages_left_out++;
      counts_.second_accesses += instruction.data_count - 1U;
    }
  }

  // Writes the held instruction, which `next` follows. `next` is in `next_page`, if that page is
  // known.
  [[gnu::always_inline]] void put_held(uint64_t next, Page next_page) {
    char* to = output_.room();
    if (held_.prefixed) [[unlikely]]
      to = put_prefix(to);
    output_.commit(put(to, held_, page_, next, next_page));
    counts_.records++;
  }
  // Writes the record of an instruction, without that of its prefix. `page` is the page that
  // the reader of the file knows; put() updates it.
  [[gnu::always_inline]] static char* put(char* to, const Held& held, Page& page, uint64_t next,
                                          Page next_page) {
    const bool prefixed = held.prefixed;
    const uint64_t behind = held.ea + (prefixed ? 8 : 4);
    const bool away = next != behind;
    const BranchKind branch = prefixed ? BranchKind::kNone : branch_kind(held.opcode);
    const bool turns = next_page.known() != 0 && next_page != page;
    if (turns) page = next_page;
    const bool jumps = away || branch == BranchKind::kUnconditional;
    return qtrace::put(to, {.word = held.opcode,
                            .termination = termination_of(branch, away),
                            .data = held.has_data && !prefixed ? 1U : 0U,
                            .data_ea = held.data_ea,
                            .data_page = held.data_page,
                            .jumps = jumps ? 1U : 0U,
                            .next = next,
                            .turns_page = turns ? 1U : 0U,
                            .page = next_page});
  }

  static uint8_t termination_of(BranchKind branch, bool away) {
    static constexpr uint8_t kOf[][2] = {
        {0, qtrace::kException},
        {qtrace::kConditionalBranch, qtrace::kConditionalBranch},
        {qtrace::kUnconditionalBranch, qtrace::kUnconditionalBranch},
    };
    return kOf[static_cast<size_t>(branch)][away ? 1 : 0];
  }

  void begin(uint64_t ea, Page page);
  void put_header(uint64_t ea, Page page);
  char* put_prefix(char* to);

  TextOutput& output_;
  Pages pages_;
  QtraceCounts counts_;
  Held held_;
  bool held_there_ = false;
  Page page_;  // page of the instructions, as the reader knows it

  // The part starts inside the trace, and its first instruction has not arrived.
  bool inside_ = false;
  bool broken_ = false;  // the first instruction does not follow the last one of the preceding part
  struct First {
    uint64_t ea = 0;
    Page page;
  };
  First first_;
  bool first_there_ = false;
};

}  // namespace htmtrace
