// SPDX-License-Identifier: GPL-2.0-or-later
// Walks of a modeled machine with known addresses of all guest and host page tables. Like a
// processor, the model omits table entries that it has already recorded. The completed walks must
// match the model.
#include "core/core_trace/walk_tracker.h"

#include <doctest/doctest.h>

#include <set>
#include <tuple>

#include "output/print/text_printer.h"
#include "tests/encoder/power10.h"
#include "tests/generator/generated_trace.h"
#include "tests/unit/decoded_text.h"
#include "tests/unit/rounds.h"

namespace htmtrace {
namespace {

using generator::Random;

constexpr uint64_t kPageOffset = 0xfff;
constexpr uint64_t kNestedUser = 0x800000000000d033;  // HV=0, PR, EE, IR, DR, LE, SF
constexpr uint64_t kBareUser = 0x900000000000d033;    // the same with HV
constexpr uint64_t kRealMsr = 0x8000000000001003;     // HV=0, no relocation

uint64_t mixed(uint64_t a, uint64_t b) {
  return Random(a * 0x100000001b3 ^ b).next();
}

// A tree of tables. Finds the address of an entry on each level, and the page size at an address.
struct Tree {
  uint64_t seed;
  uint64_t table_mask;  // mask of the addresses of this tree's tables

  unsigned page_shift(uint64_t address, const std::vector<unsigned>& sizes) const {
    return sizes.at(mixed(seed, address >> 30) % sizes.size());
  }
  uint64_t entry(unsigned level, uint64_t address) const {
    const unsigned parent = level == 0 ? 63 : kTreeShifts.at(level - 1);
    const uint64_t table = mixed(seed + level + 1, address >> parent) & table_mask & ~kPageOffset;
    return table | ((address >> kTreeShifts.at(level) & 0x1ff) << 3);
  }
  uint64_t translate(uint64_t address, unsigned shift) const {
    const uint64_t offset = (uint64_t{1} << shift) - 1;
    return (mixed(seed + 9, address >> shift) & table_mask & ~offset) | (address & offset);
  }
};

class Machine {
 public:
  enum class Mode : uint8_t { kNested, kBare, kGuestReal };
  Machine(uint64_t seed, Mode mode) : random_(seed), mode_(mode), seed_(seed) {}

  uint64_t msr() const {
    return mode_ == Mode::kNested ? kNestedUser : (mode_ == Mode::kBare ? kBareUser : kRealMsr);
  }

  // Appends the words of an XLATE for `ea`, with known entries omitted at random. Also returns the
  // whole walk.
  uint64_t access(uint64_t ea, bool data_side, std::vector<uint64_t>& words, Walk& expected) {
    expected = {};
    words.push_back(power10_xlate(data_side, kLpid, kPid));
    const bool hot = random_.chance(600);  // a cached walk keeps only its last leg
    expected.partition = 0x1000 + kLpid * 16;
    if (!omit(mixed(1, 1), hot))
      words.push_back(power10_walk(kPower10WalkHost, 7, expected.partition));
    if (mode_ != Mode::kGuestReal) {
      guest_leg(expected, WalkLegKind::kProcess, 0x2000 + uint64_t{kPid} * 16, hot, words);
    }
    uint64_t guest = ea & 0x3fffffffffffffff;
    if (mode_ == Mode::kNested) guest = guest_tree(ea, hot, expected, words);
    WalkLeg& last = expected.leg(WalkLegKind::kFinal);
    if (mode_ == Mode::kBare) {
      const unsigned shift = bare_.page_shift(ea, {12, 16, 21, 30});
      host_walk(bare_, ea, shift, false, 7, last, words);
      finish_leg(bare_, ea, shift, expected, words);
    } else {
      last.guest = guest;
      last.has_guest = true;
      const unsigned shift = host_.page_shift(guest, {12, 16, 21, 30});
      host_walk(host_, guest, shift, false, 0, last, words);
      finish_leg(host_, guest, shift, expected, words);
    }
    words.push_back(power10_walk_end());
    return last.host;
  }

  static constexpr unsigned kLpid = 5;
  static constexpr unsigned kPid = 1234;

 private:
  // Returns whether the entry with this key is known and now omitted.
  bool omit(uint64_t key, bool wanted) { return !seen_.insert(key).second && wanted; }

  uint64_t guest_tree(uint64_t ea, bool hot, Walk& expected, std::vector<uint64_t>& words) {
    const unsigned shift = guest_.page_shift(ea >> 10, {12, 16, 21});
    const unsigned leaf = leaf_level(shift);
    for (unsigned level = 0; level <= leaf; level++) {
      const auto kind = static_cast<WalkLegKind>(level + 1);
      guest_leg(expected, kind, guest_.entry(level, ea), hot && level != leaf, words);
    }
    expected.guest_shift = static_cast<uint8_t>(shift);
    const uint64_t guest = guest_.translate(ea, shift);
    words.push_back(power10_walk(kPower10WalkFinal | kPower10WalkGuest, code_of(shift),
                                 guest & ~((uint64_t{1} << shift) - 1)));
    return guest;
  }

  void guest_leg(Walk& expected, WalkLegKind kind, uint64_t guest, bool hot,
                 std::vector<uint64_t>& words) {
    static constexpr unsigned kCodes[] = {7, 6, 4, 2, 0};
    const unsigned code = kCodes[static_cast<size_t>(kind)];
    WalkLeg& leg = expected.leg(kind);
    leg.guest = guest;
    leg.has_guest = true;
    const unsigned shift = host_.page_shift(guest, {12, 16, 21, 30});
    const bool whole = omit(mixed(2 + code, guest), hot);
    std::vector<uint64_t> unused;
    std::vector<uint64_t>& to = whole ? unused : words;
    to.push_back(power10_walk(kPower10WalkGuest, code, guest));
    host_walk(host_, guest, shift, hot, 0, leg, to);
    leg.host = host_.translate(guest, shift);
    leg.has_host = true;
    to.push_back(power10_walk(kPower10WalkGuest | kPower10WalkHost, code, leg.host));
  }

  // Known entries are omitted only from the root on, as in a page-walk cache.
  void host_walk(const Tree& tree, uint64_t address, unsigned shift, bool hot, uint64_t space,
                 WalkLeg& leg, std::vector<uint64_t>& words) {
    bool left_out = hot || random_.chance(300);
    for (unsigned level = 0; level <= leaf_level(shift); level++) {
      leg.entries.at(level) = tree.entry(level, address);
      leg.told |= static_cast<uint8_t>(1U << level);
      const bool leaf = level == leaf_level(shift);
      const uint64_t key = mixed(100 + level + space, address >> kTreeShifts.at(level));
      left_out = omit(key, left_out) && (!leaf || hot);
      if (!left_out)
        words.push_back(power10_walk(kPower10WalkHost, 6 - 2 * level, leg.entries.at(level)));
    }
  }

  static void finish_leg(const Tree& tree, uint64_t address, unsigned shift, Walk& expected,
                         std::vector<uint64_t>& words) {
    WalkLeg& last = expected.leg(WalkLegKind::kFinal);
    const uint64_t offset = (uint64_t{1} << shift) - 1;
    expected.host_shift = static_cast<uint8_t>(shift);
    expected.ra = RealAddr{tree.translate(address, shift)};
    last.host = expected.ra.value & ~offset;
    last.has_host = true;
    words.push_back(power10_walk(kPower10WalkFinal | kPower10WalkGuest | kPower10WalkHost,
                                 code_of(shift), last.host));
  }

  static unsigned code_of(unsigned shift) {
    return shift == 12 ? 0 : (shift == 16 ? 1 : (shift == 21 ? 2 : 4));
  }

  Random random_;
  Mode mode_;
  uint64_t seed_;
  Tree guest_{seed_ * 3 + 1, 0x0000003fffffffff};
  Tree host_{seed_ * 3 + 2, 0x0003ffffffffffff};
  Tree bare_{seed_ * 3 + 3, 0x0003ffffffffffff};
  std::set<uint64_t> seen_;
};

struct WalkSink {
  void instruction(const Instruction&) { instructions++; }
  void stamp(const Stamp&) {}
  void defect(const Defect&) { defects++; }
  void walk(const Walk& walk) { walks.push_back(walk); }
  std::vector<Walk> walks;
  int instructions = 0;
  int defects = 0;
};

// All present entries must match the model. Returns whether the walk is complete.
bool agrees(const Walk& walk, const Walk& expected) {
  bool whole = walk.has_partition;
  if (walk.has_partition) REQUIRE(walk.partition == expected.partition);
  REQUIRE(walk.guest_shift == expected.guest_shift);
  REQUIRE(walk.host_shift == expected.host_shift);
  for (unsigned i = 0; i < kWalkLegs; i++) {
    const WalkLeg& leg = walk.legs.at(i);
    const WalkLeg& model = expected.legs.at(i);
    CAPTURE(kWalkLegNames.at(i));
    if (!model.there()) REQUIRE_FALSE(leg.there());
    if (leg.has_guest) REQUIRE(leg.guest == model.guest);
    if (leg.has_host) REQUIRE(leg.host == model.host);
    whole &= leg.has_host == model.has_host && leg.has_guest == model.has_guest;
    for (unsigned level = 0; level < kTreeLevels; level++) {
      if (leg.has_entry(level)) {
        REQUIRE((model.told >> level & 1) != 0);
        REQUIRE(leg.entries.at(level) == model.entries.at(level));
      }
      whole &= leg.has_entry(level) == model.has_entry(level);
    }
  }
  return whole;
}

struct Outcome {
  unsigned walks = 0, complete = 0;
};

Outcome run(uint64_t seed, Machine::Mode mode, unsigned instructions) {
  Machine machine(seed, mode);
  Random random(seed);
  std::vector<uint64_t> words;
  std::vector<Walk> expected;
  for (unsigned i = 0; i < instructions; i++) {
    const uint64_t ea = 0x10000000 + random.below(40) * 0x3000 + random.below(3) * 0x40000000;
    const uint64_t dea = 0x7fff00000000 + random.below(200) * 0x5008 + random.below(4) * 0x20000000;
    Walk fetch, load;
    machine.access(ea, false, words, fetch);
    const size_t line = words.size();
    words.resize(line + kPower10IearaWords);
    power10_ieara(words.data() + line, ea, fetch.ra.value);
    machine.access(dea, true, words, load);
    words.push_back(power10_info(0xe8640000, ea, false, false, kPower10OnePair));
    words.push_back(power10_msr(machine.msr()));
    words.push_back(dea);
    words.push_back(power10_dra(load.ra.value));
    expected.push_back(fetch);
    expected.push_back(load);
  }
  WalkSink sink;
  const TranslationMap map;
  CoreDecoder decoder(map, sink);
  decoder.follow_walks();
  const std::vector<std::byte> trace = generator::bytes_of(words);
  decoder.feed(trace);
  decoder.finish();
  REQUIRE(sink.defects == 0);
  REQUIRE(sink.walks.size() == expected.size());
  Outcome outcome;
  for (size_t i = 0; i < expected.size(); i++) {
    CAPTURE(i);
    REQUIRE(sink.walks.at(i).use == WalkUse::kAccess);
    const bool whole = agrees(sink.walks.at(i), expected.at(i));
    REQUIRE(sink.walks.at(i).complete == whole);
    outcome.walks++;
    outcome.complete += whole ? 1 : 0;
  }
  CHECK(decoder.statistics().walks.accesses == outcome.walks);
  CHECK(decoder.statistics().walks.complete == outcome.complete);
  return outcome;
}

}  // namespace

TEST_CASE("nested walks are completed from earlier walks, never wrongly") {
  for (uint64_t seed = 0; seed < rounds(4); seed++) {
    const Outcome outcome = run(seed, Machine::Mode::kNested, 2000);
    CHECK(outcome.complete > outcome.walks * 9 / 10);  // tables of constant size drop some entries
  }
}

TEST_CASE("walks without a hypervisor, and walks of a guest without relocation, are completed") {
  const Outcome bare = run(7, Machine::Mode::kBare, 1000);
  CHECK(bare.complete > bare.walks * 9 / 10);
  const Outcome real = run(8, Machine::Mode::kGuestReal, 1000);
  CHECK(real.complete > real.walks * 9 / 10);
}

TEST_CASE("walks without an instruction are reported as interrupted") {
  Machine machine(1, Machine::Mode::kNested);
  std::vector<uint64_t> words;
  Walk walk;
  machine.access(0x1000, true, words, walk);
  words.resize(words.size() + kPower10IearaWords);
  power10_ieara(words.data() + words.size() - kPower10IearaWords, 0x10000000, 0x5000);
  machine.access(0x2000, true, words, walk);
  words.push_back(power10_info(0x60000000, 0x10000000, false, false, kPower10NoOperand));
  words.push_back(power10_msr(machine.msr()));
  machine.access(0x3000, false, words, walk);
  WalkSink sink;
  const TranslationMap map;
  CoreDecoder decoder(map, sink);
  decoder.follow_walks();
  const std::vector<std::byte> trace = generator::bytes_of(words);
  for (const std::byte& byte : trace) decoder.feed({&byte, 1});
  decoder.finish();
  REQUIRE(sink.walks.size() == 3);
  for (const Walk& found : sink.walks) {
    CHECK(found.use == WalkUse::kInterrupted);
    CHECK_FALSE(found.has_address);
  }
  CHECK(decoder.statistics().walks.interrupted == 3);
}

}  // namespace htmtrace
