// SPDX-License-Identifier: GPL-2.0-or-later
// Passages of known length.
#include "core/analysis/passages.h"

#include <doctest/doctest.h>

#include <string>

#include "cli/traces/named_symbols.h"
#include "core/base/error.h"

namespace htmtrace {
namespace {

constexpr uint64_t kMeasured = 0xc000000000001000;  // with a local entry after 8 bytes
constexpr uint64_t kFinish = 0xc000000000002000;
constexpr uint64_t kOther = 0xc000000000003000;

SymbolTable three_functions() {
  SymbolTable table;
  table.add({.address = kMeasured, .size_bytes = 0x100, .name = "work", .local_entry_bytes = 8});
  table.add({.address = kFinish, .size_bytes = 0x100, .name = "finish"});
  table.add({.address = kOther, .size_bytes = 0x100, .name = "other"});
  table.finish();
  return table;
}

// Sends events to a Passages as a SelectingSink does.
class Feed {
 public:
  Feed(const SymbolTable& table, const std::string& from, const std::string& to)
      : from_(resolve_place(from, "--between", table, true)),
        to_(resolve_place(to, "--between", table, true)),
        passages(table, from_, to_) {}

  void run(uint64_t ea, unsigned count = 1) {
    for (unsigned i = 0; i < count; i++) {
      Instruction instruction;
      instruction.ea = {ea + uint64_t{4} * i};
      instruction.has_ea = true;
      passages.at(place_);
      passages.instruction(instruction);
      place_.instructions++;
    }
  }
  void time(uint32_t elapsed, bool overflow = false) {
    Stamp stamp;
    stamp.kind = StampKind::kTime;
    stamp.elapsed = elapsed;
    stamp.losses.elapsed_overflow = overflow;
    place_.ticks += elapsed;
    passages.stamp(stamp);
  }
  void lose() {
    Stamp stamp;
    stamp.kind = StampKind::kTime;
    stamp.losses.records = 3;
    passages.stamp(stamp);
  }
  void end() {
    passages.at(place_);
    passages.end_trace();
    place_ = {};
  }

 private:
  CodePlace from_;
  CodePlace to_;
  TracePlace place_;

 public:
  Passages passages;
};

uint64_t bounds_of(const PassageLengths& lengths, uint64_t length) {
  return lengths.at_least.at(static_cast<size_t>(std::bit_width(length)));
}

}  // namespace

TEST_CASE("a passage counts the instructions from the begin up to the end") {
  const SymbolTable table = three_functions();
  Feed feed(table, "work", "finish");
  feed.run(kFinish);  // no passage is open
  for (const unsigned others : {3U, 10U, 5U}) {
    feed.run(kMeasured);
    feed.run(kOther, others);
    feed.run(kFinish, 2);
  }
  feed.end();
  const PassageLengths& lengths = feed.passages.instructions();
  CHECK(feed.passages.passages() == 3);
  CHECK(feed.passages.cut_passages() == 0);
  CHECK(feed.passages.begins() == 3);
  CHECK(feed.passages.ends() == 4);
  CHECK(lengths.least == 4);
  CHECK(lengths.most == 11);
  CHECK(lengths.sum == 4 + 11 + 6);
  CHECK(lengths.exact[3] == 2);  // 4 and 6
  CHECK(lengths.exact[4] == 1);
}

TEST_CASE("the longest passages have the numbers of their instructions") {
  const SymbolTable table = three_functions();
  Feed feed(table, "work", "finish");
  CHECK_FALSE(feed.passages.most_instructions());
  const auto passage = [&](unsigned between, uint32_t ticks) {
    feed.time(1);
    feed.run(kMeasured);
    feed.run(kOther, between);
    feed.time(ticks);
    feed.run(kFinish);
  };
  passage(2, 900);  // instructions 0 to 3
  passage(9, 70);   // instructions 4 to 14
  passage(9, 70);
  REQUIRE(feed.passages.most_instructions());
  CHECK(feed.passages.most_instructions()->begin == 4);
  CHECK(feed.passages.most_instructions()->end == 14);
  CHECK(feed.passages.most_instructions()->trace == 0);
  CHECK(feed.passages.most_instructions()->length == 10);
  REQUIRE(feed.passages.most_ticks());
  CHECK(feed.passages.most_ticks()->begin == 0);
  CHECK(feed.passages.most_ticks()->end == 3);
  CHECK(feed.passages.most_ticks()->length == 900);
  feed.end();
  passage(20, 5);
  CHECK(feed.passages.most_instructions()->trace == 1);
  CHECK(feed.passages.most_ticks()->trace == 0);
}

TEST_CASE("a repeated begin starts the passage again") {
  const SymbolTable table = three_functions();
  Feed feed(table, "work", "finish");
  feed.run(kMeasured);
  feed.run(kOther, 20);
  feed.run(kMeasured);
  feed.run(kOther, 2);
  feed.run(kFinish);
  CHECK(feed.passages.passages() == 1);
  CHECK(feed.passages.begun_again() == 1);
  CHECK(feed.passages.instructions().sum == 3);
}

TEST_CASE("the same function can begin and end passages") {
  const SymbolTable table = three_functions();
  Feed feed(table, "finish", "finish");
  for (int i = 0; i < 4; i++) {
    feed.run(kFinish);
    feed.run(kOther, 6);
  }
  feed.end();
  CHECK(feed.passages.passages() == 3);
  CHECK(feed.passages.instructions().sum == 3 * 7);
  CHECK(feed.passages.cut_passages() == 1);
  CHECK(feed.passages.begun_again() == 0);
}

TEST_CASE("an execution that enters at the global entry passes the local entry once") {
  const SymbolTable table = three_functions();
  Feed feed(table, "work", "finish");
  feed.run(kMeasured, 5);
  feed.run(kFinish);
  feed.run(kMeasured + 8, 5);
  feed.run(kFinish);
  CHECK(feed.passages.begins() == 2);
  CHECK(feed.passages.begun_again() == 0);
  CHECK(feed.passages.instructions().sum == 10);
  Feed place(table, "work+8", "finish");
  place.run(kMeasured, 5);
  place.run(kFinish);
  CHECK(place.passages.instructions().sum == 3);
}

TEST_CASE("a loss, a defect and the end of a trace cut a passage: its length is a lower bound") {
  const SymbolTable table = three_functions();
  Feed feed(table, "work", "finish");
  feed.run(kMeasured);
  feed.run(kOther, 8);
  feed.lose();
  feed.run(kFinish);  // belongs to no known begin
  feed.run(kMeasured);
  feed.run(kOther);
  feed.passages.defect({});
  feed.run(kFinish);
  feed.run(kMeasured);
  feed.end();
  feed.run(kFinish);  // of the next trace
  CHECK(feed.passages.passages() == 0);
  CHECK(feed.passages.cut_passages() == 3);
  CHECK(bounds_of(feed.passages.instructions(), 9) == 1);
  CHECK(bounds_of(feed.passages.instructions(), 2) == 1);
  CHECK(bounds_of(feed.passages.instructions(), 1) == 1);
}

TEST_CASE("ticks are exact only if stamps precede both ends directly") {
  const SymbolTable table = three_functions();
  const auto passage = [&](bool stamp_at_begin, bool stamp_at_end, bool overflow) {
    Feed feed(table, "work", "finish");
    feed.run(kOther);
    feed.time(1000);
    if (!stamp_at_begin) feed.run(kOther);
    feed.run(kMeasured);
    feed.run(kOther);
    feed.time(10, overflow);
    feed.run(kOther);
    feed.time(100);
    if (!stamp_at_end) feed.run(kOther);
    feed.run(kFinish);
    return feed.passages.ticks();
  };
  CHECK(passage(true, true, false).sum == 110);
  CHECK(passage(true, true, false).count == 1);
  // The passage may have begun directly ahead of the first stamp in it.
  CHECK(bounds_of(passage(false, true, false), 100) == 1);
  CHECK(bounds_of(passage(true, false, false), 110) == 1);
  CHECK(bounds_of(passage(true, true, true), 110) == 1);
  CHECK(passage(false, false, false).count == 0);
  // Without a stamp in the passage, nothing is known.
  Feed feed(table, "work", "finish");
  feed.time(50);
  feed.run(kOther);
  feed.run(kMeasured);
  feed.run(kFinish);
  CHECK(feed.passages.ticks().at_least[0] == 1);
}

TEST_CASE("FROM,TO is split between two names") {
  SymbolTable table;
  table.add({.address = 0x1000, .size_bytes = 4, .name = "f(int, long)"});
  table.add({.address = 0x2000, .size_bytes = 4, .name = "g"});
  table.finish();
  CHECK(split_names("f(int, long),g", table) ==
        std::pair<std::string, std::string>("f(int, long)", "g"));
  CHECK(split_names("g,f(int, long)", table) ==
        std::pair<std::string, std::string>("g", "f(int, long)"));
  CHECK(split_names("a,b", table) == std::pair<std::string, std::string>("a", "b"));
}

}  // namespace htmtrace
