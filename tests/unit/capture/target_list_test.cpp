// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/capture/target_list.h"

#include <doctest/doctest.h>

#include <CLI/CLI.hpp>
#include <string>

namespace htmtrace {
namespace {

// Returns the message of a CLI11 error, or "no error".
template <typename Call>
std::string usage_error(Call call) {
  try {
    call();
  } catch (const CLI::Error& error) {
    return error.what();
  }
  return "no error";
}

std::string text_of(const std::vector<TraceTarget>& targets) {
  std::string text;
  for (const TraceTarget& target : targets) text += describe(target) + "\n";
  return text;
}

}  // namespace

TEST_CASE("lists and ranges of indices") {
  CHECK(parse_indices("--core", "7") == std::vector<uint32_t>{7});
  CHECK(parse_indices("--core", "0-3,8") == std::vector<uint32_t>{0, 1, 2, 3, 8});
  CHECK(parse_indices("--core", "65535") == std::vector<uint32_t>{65535});
  for (const char* text : {"", ",", "1,", ",1", "1,,2", "a", "-1", "1-", "3-1", "1-2-3", "65536",
                           "1 2", "0x1", "4294967296"}) {
    CAPTURE(text);
    const std::string told = usage_error([&] { parse_indices("--core", text); });
    CHECK(told.find("--core: " + std::string(text) + ": not a list") != std::string::npos);
  }
}

TEST_CASE("one word names a complete target") {
  CHECK(parse_target("node=1,chip=2,core=3,type=llat") ==
        TraceTarget{.node = 1, .chip = 2, .core = 3, .type = HtmType::kLlat});
  CHECK(parse_target("core=3,chip=2") == TraceTarget{.node = 0, .chip = 2, .core = 3});
  CHECK(parse_target("chip=2,type=nest") ==
        TraceTarget{.node = 0, .chip = 2, .core = 0, .type = HtmType::kNest});
  // A chip's trace has no core, so the core is ignored.
  CHECK(parse_target("chip=2,core=9,type=nest").core == 0);
  struct Wrong {
    std::string text, why;
  };
  for (const Wrong& wrong :
       {Wrong{"core=1", "the chip is missing"}, Wrong{"chip=1", "the core is missing"},
        Wrong{"chip=1,core=2,type=tea", "the type is not"},
        Wrong{"chip=1,core=x", "core is not a number"},
        Wrong{"chip=1,core", "core is not a number"},
        Wrong{"chip=1,core=2,socket=3", "no field \"socket\""}, Wrong{"", "the chip is missing"}}) {
    CAPTURE(wrong.text);
    CHECK(usage_error([&] { parse_target(wrong.text); }).find(wrong.why) != std::string::npos);
  }
}

TEST_CASE("every combination is a target, and each target appears once") {
  TargetWords words;
  words.chips = {0, 1};
  words.cores = {0, 4, 0};
  words.types = {HtmType::kCore, HtmType::kNest};
  words.targets = {{.node = 0, .chip = 1, .core = 4}, {.node = 1, .chip = 0, .core = 2}};
  CHECK(text_of(expand_targets(words)) ==
        "node=0,chip=0,core=0,type=core\n"
        "node=0,chip=0,core=4,type=core\n"
        "node=0,chip=1,core=0,type=core\n"
        "node=0,chip=1,core=4,type=core\n"
        "node=0,chip=0,core=0,type=nest\n"
        "node=0,chip=1,core=0,type=nest\n"
        "node=1,chip=0,core=2,type=core\n");
}

TEST_CASE("a missing index is requested") {
  TargetWords words;
  CHECK(usage_error([&] { expand_targets(words); }).find("--chip") != std::string::npos);
  words.chips = {1};
  CHECK(usage_error([&] { expand_targets(words); }) == "--core is required");
  words.types = {HtmType::kNest};
  CHECK(expand_targets(words).size() == 1);

  TargetWords whole;
  whole.targets = {{.node = 0, .chip = 1, .core = 4}};
  CHECK(expand_targets(whole) == whole.targets);
  whole.cores = {1};
  CHECK(usage_error([&] { expand_targets(whole); }).find("--chip") != std::string::npos);
}

}  // namespace htmtrace
