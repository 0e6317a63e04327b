// SPDX-License-Identifier: GPL-2.0-or-later
// Compares the fast printer with a slow printer, and checks its output errors.
#include "output/print/text_printer.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "output/io/input_file.h"
#include "output/recording/manifest_reader.h"
#include "output/report/decode_report.h"
#include "tests/generator/generated_trace.h"
#include "tests/unit/decoded_text.h"
#include "tests/unit/instruction_run.h"
#include "tests/unit/rounds.h"
#include "tests/unit/without_rows.h"

namespace htmtrace {
namespace {

namespace fs = std::filesystem;

struct TemporaryFile {
  TemporaryFile() {
    std::string name = (fs::temp_directory_path() / "htmtrace-unit-XXXXXX").string();
    const int fd = ::mkstemp(name.data());
    REQUIRE(fd >= 0);
    ::close(fd);
    path = name;
  }
  ~TemporaryFile() { fs::remove(path); }
  fs::path path;
};

std::string content(const fs::path& path) {
  const std::vector<std::byte> bytes = InputFile::open(path).read_all(1 << 26);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A damaged map: the translation changes the offset in the page.
TranslationMap shifted_map() {
  std::vector<uint64_t> words = {0, 0, generator::kOwnBlocks, 0};
  for (uint64_t i = 0; i < generator::kOwnBlocks; i++) {
    const uint64_t logical = i * generator::kBlockBytes;
    words.insert(words.end(),
                 {generator::real_of_logical(logical), logical + 0x78, 0, generator::kBlockBytes});
  }
  return {generator::bytes_of(words), 0};
}

struct NamedLines {
  void instruction(const Instruction& i) {
    lines.instruction(i);
    std::string& text = lines.instructions.back();
    text += " sym=" + word(names.code(i));
    for (unsigned k = 0; k < i.data_count; k++) text += " dsym=" + word(names.data(i.data.at(k)));
    kinds.insert(text.substr(text.find(" sym=") + 5, 2));
    instructions.push_back(i);
  }
  void stamp(const Stamp&) {}
  void defect(const Defect&) {}
  static std::string word(AddressNames::Name name) {
    std::string text(name.text());
    std::erase(text, ' ');
    return text.empty() ? "-" : text;
  }
  std::string text() const {
    std::string all;
    for (const std::string& line : lines.instructions) all += line + "\n";
    return all;
  }
  LineSink lines;
  AddressNames names;
  std::set<std::string> kinds;  // the first two characters of each name of code
  std::vector<Instruction> instructions;
};

// The symbols of a kernel, and of programs that have the words of some of these instructions. The
// recorder saw some of the pages of the programs.
SymbolTable symbols_for(const std::vector<Instruction>& instructions, uint64_t seed) {
  generator::Random random(seed);
  std::map<uint64_t, std::map<uint64_t, uint32_t>> pages;
  std::map<uint64_t, uint64_t> logical;
  std::map<uint64_t, uint64_t> data;  // the user data that the code of a page accessed last
  SymbolTable table;
  constexpr uint64_t kPage = SymbolCursor::kPageBytes;
  for (const Instruction& i : instructions) {
    if (!i.has_ea || !i.has_opcode) continue;
    const uint64_t page = i.ea.value & ~(kPage - 1);
    pages[page].insert_or_assign(i.ea.value, i.has_prefix ? i.prefix : i.opcode);
    if (i.has_prefix) pages[page].insert_or_assign(i.ea.value + 4, i.opcode);
    if (i.has_la) logical.insert_or_assign(page, i.la.value & ~(kPage - 1));
    if (i.data_count == 0 || !owned::is_user(i.data[0].ea.value)) continue;
    data.insert_or_assign(page, i.data[0].ea.value & ~(kPage - 1));
  }
  PageOwners owners;
  for (const auto& [page, words] : pages) {
    const std::string name = random.chance(100) ? std::string(70, 'n') : "";
    if (!owned::is_user(page)) {
      table.end_program();
      table.add({page + 8, kPage / 2, "k" + name + (random.chance(300) ? " [module]" : "")});
      continue;
    }
    if (random.chance(300) || table.programs().size() > 100) continue;
    const uint64_t inode = table.programs().size() + 1;
    SymbolTable::Text text{.address = page, .words = std::vector<uint32_t>(kPage / 4, kNop)};
    for (const auto& [address, word] : words) {
      if (address - page >= kPage || random.chance(100)) continue;
      text.words.at((address - page) / 4) = word;
    }
    const bool has_data = random.chance(200) && data.contains(page) && data.at(page) > page;
    table.begin_program({.file = "file",
                         .path = "/file",
                         .inode = inode,
                         .is_main = has_data || random.chance(500),
                         .begin = page,
                         .end = (has_data ? data.at(page) : page) + kPage,
                         .loads = {{.address = page, .offset = 0, .size_bytes = kPage}},
                         .texts = {std::move(text)}});
    table.add({page, 0x40, "u" + name});
    table.add({page + 0x80, kPage - 0x80, "v" + name});
    if (has_data) table.add({data.at(page), kPage, "data", SymbolTable::Kind::kObject});
    if ((random.chance(500) && !has_data) || !logical.contains(page)) continue;
    owners.add({.la = logical.at(page),
                .size_bytes = kPage,
                .ea = page,
                .process = owners.add_process(),
                .file = owners.file_number("/file", inode)});
  }
  owners.finish();
  table.set_pages(std::move(owners));
  table.finish();
  return table;
}

// Random instructions in a few pages. The first two pages share an entry of SymbolCursor's
// cache. Some instructions have a prefix, and some lack the logical address or the modes.
std::vector<Instruction> in_few_pages(uint64_t seed) {
  constexpr uint64_t kCacheBytes = uint64_t{512} * SymbolCursor::kPageBytes;
  constexpr std::array kPages = {uint64_t{0x10000000}, 0x10000000 + kCacheBytes,
                                 uint64_t{0x20003000}, uint64_t{0xc000000000005000}};
  generator::Random random(seed);
  std::vector<Instruction> instructions;
  for (int i = 0; i < 3000; i++) {
    const uint64_t page = kPages.at(random.below(kPages.size()));
    Instruction instruction = one(page + 4 * random.below(64), kNop);
    instruction.has_prefix = random.chance(100);
    instruction.prefix = 0x06000000;
    instruction.has_ra = true;
    instruction.ra = {instruction.ea.value % (4 * kCacheBytes)};
    instruction.has_la = !random.chance(100);
    instruction.la = {instruction.ra.value};
    instruction.modes = {.bits = owned::is_user(page) ? Modes::kPr : uint16_t{0},
                         .known = random.chance(100) ? uint16_t{0} : Modes::kAll};
    if (random.chance(200)) instruction.add_data({kPages.at(random.below(kPages.size()))});
    instructions.push_back(instruction);
  }
  return instructions;
}

ManifestFacts manifest(const std::string& text) {
  return read_manifest(std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace

TEST_CASE("hexadecimal digits are correct") {
  generator::Random random(1);
  for (int i = 0; i < 100000; i++) {
    const uint64_t value = random.next() >> random.below(64);
    std::array<char, 16> digits{};
    REQUIRE(put_hex64(digits.data(), value) == digits.data() + digits.size());
    REQUIRE(std::string(digits.data(), digits.size()) == fmt::format("{:016x}", value));
  }
}

TEST_CASE("put_short_text() copies texts of any length") {
  const std::string text = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ";
  for (size_t size = 0; size <= text.size(); size++) {
    std::string copy(text.size() + 2, '.');
    const char* const end = put_short_text(copy.data() + 1, std::string_view(text).substr(0, size));
    CHECK(end == copy.data() + 1 + size);
    CHECK(copy == "." + text.substr(0, size) + std::string(text.size() + 1 - size, '.'));
  }
}

TEST_CASE("the printed text matches the decoded instructions") {
  std::vector<uint64_t> words;
  generator::Power10Program program(5, {});
  // More text than one buffer holds.
  for (int i = 0; i < 8000; i++) program.next(words, false);
  const std::vector<std::byte> trace = generator::bytes_of(words);
  const TranslationMap own(generator::translation_file(), 0);
  const TranslationMap none;
  const TranslationMap shifted = shifted_map();
  const TemporaryFile file;
  for (const TranslationMap* map : {&own, &none, &shifted}) {
    for (const size_t piece : {trace.size(), size_t{4100}}) {
      TextOutput output = TextOutput::create(file.path, Existing::kReplace);
      TextPrinter printer(output, {});
      CoreDecoder decoder(*map, printer);
      for (size_t at = 0; at < trace.size(); at += piece) {
        decoder.feed(std::span(trace).subspan(at, std::min(piece, trace.size() - at)));
      }
      decoder.finish();
      output.finish();
      std::string expected;
      for (const std::string& line : decode_lines(trace, *map).lines.instructions) {
        expected += line + "\n";
      }
      CHECK(content(file.path) == expected);
      CHECK(describe(decoder.statistics()) == describe(decode_lines(trace, *map).statistics));
    }
  }
}

TEST_CASE("the names are the same with and without rows") {
  unsigned own_data = 0;  // rounds with names of data
  for (uint64_t seed = 1; seed <= rounds(8); seed++) {
    std::vector<uint64_t> words;
    generator::Power10Program program(seed, {.stamps_per_mille = seed % 2 == 0 ? 0U : 20U});
    for (int i = 0; i < 3000; i++) program.next(words, false);
    const std::vector<std::byte> trace = generator::bytes_of(words);
    const TranslationMap map =
        seed % 4 == 3 ? shifted_map() : TranslationMap(generator::translation_file(), 0);
    const auto decode = [&](auto& sink) {
      CoreDecoder decoder(map, sink);
      decoder.feed(trace);
      decoder.finish();
    };
    SymbolTable none;
    none.finish();
    NamedLines nameless{.lines = {}, .names = AddressNames(&none), .kinds = {}, .instructions = {}};
    decode(nameless);
    const SymbolTable symbols = symbols_for(nameless.instructions, seed);
    NamedLines expected{
        .lines = {}, .names = AddressNames(&symbols), .kinds = {}, .instructions = {}};
    decode(expected);
    CHECK(expected.kinds.contains("k+"));
    CHECK(expected.kinds.contains("u+"));
    CHECK(expected.kinds.contains("v+"));
    CHECK(expected.text().find('?') != std::string::npos);  // an unproven owner
    own_data += expected.text().find(" dsym=data+") == std::string::npos ? 0 : 1;
    // The buffer of TextOutput::memory() moves when it grows, even in the middle of a line with a
    // long name.
    const TemporaryFile file;
    {
      TextOutput output = TextOutput::create(file.path, Existing::kReplace);
      TextOutput memory = TextOutput::memory();
      TextPrinter printer(output, {.symbols = &symbols});
      TextPrinter memory_printer(memory, {.symbols = &symbols});
      REQUIRE(printer.in_named_rows());
      decode(printer);
      decode(memory_printer);
      output.finish();
      CHECK(memory.text() == expected.text());
    }
    CHECK(content(file.path) == expected.text());
    {
      TextOutput output = TextOutput::create(file.path, Existing::kReplace);
      TextPrinter printer(output, {.symbols = &symbols});
      WithoutRows each(printer);
      decode(each);
      output.finish();
    }
    CHECK(content(file.path) == expected.text());
  }
  CHECK(own_data != 0);
}

TEST_CASE("the names do not depend on the order of pages") {
  std::set<std::string> kinds;
  for (uint64_t seed = 1; seed <= rounds(20); seed++) {
    const std::vector<Instruction> instructions = in_few_pages(seed);
    const SymbolTable symbols = symbols_for(instructions, seed);
    NamedLines expected{
        .lines = {}, .names = AddressNames(&symbols), .kinds = {}, .instructions = {}};
    TextOutput output = TextOutput::memory();
    TextPrinter printer(output, {.symbols = &symbols});
    for (const Instruction& instruction : instructions) {
      expected.instruction(instruction);
      printer.instruction(instruction);
    }
    CHECK(output.text() == expected.text());
    kinds.merge(expected.kinds);
  }
  CHECK(kinds.contains("u+"));
  CHECK(kinds.contains("k+"));
}

TEST_CASE("an existing file is replaced only on request") {
  const TemporaryFile file;
  CHECK_THROWS_AS(TextOutput::create(file.path, Existing::kRefuse), Error);
  TextOutput::create(file.path, Existing::kReplace).finish();
}

TEST_CASE("a full disk is an error, and a closed reader is not") {
  if (fs::exists("/dev/full")) {
    TextOutput full = TextOutput::create("/dev/full", Existing::kReplace);
    full.put("text");
    CHECK_THROWS_AS(full.finish(), Error);
  }
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  ::close(ends[0]);
  std::signal(SIGPIPE, SIG_IGN);
  TextOutput gone = TextOutput::create(fmt::format("/dev/fd/{}", ends[1]), Existing::kReplace);
  ::close(ends[1]);
  gone.put("text");
  gone.finish();
  CHECK(gone.reader_gone());
}

TEST_CASE("the partition is read from the manifest") {
  CHECK(manifest(R"({"version": 1, "partition_id": 12})").partition_id == 12);
  CHECK_FALSE(manifest(R"({"partition_id": null})").partition_id);
  CHECK(manifest(R"({"partition_id": null})").problem.empty());
  for (const char* text : {"", "{", "[]", "12", R"({"partition_id": -1})",
                           R"({"partition_id": "x"})", R"({"partition_id": 4294967296})"}) {
    CHECK_FALSE(manifest(text).partition_id);
    CHECK_FALSE(manifest(text).problem.empty());
  }
}

TEST_CASE("the last line states bytes, instructions, losses and defects") {
  CoreStatistics statistics;
  statistics.bytes = 24;
  statistics.instructions = {1, 2};
  statistics.loss_stamps = 4;
  statistics.add(Defect{8, 16, DefectReason::kUnknownWord});
  statistics.add(Defect{64, 8, DefectReason::kUnknownWord});
  DecodeTotals totals;
  totals.add(statistics);
  CHECK(describe(totals) == "24 bytes, 3 instructions, 4 losses, 2 defects");
  CHECK(describe(statistics).find("defect: unknown word") != std::string::npos);
  CHECK(describe(statistics).find("(24 bytes) at 0x8 0x40\n") != std::string::npos);
}

}  // namespace htmtrace
