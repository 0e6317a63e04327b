// SPDX-License-Identifier: GPL-2.0-or-later
// Where in records of unknown layout the address lies, by what is known of the machine's memory:
// real addresses fall into the few ranges that are memory, other bits do so by chance only. What
// comes of it is inferred, never known. The layouts of POWER10 and later are not public; a search
// like this is what nest-htm-format.md 8.1 finds sound. A field in several pieces is not found.
//
// For each place in the record of address bit 12 (pages of 4 KiB; what is below says nothing about
// ranges) it is counted how many commands have an address of known memory there. Of the places that
// most of them have, the one with the most different pages is the best: constant bits can look like
// an address, but like few. It is believed when it has at least 80 of 100 commands, ten times as
// many as chance and as any other field with a quarter of its pages, in both engines and in all
// thirds of the trace; when the same bits at another place have half as many at most, or less than
// a quarter of the pages; and when there are enough different pages.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/nest_words.h"
#include "core/translation_map.h"

namespace htmtrace::nest {

struct InferredField {
  static constexpr unsigned kPageShift = 12;
  unsigned last_bit = 0;  // of the record: holds address bit 2^12
  unsigned bits = 0;      // up from there

  unsigned first_bit() const { return last_bit + 1 - bits; }
  // Of the page.
  uint64_t page_address(const Record& record) const {
    return record.bits(first_bit(), last_bit) << kPageShift;
  }
};

struct FieldEvidence {
  static constexpr unsigned kThirds = 3;
  static constexpr unsigned kEngines = 2;

  uint64_t commands = 0;    // looked at
  InferredField field;      // the best one
  uint64_t hits = 0;        // commands with an address of known memory in it
  uint64_t pages = 0;       // different ones among these
  double chance = 0;        // share of hits that random bits would have
  uint64_t other_hits = 0;  // of the best other field that leads to a quarter of the pages
  unsigned other_last_bit = 0;
  uint64_t shifted_pages = 0;  // of the best other place of the same bits
  uint64_t shifted_hits = 0;
  // Of each engine and third of the trace.
  std::array<uint64_t, size_t{kEngines} * kThirds> group_commands{};
  std::array<uint64_t, size_t{kEngines} * kThirds> group_hits{};

  bool stable() const;
  // All conditions hold.
  bool believed() const;
};

// Several lines, each ended: what speaks for it and what against.
std::string describe(const FieldEvidence& evidence);

class FieldSearch {
 public:
  // Ranges of machine memory.
  explicit FieldSearch(std::vector<TranslationMap::Range> ranges);

  // A command. The caller takes a sample of all parts of the trace, as large as it likes.
  void add(const Record& record, unsigned engine, unsigned third) {
    samples_.push_back({record, static_cast<uint8_t>(engine * FieldEvidence::kThirds + third)});
  }
  size_t samples() const { return samples_.size(); }

  FieldEvidence judge() const;

 private:
  struct Sample {
    Record record;
    uint8_t group = 0;
  };
  bool known(uint64_t address) const;
  uint64_t hits(const InferredField& field) const;
  uint64_t pages(const InferredField& field) const;
  void look_closer(FieldEvidence& evidence) const;

  std::vector<TranslationMap::Range> ranges_;  // by real address
  std::vector<Sample> samples_;
};

}  // namespace htmtrace::nest
