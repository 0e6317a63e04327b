// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <cstring>
#include <string>

#include "pmu/description.h"
#include "pmu/htm_event.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

// The htm PMU as kmod/ABI describes it. The node's bits are split, to prove that the positions come
// from this description.
PmuDescription torn_htm(const TemporaryFolder& folder) {
  folder.write("htm/type", "42\n");
  folder.write("htm/format/event", "config:0-27\n");
  folder.write("htm/format/htm_type", "config:0-3\n");
  folder.write("htm/format/nodeindex", "config:4-7,32-35\n");
  folder.write("htm/format/nodalchipindex", "config:12-19\n");
  folder.write("htm/format/coreindexonchip", "config1:20-27\n");
  folder.write("htm/events/htm_core", "event=0x02\n");
  folder.write("htm/events/htm_nest", "event=0x01\n");
  return PmuDescription::read(folder.path(), "htm");
}

uint32_t word_at(const EventAttr& attr, size_t offset) {
  uint32_t word = 0;
  std::memcpy(&word, attr.bytes().data() + offset, sizeof(word));
  return word;
}

}  // namespace

TEST_CASE("a target sets the bits that sysfs names") {
  const TemporaryFolder folder;
  const auto pmu = torn_htm(folder);
  const EventAttr attr = htm_event_attr(pmu, {.node = 0xa5, .chip = 3, .core = 12});
  CHECK(attr.base().type == 42);
  CHECK(attr.config(0) == (0x2 | 0x5 << 4 | 3 << 12 | uint64_t{0xa} << 32));
  CHECK(attr.config(1) == uint64_t{12} << 20);
  CHECK(attr.base().disabled == 1);
  CHECK(attr.base().pinned == 1);
  CHECK(attr.base().freq == 0);
  CHECK(attr.base().sample_period == 1);
  CHECK((attr.base().sample_type & PERF_SAMPLE_RAW) != 0);
  CHECK(attr.base().exclude_kernel == 0);
  CHECK(attr.base().inherit == 0);
}

TEST_CASE("an index that the driver's field cannot hold is refused") {
  const TemporaryFolder folder;
  const auto pmu = torn_htm(folder);
  CHECK(message_of([&] { htm_event_attr(pmu, {.node = 0, .chip = 256, .core = 0}); }) ==
        "nodalchipindex=256 is too large: the htm driver accepts 0 to 255");
  CHECK(message_of([&] { htm_event_attr(pmu, {.node = 0, .chip = 255, .core = 255}); }) ==
        "no error");
}

TEST_CASE("a type that the driver does not list is refused") {
  const TemporaryFolder folder;
  const auto pmu = torn_htm(folder);
  TraceTarget target;
  target.type = HtmType::kLlat;
  CHECK(message_of([&] { htm_event_attr(pmu, target); }) ==
        "the kernel's htm driver has no event \"htm_llat\"");
}

TEST_CASE("invalid format files are rejected") {
  for (const char* text : {"", "config", "config:", "konfig:0-3", "config9:0", "config:3-0",
                           "config:64", "config:0-3,", "config:0-3x", "config:-3"}) {
    CAPTURE(text);
    const bool fine = std::string(text) == "config:0-3,";  // a trailing comma names no range
    CHECK((message_of([&] { parse_format_field(text, "x"); }) == "no error") == fine);
  }
  CHECK(parse_format_field("config2:0-63", "x").max() == ~uint64_t{0});
  CHECK(parse_format_field("config:5", "x").max() == 1);
}

TEST_CASE("a missing PMU is reported") {
  const TemporaryFolder folder;
  CHECK_FALSE(PmuDescription::exists(folder.path(), "htm"));
  folder.write("htm/type", "many\n");
  CHECK(message_of([&] { PmuDescription::read(folder.path(), "htm"); }) ==
        "cannot understand \"many\"");
}

TEST_CASE("fields that old headers lack have the kernel's offsets") {
  EventAttr attr;
  attr.set_aux_action(0x80000001);
  attr.set_config(3, uint64_t{0x1111222233334444});
  attr.set_config(4, uint64_t{0x5555666677778888});
  CHECK(word_at(attr, 116) == 0x80000001);
  CHECK(attr.aux_action() == 0x80000001);
  uint64_t config4 = 0;
  std::memcpy(&config4, attr.bytes().data() + 136, sizeof(config4));
  CHECK(config4 == uint64_t{0x5555666677778888});
  CHECK(attr.config(3) == uint64_t{0x1111222233334444});
  CHECK(word_at(attr, 4) == 144);
  CHECK(attr.bytes().size() == 144);
}

TEST_CASE("the generation probe requests a frequency and changes nothing else") {
  const TemporaryFolder folder;
  const EventAttr attr = htm_event_attr(torn_htm(folder), {.chip = 1});
  const EventAttr probe = htm_generation_probe(attr);
  CHECK(probe.base().freq == 1);
  CHECK(probe.config(0) == attr.config(0));
  CHECK(probe.base().disabled == 1);
}

}  // namespace htmtrace
