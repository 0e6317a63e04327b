// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/print/text_printer.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "output/print/put_modes.h"
#include "output/symbols/disassembler.h"

namespace htmtrace {
namespace {

std::string losses_text(const StampLosses& losses) {
  std::string text;
  const auto out = std::back_inserter(text);
  if (losses.records != 0) fmt::format_to(out, " records_dropped={}", losses.records);
  if (losses.records_overflow) text += " record_counter_overflow";
  if (losses.marker) text += " marker_dropped";
  if (losses.response) text += " response_dropped";
  if (losses.trigger) text += " trigger_dropped";
  if (losses.trace_full) text += " trace_full";
  if (losses.elapsed_overflow) text += " elapsed_overflow";
  if (losses.unknown) text += " unknown_indication";
  return text;
}

}  // namespace

std::string stamp_line(const Stamp& stamp) {
  std::string line =
      fmt::format("stamp kind={} word={:016x}", stamp_kind_name(stamp.kind), stamp.word);
  const auto out = std::back_inserter(line);
  switch (stamp.kind) {
    case StampKind::kRecord:
      fmt::format_to(out, " counter={}", stamp.counter);
      break;
    case StampKind::kComplete:
    case StampKind::kPause:
    case StampKind::kTime:
      fmt::format_to(out, " elapsed={}", stamp.elapsed);
      break;
    case StampKind::kMark:
      fmt::format_to(out, " group={} chip={} unit={} value={}", stamp.mark.group, stamp.mark.chip,
                     stamp.mark.unit, stamp.mark.value);
      break;
    case StampKind::kSync:
    case StampKind::kUndefined:
      break;
  }
  if (stamp.companion_timer) fmt::format_to(out, " timer={}", *stamp.companion_timer);
  return line + losses_text(stamp.losses);
}

char* TextPrinter::put_in_full(char* to, const Head& head) {
  char* at = put_text(to, kTextLabel<Field::kEa>.text().substr(1));
  at = put_address(at, head.ea.known, head.ea.value);
  at = kTextLabel<Field::kOpcode>.put(at);
  if (head.prefix.known) at = put_hex32(at, static_cast<uint32_t>(head.prefix.value));
  at = head.opcode.known ? put_hex32(at, static_cast<uint32_t>(head.opcode.value))
                         : put_unknown(at, 8);
  at = put_address(kTextLabel<Field::kRa>.put(at), head.ra.known, head.ra.value);
  at = put_address(kTextLabel<Field::kLa>.put(at), head.la.known, head.la.value);
  const bool all = head.ea.known && head.opcode.known && head.ra.known && head.la.known;
  const uint64_t place = head.ea.value & TextPage::kOffset;
  if (all && !head.prefix.known && (head.ra.value & TextPage::kOffset) == place &&
      (head.la.value & TextPage::kOffset) == place) {
    page_.enter(head.ea.value, head.ra.value, head.la.value, true);
  }
  return at;
}

char* TextPrinter::put_more(char* to, const Head& head, const Data& data) {
  if (wishes_.modes) {
    to = kTextLabel<Field::kPrivilege>.put(to);
    to = put_text(to, kPrivilegeNames[static_cast<size_t>(privilege_of(head.modes))]);
    to = kTextLabel<Field::kModes>.put(to);
    char* const end = put_modes(to, head.modes);
    to = end == to ? put_text(to, "-") : end;
  }
  if (names_.wanted()) to = put_names(to, head, data);
  return wishes_.disassemble ? put_assembler(to, head) : to;
}

AddressNames::Name TextPrinter::code_name(const Head& head) {
  Instruction instruction;
  instruction.ea = {head.ea.value};
  instruction.has_ea = head.ea.known;
  instruction.la = {head.la.value};
  instruction.has_la = head.la.known;
  instruction.opcode = static_cast<uint32_t>(head.opcode.value);
  instruction.has_opcode = head.opcode.known;
  instruction.prefix = static_cast<uint32_t>(head.prefix.value);
  instruction.has_prefix = head.prefix.known;
  instruction.modes = head.modes;
  return names_.code(instruction);
}

char* TextPrinter::put_names(char* to, const Head& head, const Data& data) {
  to = put_code_name(to, code_name(head));
  for (unsigned i = 0; i < data.count; i++) {
    DataAccess access;
    access.ea = data.ea.at(i);
    access.la = {data.la.at(i).value};
    access.has_la = data.la.at(i).known;
    to = put_data_name(to, access);
  }
  output_.commit(to);  // the names may have taken most of the room
  return output_.room();
}

// Names have any length. The names of kernel modules follow a blank, which would end the field.
char* TextPrinter::put_other_name(char* to, std::string_view name) {
  while (!name.empty()) {
    output_.commit(to);
    const std::string_view word = name.substr(0, name.find(' '));
    output_.put(word);
    to = output_.room();
    name.remove_prefix(std::min(word.size() + 1, name.size()));
  }
  return to;
}

char* TextPrinter::put_assembler(char* to, const Head& head) {
  to = kTextLabel<Field::kAssembler>.put(to);
  if (!head.opcode.known) return put_text(to, "-");
  Instruction instruction;
  instruction.ea = {head.ea.value};
  instruction.has_ea = head.ea.known;
  instruction.opcode = static_cast<uint32_t>(head.opcode.value);
  instruction.has_opcode = true;
  instruction.prefix = static_cast<uint32_t>(head.prefix.value);
  instruction.has_prefix = head.prefix.known;
  // The preceding fields may take half of the room, which exceeds the need of any instruction.
  constexpr size_t kMost = TextOutput::kRoom / 2;
  return put_text(to, Disassembler::of_thread().text(instruction).substr(0, kMost));
}

void TextPrinter::put_stamp(const Stamp& stamp) {
  output_.put(stamp_line(stamp));
  output_.put("\n");
}

}  // namespace htmtrace
