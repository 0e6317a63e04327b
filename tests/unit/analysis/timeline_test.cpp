// SPDX-License-Identifier: GPL-2.0-or-later
// Timelines of a core: the content of each window, the split of ticks, and functions for viewers.
#include "core/analysis/timeline.h"

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "output/export/call_timeline.h"
#include "output/print/selecting_sink.h"
#include "output/report/timeline_report.h"
#include "tests/unit/instruction_run.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

constexpr Modes kUserModes{.bits = Modes::kPr, .known = Modes::kAll};
constexpr Modes kKernelModes{.bits = 0, .known = Modes::kAll};

Stamp time_stamp(uint32_t elapsed) {
  Stamp stamp;
  stamp.kind = StampKind::kTime;
  stamp.elapsed = elapsed;
  return stamp;
}

template <class Sink>
void idle(Sink& sink, uint64_t count, Modes modes) {
  for (uint64_t i = 0; i < count; i++) {
    Instruction instruction;
    instruction.modes = modes;
    if (i % 4 == 0) instruction.add_data({0x5000});
    sink.instruction(instruction);
  }
}

}  // namespace

TEST_CASE("a window has the ticks, the instructions and the losses of its time") {
  const Selection everything;
  Timeline timeline(8);
  SelectingSink sink(everything, timeline);
  idle(sink, 1024, kUserModes);
  sink.stamp(time_stamp(1000));
  idle(sink, 512, kKernelModes);
  Stamp loss = time_stamp(0);
  loss.losses.records = 3;
  sink.stamp(loss);
  idle(sink, 1024, kUserModes);
  sink.stamp(time_stamp(3000));  // of 1536 instructions
  idle(sink, 100, kUserModes);
  sink.finish();
  REQUIRE(timeline.windows().size() == 3);
  CHECK(timeline.window_instructions() == 1024);
  CHECK(timeline.windows()[0].ticks == 1000);
  CHECK(timeline.windows()[1].ticks == 2000);
  CHECK(timeline.windows()[2].ticks == 1000);
  CHECK(timeline.windows()[1].losses == 1);
  CHECK(timeline.windows()[1].by_privilege[static_cast<size_t>(Privilege::kKernel)] == 512);
  CHECK(timeline.windows()[1].data_accesses == 256);
  CHECK(timeline.instructions_of(0) == 1024);
  CHECK(timeline.instructions_of(2) == 612);
  CHECK(*ticks_each(timeline, 1) == 1953);
}

TEST_CASE("time that a stamp reports after the last instruction is counted") {
  const Selection everything;
  Timeline timeline(8);
  SelectingSink sink(everything, timeline);
  idle(sink, 1024, kUserModes);
  sink.stamp(time_stamp(77));
  sink.finish();
  CHECK(timeline.windows().size() == 1);
  CHECK(timeline.ticks() == 77);
  CHECK(timeline.instructions_of(0) == 1024);
}

TEST_CASE("windows double, and no tick and no instruction is lost") {
  std::mt19937 random(3);
  for (int round = 0; round < 20; round++) {
    const Selection everything;
    Timeline timeline(8);
    SelectingSink sink(everything, timeline);
    uint64_t instructions = 0, ticks = 0;
    for (int i = 0; i < 40; i++) {
      const uint64_t count = random() % 3000;
      idle(sink, count, kUserModes);
      instructions += count;
      if (count == 0) continue;
      const auto elapsed = static_cast<uint32_t>(random() % 100000);
      sink.stamp(time_stamp(elapsed));
      ticks += elapsed;
    }
    sink.finish();
    CHECK(timeline.windows().size() <= 8);
    CHECK(timeline.windows().size() > 4);
    CHECK(timeline.ticks() == ticks);
    uint64_t reported = 0, all = 0;
    for (size_t i = 0; i < timeline.windows().size(); i++) {
      reported += timeline.windows()[i].reported;
      all += timeline.instructions_of(i);
    }
    CHECK(reported == instructions);
    CHECK(all == instructions);
  }
}

TEST_CASE("a selection: starts with its share of the time, and counts the omitted instructions") {
  Selection selection;
  selection.numbers.first = 3000;
  selection.privileges = 1U << static_cast<unsigned>(Privilege::kUser);
  Timeline timeline(8);
  SelectingSink sink(selection, timeline);
  idle(sink, 2000, kUserModes);
  sink.stamp(time_stamp(5000));
  idle(sink, 2000, kUserModes);
  sink.stamp(time_stamp(200));  // half of this time precedes the selection
  idle(sink, 500, kKernelModes);
  sink.finish();
  CHECK(timeline.first() == 3000);
  CHECK(timeline.ticks() == 100);
  REQUIRE(timeline.windows().size() == 1);
  CHECK(timeline.windows()[0].reported == 1000);
  CHECK(timeline.instructions_of(0) == 1500);
}

TEST_CASE("all formats of a timeline show the same numbers") {
  const Selection everything;
  std::vector<TimelineReport::Trace> traces{{.name = "a,b", .timeline = Timeline(4)}};
  SelectingSink sink(everything, traces.front().timeline);
  idle(sink, 1024, kUserModes);
  idle(sink, 24, kKernelModes);
  sink.stamp(time_stamp(2096));
  sink.finish();
  const TimelineReport report{.traces = traces, .totals = {}};
  const std::string text = report.to_text();
  CHECK(text.find("windows of 1024 instructions, 2096 ticks\n") != std::string::npos);
  CHECK(text.find("            1024           24             48      2.000    0.00 %  100.00 %") !=
        std::string::npos);
  CHECK(report.to_csv() ==
        "trace,first,instructions,ticks,reported,unknown,user,kernel,hypervisor,ultravisor,"
        "data_accesses,losses\n"
        "\"a,b\",0,1024,2048,1024,0,1024,0,0,0,256,0\n"
        "\"a,b\",1024,24,48,24,0,0,24,0,0,6,0\n");
  const auto json = nlohmann::json::parse(report.to_json());
  CHECK(json["timelines"][0]["windows"][1]["by_privilege"]["kernel"] == 24);
  CHECK(json["timelines"][0]["ticks"] == 2096);
}

TEST_CASE("functions of a timeline: callers that a return reveals appear from the begin") {
  SymbolTable symbols;
  symbols.add({.address = 0x1000, .size_bytes = 0x100, .name = "main"});
  symbols.add({.address = 0x2000, .size_bytes = 0x100, .name = "work"});
  symbols.finish();
  const TemporaryFolder folder;
  Selection selection;
  selection.privileges = 1U << static_cast<unsigned>(Privilege::kUser);
  {
    TextOutput output = TextOutput::create(folder.path() / "file", Existing::kRefuse);
    CallTimeline timeline(output, CallStacks(symbols));
    timeline.begin_trace("trace");
    SelectingSink sink(selection, timeline);
    const auto step = [&](uint64_t ea, uint32_t opcode, Modes modes) {
      Instruction instruction = one(ea, opcode);
      instruction.modes = modes;
      sink.instruction(instruction);
    };
    step(0x2000, kNop, kUserModes);
    step(0xc000000000004900, kNop, kKernelModes);
    step(0xc000000000004904, 0x4c000024, kKernelModes);  // rfid
    step(0x2004, kBlr, kUserModes);
    step(0x1008, kNop, kUserModes);
    sink.finish();
    timeline.end_trace();
    timeline.finish();
    output.finish();
  }
  const auto json = nlohmann::json::parse(folder.read("file"));
  std::string seen;
  for (const auto& event : json["traceEvents"]) {
    const auto number = [&] {
      return std::to_string(std::lround(event["ts"].get<double>() * 1000));
    };
    if (event["ph"] == "B") seen += number() + "(" + event["name"].get<std::string>() + " ";
    if (event["ph"] == "E") seen += number() + ") ";
  }
  CHECK(seen == "0([unknown callers] 0(main 0(work 4) 5) 5) ");
}

TEST_CASE("functions of a timeline: nested as they were called") {
  SymbolTable symbols;
  symbols.add({.address = 0x1000, .size_bytes = 0x100, .name = "main"});
  symbols.add({.address = 0x2000, .size_bytes = 0x100, .name = "work\"\\"});
  symbols.finish();
  const TemporaryFolder folder;
  const Selection everything;
  {
    TextOutput output = TextOutput::create(folder.path() / "file", Existing::kRefuse);
    CallTimeline timeline(output, CallStacks(symbols));
    for (const char* name : {"first", "second"}) {
      timeline.begin_trace(name);
      SelectingSink sink(everything, timeline);
      run(sink, 0x1000, {kNop, call(0x1004, 0x2000)});
      run(sink, 0x2000, {kNop, kBlr});
      run(sink, 0x1008, {call(0x1008, 0x2000)});
      run(sink, 0x2000, {kNop, kBlr});
      run(sink, 0x100c, {kNop});
      sink.stamp(time_stamp(80));
      sink.defect({});
      run(sink, 0x2000, {kNop});
      sink.finish();
      timeline.end_trace();
    }
    timeline.finish();
    output.finish();
    CHECK_FALSE(timeline.full_from());
  }
  const auto json = nlohmann::json::parse(folder.read("file"));
  std::string seen;
  for (const auto& event : json["traceEvents"]) {
    if (event["pid"] != 2) continue;
    if (event["ph"] == "M" && event["name"] == "process_name") {
      CHECK(event["args"]["name"] == "second");
    }
    if (event["ph"] == "C" && event["name"] == "ticks per instruction") {
      CHECK(event["args"]["ticks"] ==
            8.888);  // 80 of 9: the last stamp precedes the last instruction
    }
    const auto number = [&] {
      return std::to_string(std::lround(event["ts"].get<double>() * 1000));
    };
    if (event["ph"] == "B") seen += number() + "(" + event["name"].get<std::string>() + " ";
    if (event["ph"] == "E") seen += number() + ") ";
  }
  CHECK(seen ==
        "0([unknown callers] 0(main 2(work\"\\ 4) 5(work\"\\ 7) 8) 8) "
        "8([unknown callers] 8(work\"\\ 9) 9) ");
}

}  // namespace htmtrace
