// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/golden/assembler.h"

#include <algorithm>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>

#include "tests/encoder/power10.h"
#include "tests/encoder/power8.h"

namespace htmtrace::golden {
namespace {

// The words of a line after the first word: hexadecimal numbers, then names.
class Arguments {
 public:
  explicit Arguments(std::istringstream& line) {
    for (std::string word; line >> word;) words_.push_back(word);
  }
  uint64_t number() {
    if (next_ >= words_.size()) throw std::runtime_error("a number is missing");
    return std::stoull(words_[next_++], nullptr, 16);
  }
  uint32_t number32() { return static_cast<uint32_t>(number()); }
  bool has(const std::string& name) const {
    return std::find(words_.begin(), words_.end(), name) != words_.end();
  }

 private:
  std::vector<std::string> words_;
  size_t next_ = 0;
};

using Words = std::vector<uint64_t>;

Words ieara(Arguments& a) {
  Words words(kPower10IearaWords);
  const uint64_t ea = a.number();
  power10_ieara(words.data(), ea, a.number());
  return words;
}

Words info(Arguments& a) {
  uint32_t opcode = a.number32();
  const uint64_t ea = a.number();
  const bool branch = a.has("branch");
  if (branch && !power10_recode_branch(opcode, ea, &opcode)) {
    throw std::runtime_error("not a branch that the processor stores in another form");
  }
  auto operands = kPower10NoOperand;
  if (a.has("one")) operands = kPower10OnePair;
  if (a.has("two")) operands = kPower10TwoPairs;
  if (a.has("segment")) operands = kPower10SegmentPair;
  return {power10_info(opcode, ea, branch, a.has("prefixed"), operands)};
}

Words vsid(Arguments& a) {
  const uint32_t size = a.number32();
  return {power10_vsid(size, a.number())};
}

Words xlate(Arguments& a) {
  const uint32_t lpid = a.number32();
  return {power10_xlate(a.has("data"), lpid, a.number32())};
}

Words walk(Arguments& a) {
  const uint32_t kind = a.number32();
  const uint32_t level = a.number32();
  return {power10_walk(kind, level, a.number())};
}

Words mark(Arguments& a) {
  const uint32_t group = a.number32();
  const uint32_t chip = a.number32();
  const uint32_t unit = a.number32();
  return {power10_mark(group, chip, unit, a.number32(), a.has("dropped"))};
}

Words time(Arguments& a) {
  const auto indicator = static_cast<enum power10_time>(a.number());
  const auto dropped = static_cast<uint8_t>(a.number());
  return {power10_time(indicator, dropped, a.number32())};
}

Words companion(Arguments& a) {
  Words words(kPower10CompanionWords);
  power10_companion(words.data(), a.number(), 5, 0);
  words.pop_back();
  return words;
}

Words p8info(Arguments& a) {
  uint32_t opcode = a.number32();
  const bool branch = a.has("branch");
  if (branch && !power8_recode_branch(opcode, a.number(), &opcode)) {
    throw std::runtime_error("not a branch that the processor stores in another form");
  }
  unsigned follow = 0;
  if (a.has("iea")) follow |= kPower8Iea;
  if (a.has("ira")) follow |= kPower8Ira;
  if (a.has("dea")) follow |= kPower8Dea;
  if (a.has("dra")) follow |= kPower8Dra;
  if (a.has("segment")) follow |= kPower8Segment;
  return {power8_info(opcode, branch, a.has("ucode"), !a.has("invalid"), follow)};
}

Words p8ira(Arguments& a) {
  const uint64_t ra = a.number();
  return {power8_ira(ra, a.number32())};
}

Words p8dra(Arguments& a) {
  const uint64_t ra = a.number();
  return {power8_dra(ra, a.number32())};
}

Words p8mark(Arguments& a) {
  const uint32_t node = a.number32();
  const uint32_t chip = a.number32();
  const uint32_t unit = a.number32();
  return {power8_mark(node, chip, unit, a.number32())};
}

const std::map<std::string, std::function<Words(Arguments&)>>& lines() {
  static const std::map<std::string, std::function<Words(Arguments&)>> all = {
      {"ieara", ieara},
      {"info", info},
      {"msr", [](Arguments& a) { return Words{power10_msr(a.number())}; }},
      {"prefix", [](Arguments& a) { return Words{power10_prefix(a.number32())}; }},
      {"dea", [](Arguments& a) { return Words{a.number()}; }},
      {"dra", [](Arguments& a) { return Words{power10_dra(a.number())}; }},
      {"esid", [](Arguments& a) { return Words{power10_esid(a.number())}; }},
      {"vsid", vsid},
      {"xlate", xlate},
      {"walk", walk},
      {"end", [](Arguments&) { return Words{power10_walk_end()}; }},
      {"record", [](Arguments& a) { return Words{power10_record(a.number() & 0xff)}; }},
      {"complete", [](Arguments& a) { return Words{power10_complete(a.number32())}; }},
      {"pause", [](Arguments& a) { return Words{power10_pause(a.number32())}; }},
      {"sync", [](Arguments&) { return Words{power10_sync()}; }},
      {"mark", mark},
      {"time", time},
      {"companion", companion},
      {"p8info", p8info},
      {"p8iea",
       [](Arguments& a) { return Words{power8_iea(a.number(), a.has("hv"), a.has("ir"))}; }},
      {"p8ira", p8ira},
      {"p8dra", p8dra},
      {"p8mark", p8mark},
      {"word", [](Arguments& a) { return Words{a.number()}; }},
  };
  return all;
}

}  // namespace

std::vector<uint64_t> assemble(const std::string& line) {
  std::istringstream text(line);
  std::string name;
  text >> name;
  const auto found = lines().find(name);
  if (found == lines().end()) throw std::runtime_error("unknown line: " + line);
  Arguments arguments(text);
  return found->second(arguments);
}

}  // namespace htmtrace::golden
