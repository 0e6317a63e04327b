// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/report/decode_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "core/analysis/basic_blocks.h"
#include "core/base/counted.h"
#include "output/report/count_lines.h"

namespace htmtrace {
namespace {

void add_instructions(CountLines& lines, const CoreStatistics& s) {
  lines.always("instructions", s.instruction_count());
  lines.if_any("  POWER8 records", s.instructions[static_cast<size_t>(Generation::kPower8)]);
  lines.if_any("  POWER10 records", s.instructions[static_cast<size_t>(Generation::kPower10)]);
  for (const InstructionCount& line : kInstructionCounts) {
    const uint64_t count = s.*line.count;
    line.always ? lines.always(line.name, count) : lines.if_any(line.name, count);
  }
}

void add_walks(CountLines& lines, const CoreStatistics& s) {
  static constexpr const char* kNames[words::kWalkKinds] = {
      "  unknown steps",        "  host table entries",    "  guest table entries",
      "  guest entries' hosts", "  final guest addresses", "  final host addresses"};
  lines.if_any("walks for instructions", s.xlates[0]);
  lines.if_any("walks for data", s.xlates[1]);
  for (unsigned i = 0; i < words::kWalkKinds; i++) lines.if_any(kNames[i], s.walk_kinds[i]);
  lines.if_any("  exceptions", s.walk_exceptions);
  lines.if_any("interrupted groups", s.interrupted_groups);
  lines.if_any("walks of accesses", s.walks.accesses);
  lines.if_any("  known from root to page", s.walks.complete);
  s.walks.each_page([&](size_t guest, size_t host, uint64_t accesses) {
    lines.always(fmt::format("  pages: guest {} host {}", kPageNames[guest], kPageNames[host]),
                 accesses);
  });
  lines.if_any("walks interrupted", s.walks.interrupted);
}

void add_stamps(CountLines& lines, const CoreStatistics& s) {
  for (unsigned i = 0; i < kStampKinds; i++) {
    lines.if_any(fmt::format("stamps: {}", stamp_kind_name(static_cast<StampKind>(i))),
                 s.stamps[i]);
  }
  lines.if_any("stamps with companion", s.companions);
  lines.if_any("elapsed ticks", s.elapsed_ticks);
  lines.if_any("elapsed overflows", s.elapsed_overflows);
  lines.if_any("unknown indications", s.unknown_indications);
}

void add_losses(CountLines& lines, const CoreStatistics& s) {
  lines.if_any("lost: records", s.records_dropped);
  lines.if_any("lost: record count overflows", s.record_counter_overflows);
  lines.if_any("lost: markers", s.markers_dropped);
  lines.if_any("lost: responses", s.responses_dropped);
  lines.if_any("lost: triggers", s.triggers_dropped);
  lines.if_any("lost: trace full", s.trace_full);
}

void add_defects(CountLines& lines, const CoreStatistics& s) {
  for (unsigned i = 0; i < kDefectReasons; i++) {
    const DefectSummary& defect = s.defects[i];
    if (defect.count == 0) continue;
    const auto reason = static_cast<DefectReason>(i);
    lines.always(fmt::format("defect: {}", defect_reason_name(reason)), defect.count);
    std::string where = fmt::format("({}) at", counted(defect.size_bytes, "byte"));
    for (size_t k = 0; k < std::min<uint64_t>(defect.count, DefectSummary::kKept); k++) {
      where += fmt::format(" {:#x}", defect.first_offsets[k]);
    }
    if (defect.count > DefectSummary::kKept) where += " ...";
    lines.remark(where);
  }
}

}  // namespace

std::string describe(const CoreStatistics& statistics) {
  CountLines lines;
  lines.always("bytes", statistics.bytes);
  lines.always("words", statistics.bytes / words::kWordBytes);
  lines.if_any("  filler", statistics.filler_words);
  lines.if_any("  unknown", statistics.unknown_words);
  lines.if_any("records with reserved bits", statistics.reserved_bits);
  add_instructions(lines, statistics);
  add_walks(lines, statistics);
  add_stamps(lines, statistics);
  add_losses(lines, statistics);
  add_defects(lines, statistics);
  return lines.take();
}

std::string describe(const TranslationReport& report) {
  CountLines lines;
  lines.always("memory map: blocks", report.blocks);
  lines.always("memory map: entries", report.entries);
  lines.always("memory map: own entries", report.own_entries);
  std::string partitions = "(partitions in the file:";
  for (const uint32_t partition : report.partitions) partitions += fmt::format(" {}", partition);
  if (report.partitions.size() > 1) lines.remark(partitions + ")");
  lines.if_any("memory map: mapped bytes", report.mapped_bytes);
  lines.if_any("memory map: unmapped", report.unmapped);
  lines.if_any("memory map: duplicates", report.duplicates);
  lines.if_any("memory map: overlaps", report.overlaps);
  lines.if_any("memory map: contested bytes", report.contested_bytes);
  lines.if_any("memory map: malformed", report.malformed);
  lines.if_any("memory map: cut blocks", report.truncated_blocks);
  lines.if_any("memory map: bytes at end", report.trailing_bytes);
  return lines.take();
}

std::string describe(const BasicBlocks& blocks, uint64_t intervals) {
  CountLines lines;
  lines.always("basic blocks", blocks.blocks().size());
  lines.always("intervals", intervals);
  lines.if_any("instructions left out", blocks.unknown());
  return lines.take();
}

void DecodeTotals::add(const CoreStatistics& statistics) {
  bytes += statistics.bytes;
  instructions += statistics.instruction_count();
  losses += statistics.loss_stamps;
  defects += statistics.defect_count();
}

void DecodeTotals::add(const nest::Statistics& statistics) {
  bytes += statistics.bytes;
  commands += statistics.commands;
  losses += statistics.loss_stamps;
  defects += statistics.defect_count();
}

std::string describe(const DecodeTotals& totals) {
  std::string text = fmt::format("{}, {}", counted(totals.bytes, "byte"),
                                 counted(totals.instructions, "instruction"));
  if (totals.commands != 0) text += ", " + counted(totals.commands, "command");
  text +=
      fmt::format(", {}, {}", counted(totals.losses, "loss"), counted(totals.defects, "defect"));
  if (totals.selected) text += fmt::format(", {} selected", *totals.selected);
  return text;
}

}  // namespace htmtrace
