// SPDX-License-Identifier: GPL-2.0-or-later
// Checks that the driver announced every gap in a trace.
//
//   storm-compare JOURNAL
//
// In JOURNAL, the hypervisor records each START and STOP, and the program `storm` its requests and
// the announcements that it receives. All lines have one order and one clock
// (tests/machine/plugin/journal.h).
//
// An instruction is missing if a trace was requested and the macro did not trace. The request
// begins when ENABLE returns, and ends at DISABLE or at the first read.
//
// The program checks each trace whose end was announced. The missing time must not exceed the time
// that STARTED and GAP announce, and the trace must be flagged. Otherwise an ERROR must announce
// that the hypervisor refused an operation. Exit status 1: the driver did not announce a gap.
//
// The journal also has the number of instructions that each core has executed. The program counts
// the instructions of each request, and assigns each missing instruction to its announcement.
#include <fmt/format.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>

namespace {

constexpr uint64_t kPartial = 4;  // PERF_AUX_FLAG_PARTIAL
// The guest's clock is a multiple of the host's, up to its rounding.
constexpr uint64_t kTicksNs = 1000;
constexpr uint64_t kRateParts = 10000;

struct Trace {
  std::string macro;
  bool wanted = false;
  bool tracing = false;
  bool read = false;
  uint64_t missing_since = 0;
  uint64_t missing_ns = 0;
  uint64_t executed = 0;  // by the core, until the latest line
  uint64_t traced_instructions = 0, missing_instructions = 0;
  uint64_t late_ns = 0, gaps_ns = 0, errors = 0, flags = 0;
};

struct Totals {
  uint64_t traces = 0, ended = 0, refused = 0, gaps = 0, captured = 0, lost = 0, silent = 0;
  // Instructions that cores executed while a trace was requested: while the macro traced; missing,
  // and announced by STARTED and GAP, by ERROR, or not at all.
  uint64_t traced = 0, announced = 0, refused_instructions = 0, unannounced = 0;
};

class Journal {
 public:
  explicit Journal(const std::string& path) : file_(path) {
    if (!file_) throw std::runtime_error(path + ": cannot open the file");
  }

  const Totals& run() {
    std::string line;
    while (std::getline(file_, line)) {
      number_++;
      std::istringstream words(line);
      uint64_t ns;
      std::string what;
      if (!(words >> ns >> what)) fail("no time");
      if (what == "mark") {
        mark(ns, words);
      } else if (what == "executed") {
        std::string macro;
        words >> macro;
        words >> executed_[macro];
      } else {
        transition(ns, what, words);
      }
    }
    return totals_;
  }

 private:
  [[noreturn]] void fail(const char* problem) const {
    throw std::runtime_error(fmt::format("line {} of the journal: {}", number_, problem));
  }

  void transition(uint64_t ns, const std::string& what, std::istringstream& words) {
    std::string macro;
    words >> macro;
    if (what == "stop") {
      uint64_t captured = 0, lost = 0;
      words >> captured >> lost;
      captured_[macro] = captured;
      lost_[macro] = lost;
    }
    const auto open = of_macro_.find(macro);
    if (open == of_macro_.end()) return;
    Trace& trace = traces_[open->second];
    settle(&trace, ns);
    trace.tracing = what == "start";
  }

  // Adds the missing time and the instructions until now.
  void settle(Trace* trace, uint64_t ns) {
    const uint64_t executed = executed_[trace->macro];
    if (trace->wanted) {
      (trace->tracing ? trace->traced_instructions : trace->missing_instructions) +=
          executed - trace->executed;
    }
    trace->executed = executed;
    if (trace->wanted && !trace->tracing) trace->missing_ns += ns - trace->missing_since;
    trace->missing_since = ns;
  }

  void mark(uint64_t ns, std::istringstream& words) {
    uint64_t id = 0, value = 0;
    std::string what;
    if (!(words >> id >> what)) fail("a mark without a name");
    if (what == "open") {
      Trace trace;
      words >> trace.macro;
      of_macro_[trace.macro] = id;
      traces_[id] = trace;
      totals_.traces++;
      return;
    }
    const auto found = traces_.find(id);
    if (found == traces_.end()) fail("a mark of a trace that is not open");
    Trace& trace = found->second;
    settle(&trace, ns);
    words >> value;
    if (what == "enabled") {
      trace.wanted = !trace.read;
    } else if (what == "disable" || what == "read") {
      trace.wanted = false;
      trace.read |= what == "read";
    } else if (what == "late") {
      trace.late_ns = value;
    } else if (what == "gaps") {
      trace.gaps_ns = value;
    } else if (what == "errors") {
      trace.errors = value;
    } else if (what == "flags") {
      trace.flags = value;
    } else if (what == "end") {
      judge(id, trace);
    } else if (what == "closed") {
      if (of_macro_[trace.macro] == id) of_macro_.erase(trace.macro);
      traces_.erase(found);
    } else if (what != "none") {
      fail("an unknown mark");
    }
  }

  void judge(uint64_t id, const Trace& trace) {
    totals_.ended++;
    totals_.traced += trace.traced_instructions;
    if (trace.errors != 0) {
      totals_.refused++;
      totals_.refused_instructions += trace.missing_instructions;
      return;
    }
    if (trace.missing_ns == 0) return;
    totals_.gaps++;
    const uint64_t told = trace.late_ns + trace.gaps_ns;
    const bool flagged = (trace.flags & kPartial) != 0;
    if (flagged && trace.missing_ns <= told + told / kRateParts + kTicksNs) {
      totals_.announced += trace.missing_instructions;
      return;
    }
    totals_.silent++;
    totals_.unannounced += trace.missing_instructions;
    fmt::print(
        "trace {} of {}: {} ns and {} instructions are missing, {} ns were announced ({} late, {} "
        "gaps), "
        "{}\n",
        id, trace.macro, trace.missing_ns, trace.missing_instructions, told, trace.late_ns,
        trace.gaps_ns, flagged ? "flagged" : "not flagged");
  }

 public:
  void add_instructions() {
    for (const auto& [macro, count] : captured_) totals_.captured += count;
    for (const auto& [macro, count] : lost_) totals_.lost += count;
  }

 private:
  std::ifstream file_;
  uint64_t number_ = 0;
  std::map<std::string, uint64_t> of_macro_;
  std::map<uint64_t, Trace> traces_;
  std::map<std::string, uint64_t> captured_, lost_;
  std::map<std::string, uint64_t> executed_;
  Totals totals_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: storm-compare JOURNAL\n");
    return 2;
  }
  try {
    Journal journal(argv[1]);
    const Totals& totals = journal.run();
    journal.add_instructions();
    fmt::print("{} traces, {} of them ended: {} with a refusal, {} with missing instructions\n",
               totals.traces, totals.ended, totals.refused, totals.gaps);
    fmt::print(
        "instructions executed while a trace was requested: {} while the macro traced; {} missing, "
        "and "
        "announced by STARTED and GAP; {} missing after a refusal that ERROR announces; {} missing "
        "and "
        "not announced\n",
        totals.traced, totals.announced, totals.refused_instructions, totals.unannounced);
    fmt::print("{} instructions in the traces, {} not because the memory was full\n",
               totals.captured, totals.lost);
    if (totals.ended == 0) fmt::print("no trace ended\n");
    return totals.silent != 0 || totals.ended == 0 ? 1 : 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "storm-compare: {}\n", error.what());
    return 2;
  }
}
