// SPDX-License-Identifier: GPL-2.0-or-later
// Executions, outcomes of branches, data and ticks by instruction address.
#include "core/analysis/address_counts.h"

#include <doctest/doctest.h>

#include "tests/unit/instruction_run.h"

namespace htmtrace {
namespace {

// Power ISA 3.1: bc 16,0,-8 (bdnz); bcctr 4,2 (bnectr).
constexpr uint32_t kCountedBack = 0x4200fff8, kToCounter = 0x4c820420;

Stamp elapsed_stamp(uint32_t elapsed) {
  Stamp stamp;
  stamp.kind = StampKind::kTime;
  stamp.elapsed = elapsed;
  return stamp;
}

class CountedAddresses {
 public:
  AddressCount of(uint64_t key) const {
    for (const auto& slot : counts.counts().entries()) {
      if (slot.key == key) return slot.entry;
    }
    return {};
  }
  SymbolTable symbols;
  AddressCounts counts{64, symbols};
};

}  // namespace

TEST_CASE("the next instruction shows whether a branch was taken") {
  CountedAddresses all;
  for (int i = 0; i < 3; i++) {
    all.counts.instruction(one(0x1000, kNop));
    all.counts.instruction(one(0x1004, kNop));
    all.counts.instruction(one(0x1008, kCountedBack));  // to 0x1000
  }
  all.counts.instruction(one(0x100c, kBlr));
  all.counts.instruction(one(0x2000, kToCounter));
  all.counts.instruction(one(0x2004, kToCounter));
  all.counts.instruction(one(0x3000, kNop));
  CHECK(all.of(0x1000).count == 3);
  CHECK(all.of(0x1008).taken == 2);
  CHECK(all.of(0x1008).not_taken == 1);
  CHECK(all.of(0x100c).taken == 1);
  CHECK(all.of(0x2000).not_taken == 1);
  CHECK(all.of(0x2004).taken == 1);
  CHECK(all.counts.instructions() == 13);
}

TEST_CASE("an interrupt, a loss, a defect and the end of a trace hide the outcome") {
  CountedAddresses all;
  constexpr uint64_t kInterrupt = 0xc000000000004500;
  all.counts.instruction(one(0x1008, kCountedBack));
  all.counts.instruction(one(kInterrupt, kNop));
  all.counts.instruction(one(0x1008, kBlr));
  all.counts.instruction(one(kInterrupt, kNop));
  Stamp loss;
  loss.losses.records = 1;
  all.counts.instruction(one(0x1008, kCountedBack));
  all.counts.stamp(loss);
  all.counts.instruction(one(0x1000, kNop));
  all.counts.instruction(one(0x1008, kCountedBack));
  all.counts.defect({});
  all.counts.instruction(one(0x1000, kNop));
  all.counts.instruction(one(0x1008, kCountedBack));
  all.counts.end_trace();
  all.counts.instruction(one(0x1000, kNop));
  CHECK(all.of(0x1008).count == 5);
  CHECK(all.of(0x1008).taken == 0);
  CHECK(all.of(0x1008).not_taken == 0);
}

TEST_CASE("an instruction that is not selected shows the outcome, and has its share of the time") {
  CountedAddresses all;
  all.counts.instruction(one(0x1008, kCountedBack));
  all.counts.unselected(one(0x1000, kNop));
  all.counts.stamp(elapsed_stamp(10));
  CHECK(all.of(0x1008).taken == 1);
  CHECK(all.of(0x1008).ticks() == 5);
  CHECK(all.of(0x1000).count == 0);
}

TEST_CASE("the instructions between two stamps share the time") {
  CountedAddresses all;
  CHECK_FALSE(all.counts.has_ticks());
  all.counts.instruction(one(0x1000, kNop));
  all.counts.stamp(elapsed_stamp(7));
  for (int i = 0; i < 3; i++) all.counts.instruction(one(0x1004, kNop));
  all.counts.instruction(one(0x1000, kNop));
  all.counts.stamp(elapsed_stamp(100));
  all.counts.stamp(elapsed_stamp(100));  // no instruction
  CHECK(all.of(0x1000).ticks() == 32);
  CHECK(all.of(0x1004).ticks() == 75);
  CHECK(all.counts.unshared_ticks() == 0);
  CHECK(all.counts.has_ticks());
}

TEST_CASE("no ticks disappear if a stamp has far more instructions than ticks") {
  CountedAddresses all;
  constexpr unsigned kStamps = 3000, kInstructions = 700;
  for (unsigned i = 0; i < kStamps; i++) {
    for (unsigned k = 0; k < kInstructions; k++) all.counts.instruction(one(0x1000, kNop));
    all.counts.stamp(elapsed_stamp(1));
  }
  CHECK(all.of(0x1000).ticks() >= kStamps - 1);
  CHECK(all.of(0x1000).ticks() <= kStamps);
}

TEST_CASE("data: the lowest and the highest address") {
  CountedAddresses all;
  Instruction load = one(0x1000, kNop);
  load.add_data({0x5008});
  all.counts.instruction(load);
  load.clear();
  load = one(0x1000, kNop);
  load.add_data({0x5000});
  load.add_data({0x5010});
  all.counts.instruction(load);
  CHECK(all.of(0x1000).data == 3);
  CHECK(all.of(0x1000).lowest_ea == 0x5000);
  CHECK(all.of(0x1000).highest_ea == 0x5010);
  CHECK(all.counts.data_accesses() == 3);
}

TEST_CASE("another word at an address, and an instruction without an address") {
  CountedAddresses all;
  all.counts.instruction(one(0x1000, kNop));
  CHECK_FALSE(all.of(0x1000).rewritten);
  all.counts.instruction(one(0x1000, kBlr));
  CHECK(all.of(0x1000).rewritten);
  CHECK(all.of(0x1000).opcode == kNop);
  Instruction nowhere = one(0x1000, kNop);
  nowhere.has_ea = false;
  all.counts.instruction(nowhere);
  CHECK(all.counts.unknown() == 1);
}

}  // namespace htmtrace
