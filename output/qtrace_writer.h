// SPDX-License-Identifier: GPL-2.0-or-later
// Decoded instructions as a qtrace file, which performance simulators read. htmtrace-qtrace(5)
// describes the format as far as it is written; all numbers are big-endian and without alignment.
//
// A record tells how the next instruction was reached, too: one is always held back.
#pragma once

#include <bit>
#include <cstdint>

#include "core/control_flow.h"
#include "core/core_events.h"
#include "output/qtrace_record.h"
#include "output/text_output.h"

namespace htmtrace {

struct QtraceCounts {
  uint64_t records = 0;     // two of a prefixed instruction
  uint64_t headers = 0;     // the first, and one behind each gap
  uint64_t unwritable = 0;  // instructions left out: no address, no word, or the word 0
  // Entered pages of code, and accesses, without their page: the trace does not tell it, or the
  // format cannot.
  uint64_t pages_left_out = 0;
  uint64_t second_accesses = 0;  // left out: the format has room for one
};

// A sink for CoreDecoder.
class QtraceWriter {
 public:
  // Of which addresses the page numbers are.
  enum class Pages : uint8_t { kNone, kReal, kLogical };

  QtraceWriter(TextOutput& output, Pages pages) : output_(output), pages_(pages) {}

  [[gnu::always_inline]] void instruction(const Instruction& instruction) {
    if (!writable(instruction)) [[unlikely]] {
      counts_.unwritable++;
      skipped();
      return;
    }
    const Page page = page_of(instruction);
    if (page.known() == 0 && pages_ != Pages::kNone) [[unlikely]] {
      // POWER8 tells it when a page is entered.
      const bool same = held_there_ && (held_.ea ^ instruction.ea.value) < kSmallestPageBytes;
      if (!same) counts_.pages_left_out++;
    }
    if (held_there_) [[likely]] {
      put_held(instruction.ea.value, page);
    } else {
      put_header(instruction.ea.value, page);
    }
    hold(instruction);
  }

  // What follows a loss, a pause or damage did not follow what was before.
  void stamp(const Stamp& stamp) {
    if (breaks_flow(stamp)) skipped();
  }
  void defect(const Defect&) { skipped(); }

  // Instructions are left out here.
  void skipped() {
    if (!held_there_) return;
    put_held(held_.ea + (held_.prefixed ? 8 : 4), Page{});
    held_there_ = false;
  }

  void finish() { skipped(); }

  const QtraceCounts& counts() const { return counts_; }

 private:
  // Real pages are told in units of 4 KiB, whatever their size.
  static constexpr unsigned kSmallestPageShift = 12;
  static constexpr uint64_t kSmallestPageBytes = 1 << kSmallestPageShift;

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

  // The first word of a record that is 0 makes a header of it.
  static bool writable(const Instruction& i) {
    return i.has_ea && i.has_opcode && (i.has_prefix ? i.prefix : i.opcode) != 0;
  }

  template <class Place>
  Page page_of(const Place& place) const {
    if (pages_ == Pages::kReal && place.has_ra) return page_at(place.ea.value, place.ra.value);
    if (pages_ == Pages::kLogical && place.has_la) return page_at(place.ea.value, place.la.value);
    return {};
  }

  // The bits below the page number are those of the effective address. A number has 32 bits: an
  // address of more than 44 bits can only be told where more of its low bits are those, too.
  static Page page_at(uint64_t ea, uint64_t address) {
    constexpr unsigned kNumberBits = 32;
    unsigned shift = kSmallestPageShift;
    if (address >> (kNumberBits + kSmallestPageShift) != 0) [[unlikely]] {
      shift = static_cast<unsigned>(std::bit_width(address)) - kNumberBits;
      if (((ea ^ address) & ((uint64_t{1} << shift) - kSmallestPageBytes)) != 0) return {};
    }
    return {static_cast<uint32_t>(address >> shift), shift};
  }

  void hold(const Instruction& instruction) {
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
    held_there_ = true;
  }

  // The held instruction, and that `next` follows it, which lies in `next_page` if that is known.
  [[gnu::always_inline]] void put_held(uint64_t next, Page next_page) {
    char* to = output_.room();
    const bool prefixed = held_.prefixed;
    if (prefixed) [[unlikely]]
      to = put_prefix(to);
    const uint64_t behind = held_.ea + (prefixed ? 8 : 4);
    const bool away = next != behind;
    const BranchKind branch = prefixed ? BranchKind::kNone : branch_kind(held_.opcode);
    const bool turns = next_page.known() != 0 && next_page != page_;
    if (turns) page_ = next_page;
    const bool jumps = away || branch == BranchKind::kUnconditional;
    output_.commit(qtrace::put(to, {.word = held_.opcode,
                                    .termination = termination_of(branch, away),
                                    .data = held_.has_data && !prefixed ? 1U : 0U,
                                    .data_ea = held_.data_ea,
                                    .data_page = held_.data_page,
                                    .jumps = jumps ? 1U : 0U,
                                    .next = next,
                                    .turns_page = turns ? 1U : 0U,
                                    .page = next_page}));
    counts_.records++;
  }

  static uint8_t termination_of(BranchKind branch, bool away) {
    static constexpr uint8_t kOf[][2] = {
        {0, qtrace::kException},
        {qtrace::kConditionalBranch, qtrace::kConditionalBranch},
        {qtrace::kUnconditionalBranch, qtrace::kUnconditionalBranch},
    };
    return kOf[static_cast<size_t>(branch)][away ? 1 : 0];
  }

  void put_header(uint64_t ea, Page page);
  char* put_prefix(char* to);

  TextOutput& output_;
  Pages pages_;
  QtraceCounts counts_;
  Held held_;
  bool held_there_ = false;
  Page page_;  // of instructions, as the reader knows it
};

}  // namespace htmtrace
