// SPDX-License-Identifier: GPL-2.0-or-later
#include "pmu/trigger.h"

#include <doctest/doctest.h>
#include <linux/hw_breakpoint.h>

#include <cstring>
#include <string>

#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

using Kind = TriggerWords::Kind;

std::string refusal(const std::string& text) {
  return message_of([&] { parse_trigger(text); });
}

// A kernel with both probes and one tracepoint.
Trigger::Roots roots_in(const TemporaryFolder& folder) {
  folder.write("pmu/uprobe/type", "9\n");
  folder.write("pmu/uprobe/format/retprobe", "config:0\n");
  folder.write("pmu/kprobe/type", "8\n");
  folder.write("pmu/kprobe/format/retprobe", "config:0\n");
  folder.write("tracing/events/sched/sched_switch/id", "321\n");
  return {folder.path() / "pmu", {folder.path() / "elsewhere", folder.path() / "tracing"}};
}

std::string pointed_by(const EventAttr& attr) {
  const uint64_t address = attr.config(1);
  const char* text = nullptr;
  std::memcpy(&text, &address, sizeof(text));
  return text;
}

}  // namespace

TEST_CASE("an event is recognized by its form") {
  CHECK(parse_trigger("sched:sched_switch").kind == Kind::kTracepoint);
  CHECK(parse_trigger("kprobe:do_exit").kind == Kind::kKprobe);
  CHECK(parse_trigger("mem:0x1000").kind == Kind::kBreakpoint);
  CHECK(parse_trigger("cs").kind == Kind::kSoftware);

  const TriggerWords probe = parse_trigger("/a:b/prog:main+0x10");
  CHECK(probe.kind == Kind::kUprobe);
  CHECK(probe.place == "/a:b/prog");
  CHECK(probe.name == "main");
  CHECK(probe.offset == 16);
  CHECK_FALSE(probe.at_return);

  const TriggerWords offset = parse_trigger("./prog:0x123");
  CHECK(offset.name.empty());
  CHECK(offset.offset == 0x123);
  CHECK(parse_trigger("./prog:work%return").at_return);
}

TEST_CASE("a breakpoint has an address, a length and an access") {
  const TriggerWords all = parse_trigger("mem:0x1000/8:w");
  CHECK(all.number == 0x1000);
  CHECK(all.length == 8);
  CHECK(all.access == HW_BREAKPOINT_W);
  CHECK(parse_trigger("mem:4096").access == (HW_BREAKPOINT_R | HW_BREAKPOINT_W));
  CHECK(parse_trigger("mem:4096:x").length == sizeof(long));
}

TEST_CASE("an invalid event is rejected with a suggestion") {
  CHECK(refusal("cycles").find("Hardware events cannot") != std::string::npos);
  CHECK(refusal("cycles").find("page-faults") != std::string::npos);
  CHECK(refusal("sched:..").find("not an event") != std::string::npos);
  CHECK(refusal("./prog") == "./prog: the function is missing: write FILE:FUNCTION");
  CHECK(refusal("./a:b/prog") == "./a:b/prog: the function is missing: write FILE:FUNCTION");
  CHECK(refusal("./prog:") == "./prog:: the function is missing");
  CHECK(refusal("./prog:0xyz") == "./prog:0xyz: the offset is not a number");
  CHECK(refusal("kprobe:f+1%return") == "kprobe:f+1%return: a return has no offset");
  CHECK(refusal("mem:here") == "mem:here: the address is not a number");
  CHECK(refusal("mem:1:rx") == "mem:1:rx: the access must be r, w, rw or x");
  CHECK(refusal("mem:1/0") == "mem:1/0: the length is not a number");
}

TEST_CASE("names are looked up in the kernel's lists of events") {
  const TemporaryFolder folder;
  const Trigger::Roots roots = roots_in(folder);
  const EventAttr tracepoint = Trigger(parse_trigger("sched:sched_switch"), roots).attr();
  CHECK(tracepoint.base().type == PERF_TYPE_TRACEPOINT);
  CHECK(tracepoint.base().config == 321);
  CHECK(tracepoint.base().sample_period == 1);
  CHECK(tracepoint.base().pinned == 0);

  const Trigger kernel(parse_trigger("kprobe:do_exit%return"), roots);
  CHECK(kernel.attr().base().type == 8);
  CHECK(kernel.attr().config(0) == 1);
  CHECK(pointed_by(kernel.attr()) == "do_exit");

  const Trigger place(parse_trigger("./prog:0x40"), roots);
  CHECK(place.attr().base().type == 9);
  CHECK(place.attr().config(2) == 0x40);
  CHECK(pointed_by(place.attr()) == (std::filesystem::current_path() / "./prog").string());

  CHECK(Trigger(parse_trigger("page-faults"), roots).attr().base().config ==
        PERF_COUNT_SW_PAGE_FAULTS);
  const EventAttr watch = Trigger(parse_trigger("mem:0x1000/8:w"), roots).attr();
  CHECK(watch.base().type == PERF_TYPE_BREAKPOINT);
  CHECK(watch.base().bp_type == HW_BREAKPOINT_W);
  CHECK(watch.config(1) == 0x1000);
  CHECK(watch.config(2) == 8);
}

TEST_CASE("events that the kernel lacks are reported") {
  const TemporaryFolder folder;
  const Trigger::Roots roots = roots_in(folder);
  const TemporaryFolder bare;
  const Trigger::Roots nothing{bare.path(), {bare.path()}};
  const auto open = [](const char* text, const Trigger::Roots& from) {
    return message_of([&] { const Trigger trigger(parse_trigger(text), from); });
  };
  CHECK(open("sched:no_such", roots) == "cannot find or read tracepoint sched:no_such");
  CHECK(open("sched:sched_switch", nothing) == "cannot look up tracepoint sched:sched_switch");
  CHECK(open("kprobe:f", nothing) == "this kernel has no kprobes for perf");
  CHECK(open("./no-such:main", roots).find("No such file or directory") != std::string::npos);
}

}  // namespace htmtrace
