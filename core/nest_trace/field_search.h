// SPDX-License-Identifier: GPL-2.0-or-later
// Locates the address in records of unknown layout. Real addresses fall into the few memory ranges
// of the machine; other bits do so only by chance. The result is inferred, never known. The layouts
// of POWER10 and later are not public. The search cannot find a field that is split.
//
// For each position of address bit 12 in the record, the search counts the commands whose address
// lies in known memory. (Pages are 4 KiB; lower bits do not affect the range.) The best position
// has the most distinct pages among the positions that most commands match. Constant bits can look
// like an address, but only like few addresses.
//
// The search accepts the best position only under these conditions:
// - At least 80 of 100 commands match.
// - At least ten times as many commands match as by chance, and as with any other field that
//   reaches a quarter of the pages.
// - The match holds for both engines and for all thirds of the trace.
// - The same bits at a shifted position match at most half as many commands, or reach at most a
//   quarter of the pages.
// - The number of distinct pages is large enough.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/memory_map/translation.h"
#include "core/nest_trace/words.h"

namespace htmtrace::nest {

struct InferredField {
  static constexpr unsigned kPageShift = 12;
  unsigned last_bit = 0;  // the bit of the record that holds address bit 2^12
  unsigned bits = 0;      // number of bits, ending at last_bit

  unsigned first_bit() const { return last_bit + 1 - bits; }
  // The address of the page in `record`.
  uint64_t page_address(const Record& record) const {
    return record.bits(first_bit(), last_bit) << kPageShift;
  }
};

struct FieldEvidence {
  static constexpr unsigned kThirds = 3;
  static constexpr unsigned kEngines = 2;

  uint64_t commands = 0;    // examined commands
  InferredField field;      // the best field
  uint64_t hits = 0;        // commands whose field holds an address of known memory
  uint64_t pages = 0;       // distinct pages among the hits
  double chance = 0;        // the fraction of hits that random bits would have
  uint64_t other_hits = 0;  // hits of the best other field that reaches a quarter of the pages
  unsigned other_last_bit = 0;
  uint64_t shifted_pages = 0;  // pages of the best shifted position of the same bits
  uint64_t shifted_hits = 0;
  // For each engine and third of the trace.
  std::array<uint64_t, size_t{kEngines} * kThirds> group_commands{};
  std::array<uint64_t, size_t{kEngines} * kThirds> group_hits{};

  bool stable() const;
  // True if all conditions hold.
  bool believed() const;
};

// A text of several complete lines that lists the evidence for and against the field.
std::string describe(const FieldEvidence& evidence);

class FieldSearch {
 public:
  // `ranges` are the ranges of machine memory.
  explicit FieldSearch(std::vector<TranslationMap::Range> ranges);

  // Adds a command. The caller samples all parts of the trace and chooses the size of the sample.
  void add(const Record& record, unsigned engine, unsigned third) {
    samples_.push_back({record, static_cast<uint8_t>(engine * FieldEvidence::kThirds + third)});
  }

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

  std::vector<TranslationMap::Range> ranges_;  // sorted by real address
  std::vector<Sample> samples_;
};

}  // namespace htmtrace::nest
