// SPDX-License-Identifier: GPL-2.0-or-later
// Branches, and basic blocks of programs that are known by construction.
#include "core/analysis/control_flow.h"

#include <doctest/doctest.h>

#include "output/export/block_vector_writer.h"
#include "output/io/input_file.h"
#include "tests/unit/instruction_run.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

constexpr uint32_t kBranch = 0x48000000;  // b
constexpr uint32_t kMaybe = 0x40820008;   // bne
constexpr uint32_t kSc = 0x44000002;
constexpr uint32_t kInterruptReturn = 0x4c000024;

std::string written_text(const std::filesystem::path& path) {
  const std::vector<std::byte> bytes = InputFile::open(path).read_all(1 << 20);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The basic-block vectors of a program that is cut into parts after every `most` events.
std::string vectors_in_parts(uint64_t interval, size_t most) {
  TextOutput vectors = TextOutput::memory();
  BlockVectorWriter writer(vectors, interval);
  BlockPart part = BlockVectorWriter::new_part();
  run_in_parts(
      part, most, 100, [](uint64_t, uint64_t choice) { return choice < 60 ? kNop : kBranch; },
      [&writer](BlockPart& ended) { writer.take(ended); });
  writer.finish();
  writer.put_blocks(vectors);
  return std::string(vectors.text());
}

}  // namespace

TEST_CASE("kinds of branches") {
  CHECK(branch_kind(kNop) == BranchKind::kNone);
  CHECK(branch_kind(kBranch) == BranchKind::kUnconditional);
  CHECK(branch_kind(kMaybe) == BranchKind::kConditional);
  CHECK(branch_kind(0x4d820020) == BranchKind::kConditional);    // beqlr
  CHECK(branch_kind(0x42000008) == BranchKind::kConditional);    // bdnz
  CHECK(branch_kind(0x4e800420) == BranchKind::kUnconditional);  // bctr
  CHECK(branch_kind(kSc) == BranchKind::kUnconditional);
  CHECK(branch_kind(kInterruptReturn) == BranchKind::kUnconditional);
  CHECK(branch_kind(0x4c00012c) == BranchKind::kNone);  // isync
  CHECK(sets_link(kBl));
  CHECK(sets_link(0x4e800421));  // bctrl
  CHECK_FALSE(sets_link(kBranch));
  CHECK(returns_by_link(kBlr));
  CHECK_FALSE(returns_by_link(0x4e800021));  // blrl
}

TEST_CASE("targets of direct branches") {
  CHECK(direct_target(0x48000100, 0x1000) == 0x1100);         // b
  CHECK(direct_target(0x4bffff00, 0x1000) == 0xf00);          // b backwards
  CHECK(direct_target(0x48000102, 0x1000) == 0x100);          // ba
  CHECK(direct_target(0x4bffff02, 0) == 0xffffffffffffff00);  // ba
  CHECK(direct_target(0x4200fffc, 0x10000) == 0xfffc);        // bdnz
  CHECK(direct_target(0x40820008, 0xfffffffffffffffc) == 4);  // bne
  CHECK(is_direct_branch(kMaybe));
  CHECK_FALSE(is_direct_branch(kBlr));
}

TEST_CASE("interrupt vectors") {
  for (const uint64_t vector : {0x100, 0x300, 0xf80, 0x1500, 0x17020, 0x18c00}) {
    CHECK(is_interrupt_vector(vector));
  }
  CHECK(is_interrupt_vector(0xc000000000004900));
  CHECK(is_interrupt_vector(0xc000000000003020));
  for (const uint64_t other : {0x0, 0x104, 0x2000, 0x10000000}) {
    CHECK_FALSE(is_interrupt_vector(other));
  }
  CHECK_FALSE(is_interrupt_vector(0xc000000000001000));
}

TEST_CASE("basic-block vectors") {
  const TemporaryFolder folder;
  TextOutput vectors = TextOutput::create(folder.path() / "vectors", Existing::kRefuse);
  BlockVectorWriter writer(vectors, 6);
  run(writer, 0x1000, {kNop, kMaybe, kNop, kBranch});  // two blocks of 2
  run(writer, 0x1000, {kNop, kMaybe});                 // the first block again; the interval ends
  run(writer, 0x2000, {kNop, kNop});                   // an interrupt follows this run
  run(writer, 0x1004, {kMaybe});                       // in the middle of the first block
  writer.skipped();
  run(writer, 0x1008, {kNop});
  writer.finish();
  vectors.finish();
  CHECK(written_text(folder.path() / "vectors") ==
        "T:1:4 :2:2 \n"
        "T:3:2 :4:1 :2:1 \n");
  TextOutput list = TextOutput::create(folder.path() / "blocks", Existing::kRefuse);
  writer.put_blocks(list);
  list.finish();
  CHECK(written_text(folder.path() / "blocks") ==
        "number,address,entries,instructions\n"
        "1,0x0000000000001000,2,4\n"
        "2,0x0000000000001008,2,3\n"
        "3,0x0000000000002000,1,2\n"
        "4,0x0000000000001004,1,1\n");
  CHECK(writer.intervals() == 2);
}

TEST_CASE("basic-block vectors do not depend on the parts") {
  for (const uint64_t interval : {1, 30, 1000, 100000}) {
    const std::string expected = vectors_in_parts(interval, 1);
    CHECK(expected.size() > 1000);
    for (const size_t most : {2, 3, 50, 5000}) CHECK(vectors_in_parts(interval, most) == expected);
  }
}

}  // namespace htmtrace
