// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/recording/file_names.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace htmtrace {
namespace {

using Kind = RecordedFileName::Kind;

constexpr TraceTarget kCore{.node = 0, .chip = 1, .core = 0};
constexpr TraceTarget kNest{.node = 0, .chip = 1, .core = 0, .type = HtmType::kNest};
constexpr TraceTarget kOther{.node = 4294967295, .chip = 2, .core = 0, .type = HtmType::kNest};

}  // namespace

TEST_CASE("targets that differ only in type have the type in their file names") {
  CHECK(file_suffixes({kCore, kNest, kOther}) ==
        std::vector<std::string>{"n0.p1.c0.t2", "n0.p1.c0.t1", "n4294967295.p2.c0"});
}

TEST_CASE("the name of each file of a recording states its target") {
  const std::vector<TraceTarget> targets = {kCore, kNest, kOther};
  const std::vector<std::string> suffixes = file_suffixes(targets);
  for (size_t i = 0; i < targets.size(); i++) {
    for (const Kind kind : {Kind::kTrace, Kind::kTranslation}) {
      for (const std::string packed : {"", ".zst", ".gz"}) {
        const std::string plain = kind == Kind::kTrace ? trace_file_name(suffixes[i])
                                                       : translation_file_name(suffixes[i]);
        CHECK(without_packed_suffix(plain + packed) == plain);
        const auto name = parse_file_name(plain + packed);
        REQUIRE(name);
        CHECK(name->kind == kind);
        CHECK(name->suffix == suffixes[i]);
        CHECK(name->node == targets[i].node);
        CHECK(name->chip == targets[i].chip);
        CHECK(name->core == targets[i].core);
        CHECK(name->type.value_or(targets[i].type) == targets[i].type);
        CHECK(name->type.has_value() == (i < 2));
        CHECK(name->packed_suffix == packed);
      }
    }
  }
}

TEST_CASE("the names of other files state no target") {
  for (const char* name :
       {"", "htm.bin", "htm.bin.", "htm.bin.n0.p1", "htm.bin.n0.p1.c", "htm.bin.n0.p1.c2.",
        "htm.bin.n0.p1.c2.txt", "htm.bin.n0.p1.c2.t0", "htm.bin.n0.p1.c2.t4", "htm.bin.n0.p1.c2xt1",
        "htm.bin.n0.p1.c2.t1.t1", "htm.bin.n-1.p1.c2", "htm.bin.n0.p1.c4294967296",
        "htm.bin.n0.p1.c2.xz", "htm.bin.n0.p1.c2.zst.gz", "old.htm.bin.n0.p1.c2", "n0.p1.c2"}) {
    CHECK_FALSE(parse_file_name(name));
  }
}

}  // namespace htmtrace
