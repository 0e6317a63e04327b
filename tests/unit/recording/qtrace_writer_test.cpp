// SPDX-License-Identifier: GPL-2.0-or-later
// An independent reader of qtrace files must find the decoded instructions.
#include "output/export/qtrace_writer.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "output/io/input_file.h"
#include "tests/encoder/power10.h"
#include "tests/generator/generated_trace.h"
#include "tests/unit/decoded_text.h"
#include "tests/unit/recording/qtrace_reader.h"
#include "tests/unit/rounds.h"
#include "tests/unit/temporary_folder.h"
#include "tests/unit/without_rows.h"

namespace htmtrace {
namespace {

using Pages = QtraceWriter::Pages;
using QtraceRecord = QtraceReader::Record;

struct Written {
  std::vector<std::byte> bytes;
  QtraceCounts counts;
};

enum class Way : uint8_t { kRows, kOneByOne };

Written write(std::span<const std::byte> trace, Pages pages, const TranslationMap& map = {},
              Way way = Way::kRows) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trace.qt";
  TextOutput output = TextOutput::create(path, Existing::kRefuse);
  QtraceWriter writer(output, pages);
  const auto decode = [&](auto& sink) {
    CoreDecoder decoder(map, sink);
    decoder.feed(trace);
    decoder.finish();
  };
  if (way == Way::kRows) {
    decode(writer);
  } else {
    WithoutRows each(writer);
    decode(each);
  }
  writer.finish();
  output.finish();
  return {InputFile::open(path).read_all(1 << 26), writer.counts()};
}

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return text;
}

// A WordList of a program that enters `ea` in the page of `ra`.
class WordList {
 public:
  WordList& enter(uint64_t ea, uint64_t ra) {
    uint64_t line[kPower10IearaWords];
    power10_ieara(line, ea, ra);
    words_.insert(words_.end(), std::begin(line), std::end(line));
    ea_ = ea;
    return *this;
  }
  WordList& run(uint32_t opcode, power10_operands operands = kPower10NoOperand) {
    uint32_t stored = opcode;
    const bool branch = power10_recode_branch(opcode, ea_, &stored);
    words_.push_back(power10_info(stored, ea_, branch, false, operands));
    words_.push_back(0xb8c0000000000000);
    ea_ += 4;
    return *this;
  }
  WordList& run_prefixed(uint32_t prefix, uint32_t suffix, power10_operands operands) {
    words_.push_back(power10_info(suffix, ea_, false, true, operands));
    words_.push_back(0xb8c0000000000000);
    words_.push_back(power10_prefix(prefix));
    ea_ += 8;
    return *this;
  }
  WordList& access(uint64_t ea, uint64_t ra) { return word(ea).word(power10_dra(ra)); }
  WordList& word(uint64_t value) {
    words_.push_back(value);
    return *this;
  }
  std::vector<std::byte> bytes() const { return generator::bytes_of(words_); }

 private:
  std::vector<uint64_t> words_;
  uint64_t ea_ = 0;
};

// The generator's line of an instruction, without the fields that the format cannot hold.
std::string expected_line(std::string line) {
  if (const size_t second = line.find(" dea=", line.find(" dea=") + 1);
      second != std::string::npos) {
    line.resize(second);
  }
  for (const char* name : {" ra=", " dra="}) {
    const size_t at = line.find(name);
    if (at != std::string::npos) line.erase(at, std::string(name).size() + 16);
  }
  return line;
}

std::vector<std::string> lines_of(const std::vector<QtraceRecord>& records) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < records.size(); i++) {
    const QtraceRecord& record = records.at(i);
    std::string line = fmt::format("ea={:016x} op={:08x}", record.ea, record.word);
    if (record.word >> 26 == 1) line += fmt::format("{:08x}", records.at(++i).word);
    line += fmt::format(" la={:016x}", record.real.value());
    if (record.data_ea) {
      line += fmt::format(" dea={:016x} dla={:016x}", *record.data_ea, record.data_real.value());
    }
    lines.push_back(line);
  }
  return lines;
}

template <class Program>
void round_trip(uint64_t seed, generator::Options options) {
  std::vector<uint64_t> words;
  std::vector<std::string> expected;
  Program program(seed, options);
  constexpr unsigned kInstructions = rounds(30000);
  expected.reserve(kInstructions);
  for (unsigned i = 0; i < kInstructions; i++)
    expected.push_back(expected_line(program.next(words, true)));
  const TranslationMap map(generator::translation_file(), 0);
  const Written written = write(generator::bytes_of(words), Pages::kLogical, map);
  QtraceReader reader(written.bytes);
  const std::vector<QtraceRecord> records = reader.read();
  CHECK(records.size() == written.counts.records);
  CHECK(reader.headers() == written.counts.headers);
  CHECK(written.counts.unwritable == 0);
  CHECK(written.counts.pages_left_out == 0);
  const std::vector<std::string> lines = lines_of(records);
  REQUIRE(lines.size() == expected.size());
  for (size_t i = 0; i < lines.size(); i++) REQUIRE(lines.at(i) == expected.at(i));
}

}  // namespace

TEST_CASE("120000 random instructions survive the round trip through a qtrace file") {
  round_trip<generator::Power10Program>(1, {});
  round_trip<generator::Power10Program>(2, {.stamps_per_mille = 0});
  round_trip<generator::Power10Program>(3, {.stamps_per_mille = 100});
  round_trip<generator::Power8Program>(4, {.stamps_per_mille = 0});
}

TEST_CASE("the file is the same with and without rows") {
  for (uint64_t seed = 1; seed <= rounds(16); seed++) {
    generator::Random random(seed);
    std::vector<uint64_t> words;
    generator::Power10Program program(seed, {});
    for (int i = 0; i < 2000; i++) {
      program.next(words, false);
      if (random.chance(2)) words.push_back(random.next());  // damage
      // An instruction with the word 0 in the same line.
      if (random.chance(5))
        words.insert(words.end(), {power10_info(0, 0, false, false, kPower10NoOperand), 0});
    }
    const std::vector<std::byte> trace = generator::bytes_of(words);
    const TranslationMap own(generator::translation_file(), 0);
    const TranslationMap none;
    uint64_t unwritable = 0;
    for (const Pages pages : {Pages::kNone, Pages::kReal, Pages::kLogical}) {
      for (const TranslationMap* map : {&own, &none}) {
        const Written rows = write(trace, pages, *map);
        const Written each = write(trace, pages, *map, Way::kOneByOne);
        CHECK(rows.bytes == each.bytes);
        CHECK(describe(rows.counts) == describe(each.counts));
        unwritable += rows.counts.unwritable;
      }
    }
    CHECK(unwritable != 0);
  }
}

TEST_CASE("the bytes equal those of qtrace-tools for two published traces, except for the pages") {
  // A load from the kernel's data.
  WordList load;
  load.enter(0xc000000000ea2e4c, 0xea2000).run(0xebed0030, kPower10OnePair);
  load.access(0xc000007ffffef2b0, 0x7ffffef000);
  CHECK(hex(write(load.bytes(), Pages::kNone).bytes) ==
        "00000000000100026000"
        "07010000"
        "c000000000ea2e4c"
        "ebed003008010000"
        "c000007ffffef2b0");
  // A branch back, and its target.
  WordList branch;
  branch.enter(0xc000000000ea080c, 0xea0000).run(0x4bffffe4);
  branch.enter(0xc000000000ea07f0, 0xea0000).run(0x39290001);
  CHECK(hex(write(branch.bytes(), Pages::kNone).bytes) ==
        "00000000000100026000"
        "07010000"
        "c000000000ea080c"
        "4bffffe4e0410000"
        "000008"
        "c000000000ea07f0"
        "3929000100010000");
}

TEST_CASE("each way to the next instruction has its record") {
  struct Row {
    uint32_t opcode;
    uint64_t next;
    std::optional<unsigned> termination;
    bool jumps;
  };
  constexpr uint64_t kEa = 0x10000100;
  const Row rows[] = {
      {0x38210010, kEa + 4, std::nullopt, false},  // addi
      {0x38210010, 0x300, 0x10, true},             // followed by an interrupt
      {0x40820008, kEa + 4, 0x80, false},          // bne, not taken
      {0x40820008, kEa + 8, 0x80, true},           // taken
      {0x48000005, kEa + 4, 0x08, true},           // bl to the following instruction
      {0x429f0005, kEa + 4, 0x08, true},           // bcl 20,31
      {0x4e800020, 0x10000200, 0x08, true},        // blr
      {0x4d820020, kEa + 4, 0x80, false},          // beqlr, not taken
      {0x44000002, 0xc00, 0x08, true},             // sc
      {0x4c000024, 0x10000200, 0x08, true},        // rfid
  };
  for (const Row& row : rows) {
    CAPTURE(row.opcode);
    WordList words;
    words.enter(kEa, 0x5000).run(row.opcode).enter(row.next, 0x5000).run(0x60000000);
    const auto records = QtraceReader(write(words.bytes(), Pages::kReal).bytes).read();
    REQUIRE(records.size() == 2);
    CHECK(records.front().word == row.opcode);
    CHECK(records.front().termination == row.termination);
    CHECK(records.front().jumps == row.jumps);
    CHECK(records.back().ea == row.next);
  }
}

TEST_CASE("pages: entered in sequence, and out of the format's range") {
  WordList words;
  words.enter(0x10000ffc, 0x5000).run(0x60000000);
  words.enter(0x10001000, 0x9000).run(0x60000000);          // another page, no branch
  words.enter(0x2000, 0x8'0000'0000'2000).run(0x48000000);  // 52 bits; the low bits agree
  words.enter(0x3000, 0x8'0000'0000'2000).run(0x60000000);  // the low bits differ
  words.enter(0x4000, 0xfff'ffff'f000).run(0x60000000, kPower10OnePair);  // 44 bits
  words.access(0x123456, 0x8'0000'0000'2000);
  const Written written = write(words.bytes(), Pages::kReal);
  const std::vector<QtraceRecord> records = QtraceReader(written.bytes).read();
  REQUIRE(records.size() == 5);
  CHECK(records.at(0).real == 0x5ffc);
  CHECK(records.at(1).real == 0x9000);
  CHECK_FALSE(records.at(0).jumps);
  CHECK(records.at(2).real == 0x8'0000'0000'2000);
  CHECK(records.at(4).real == 0xfff'ffff'f000);
  CHECK(records.at(4).data_ea == 0x123456);
  CHECK_FALSE(records.at(4).data_real);
  CHECK(written.counts.pages_left_out == 2);
}

TEST_CASE("a new header follows each gap") {
  WordList words;
  words.enter(0x10000100, 0x5000).run(0x60000000);
  words.word(power10_time(kPower10TimeRecordsDropped, 3, 0)).run(0x60000001);
  words.word(0x1234567812345678).enter(0x10000200, 0x5000).run(0x60000002);
  words.word(power10_pause(5)).run(0x60000003);
  words.run(0).run(0x60000005);  // a word that the format cannot record
  const Written written = write(words.bytes(), Pages::kReal);
  const std::vector<QtraceRecord> records = QtraceReader(written.bytes).read();
  REQUIRE(records.size() == 5);
  const uint64_t places[] = {0x10000100, 0x10000104, 0x10000200, 0x10000204, 0x1000020c};
  for (size_t i = 0; i < records.size(); i++) {
    CHECK(records.at(i).first);
    CHECK(records.at(i).ea == places[i]);
    CHECK_FALSE(records.at(i).termination);
  }
  CHECK(written.counts.headers == 5);
  CHECK(written.counts.unwritable == 1);
}

TEST_CASE("prefixed instructions have two records, with the access at the first") {
  WordList words;
  words.enter(0x10000100, 0x5000).run_prefixed(0x04000000, 0, kPower10TwoPairs);
  words.access(0x7ffe, 0x6000).access(0x8000, 0x9000).run(0x60000000);
  const Written written = write(words.bytes(), Pages::kReal);
  const std::vector<QtraceRecord> records = QtraceReader(written.bytes).read();
  REQUIRE(records.size() == 3);
  CHECK(records.at(0).word == 0x04000000);
  CHECK(records.at(0).data_real == 0x6ffe);
  CHECK(records.at(1).word == 0);
  CHECK(records.at(1).ea == 0x10000104);
  CHECK_FALSE(records.at(1).data_ea);
  CHECK(records.at(2).ea == 0x10000108);
  CHECK(written.counts.records == 3);
  CHECK(written.counts.second_accesses == 1);
}

}  // namespace htmtrace
