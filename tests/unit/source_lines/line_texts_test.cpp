// SPDX-License-Identifier: GPL-2.0-or-later
// The cache of the texts of source lines. The program is in the corpus of a fuzzer.
#include "output/source_lines/line_texts.h"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/generator/generated_trace.h"
#include "tests/unit/instruction_run.h"

namespace htmtrace {

TEST_CASE("the texts are those of the file, whatever the cache holds") {
  if (!can_read_lines()) return;
  constexpr uint64_t kBegin = 0x10000000, kSize = 0x138;
  SymbolTable symbols;
  symbols.add_file({.path = HTMTRACE_PROGRAM_WITH_LINES, .begin = kBegin, .end = kBegin + kSize});
  SourceFiles files(symbols, {.folders = {}});
  std::map<uint64_t, std::pair<std::string, std::string>> expected;
  std::vector<SourceFrame> frames;
  size_t lines = 0, inlined = 0;
  for (uint64_t ea = kBegin; ea < kBegin + kSize; ea += 4) {
    files.find({ea}, frames);
    expected[ea] = {line_text(frames, true), inlined_text(frames, true)};
    lines += !expected[ea].first.empty();
    inlined += !expected[ea].second.empty();
  }
  CHECK(lines > 20);
  CHECK(inlined > 5);
  LineTexts texts(&symbols, &files, line_text, inlined_text);
  generator::Random random(7);
  size_t wrong = 0;
  // Other code fills the cache several times.
  for (int i = 0; i < 300'000; i++) {
    const bool is_inside = random.below(4) == 0;
    const uint64_t ea = is_inside ? kBegin + 4 * random.below(kSize / 4)
                                  : 0x20000000 + 4 * random.below(uint64_t{1} << 24);
    Instruction instruction = one(ea, random.below(3) == 0 ? kNop : kBlr);
    instruction.has_opcode = random.below(5) != 0;
    instruction.prefix = static_cast<uint32_t>(random.next());  // stale
    instruction.has_la = random.below(2) == 0;
    instruction.la = {random.below(3) << 12};
    instruction.modes.known = Modes::kAll;
    instruction.modes.bits = static_cast<uint16_t>(random.below(2) * Modes::kPr);
    const LineTexts::Texts got = texts.at(instruction);
    const auto& [line, chain] = expected[ea];
    wrong += got.line != line || got.inlined != chain;
  }
  CHECK(wrong == 0);
}

}  // namespace htmtrace
