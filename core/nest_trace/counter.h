// SPDX-License-Identifier: GPL-2.0-or-later
// Produces the statistics of Decoder for the records of one engine, plus the counts of translated
// addresses, without building events.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/memory_map/translation.h"
#include "core/nest_trace/decoder.h"
#include "core/nest_trace/open_commands.h"

namespace htmtrace::nest {

class Counter {
 public:
  // `map` must outlive the counter.
  Counter(Layout layout, uint8_t engine, const TranslationMap& map);

  // Consumes whole records, which must follow the engine's previous records.
  void take(std::span<const std::byte> records);

  const Statistics& statistics() const { return statistics_; }

 private:
  template <class Fields>
  void take_records(std::span<const std::byte> records);
  void take_unknown(std::span<const std::byte> records);
  template <class Fields>
  void take_command(const Record& record);
  template <class Fields>
  void take_slot(const Record& record, unsigned slot);
  void take_response(uint32_t key, unsigned code);
  void take_stamp(const Record& record);

  Layout layout_;
  uint8_t engine_;
  const Names* names_;
  TranslationMap::Cursor cursor_;
  Clock clock_;
  Statistics statistics_;
  uint64_t next_ = OpenCommands::kFirst;  // number of the next event
  OpenCommands open_;
  std::array<ResponseClass, OpenCommands::kReach> classes_{};  // the last commands, by number
};

}  // namespace htmtrace::nest
