// SPDX-License-Identifier: GPL-2.0-or-later
// Compares the call stacks that htmtrace reports with the true call stacks of the program `stacks`.
//
//   stacks-compare ORACLE SESSION SYMBOLS PERCENT folded FILE
//   stacks-compare ORACLE SESSION SYMBOLS PERCENT perfetto FILE
//
// SESSION is the number of a START in the oracle, from 1. SYMBOLS is the output of `nm -S` for the
// program's functions. The truth is computed, task by task, from the executed instructions and the
// construction of the program (workloads/stacks.c): a function keeps the stack in which its first
// instruction ran. The comparison ignores frames without a name of the program. A frame in brackets
// marks its line as incomplete. Exit status 0: no unmarked stack is wrong, and at least PERCENT of
// the program's instructions have the right stack without a mark.
#include <fmt/format.h>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tests/machine/compare/line_reader.h"
#include "tests/machine/compare/oracle_reader.h"

namespace {

using htmtrace::compare::LineReader;
using htmtrace::compare::OracleInstruction;
using htmtrace::compare::OracleReader;

struct Function {
  uint64_t first = 0, end = 0;
  std::string name;
  bool recursive = false, handler = false, tail = false;
};

class Program {
 public:
  explicit Program(const char* path) {
    LineReader reader(path);
    std::string_view line;
    while (reader.next(&line)) {
      uint64_t address = 0, size = 0;
      char kind = 0, name[128] = {};
      if (std::sscanf(std::string(line).c_str(), "%" SCNx64 " %" SCNx64 " %c %127s", &address,
                      &size, &kind, name) != 4) {
        throw std::runtime_error(fmt::format("{}: not a line of nm -S", path));
      }
      Function function{.first = address, .end = address + size, .name = name};
      function.recursive = function.name.starts_with("recursive_");
      function.handler = function.name.starts_with("handler_") && function.name != "handler_leaf";
      function.tail = function.name.ends_with("_tail");
      functions_.push_back(function);
    }
    std::ranges::sort(functions_, {}, &Function::first);
    for (size_t i = 0; i < functions_.size(); i++) names_[functions_[i].name] = i;
    if (functions_.empty()) throw std::runtime_error(fmt::format("{} is empty", path));
  }

  std::optional<size_t> at(uint64_t ea) const {
    auto after = std::ranges::upper_bound(functions_, ea, {}, &Function::first);
    if (after == functions_.begin()) return std::nullopt;
    --after;
    if (ea >= after->end) return std::nullopt;
    return static_cast<size_t>(after - functions_.begin());
  }
  bool has(const std::string& name) const { return names_.contains(name); }
  const Function& operator[](size_t i) const { return functions_[i]; }
  size_t size() const { return functions_.size(); }

 private:
  std::vector<Function> functions_;
  std::map<std::string, size_t> names_;
};

// Stacks as text, by number.
class Paths {
 public:
  size_t number(const std::string& path) {
    const auto [known, added] = numbers_.try_emplace(path, paths_.size());
    if (added) paths_.push_back(path);
    return known->second;
  }
  size_t inner(size_t path, const std::string& name) {
    return number(paths_[path].empty() ? name : paths_[path] + ";" + name);
  }
  size_t outer(size_t path) {
    const size_t end = paths_[path].rfind(';');
    return number(end == std::string::npos ? "" : paths_[path].substr(0, end));
  }
  const std::string& operator[](size_t path) const { return paths_[path]; }

 private:
  std::map<std::string, size_t> numbers_;
  std::vector<std::string> paths_;
};

constexpr uint32_t kForeign = ~0U;

// One task, which runs as if it were alone: its user instructions in order.
struct Task {
  bool begun = false;
  std::vector<std::vector<size_t>> paths;  // for each function; several if it is recursive
  std::optional<size_t> last;              // the preceding function
  uint64_t last_ea = 0;
  bool last_returns = false, outside = false;
  // Running handlers, outermost first: the interrupted function, and the instructions so far, whose
  // stacks are below this function.
  struct Handler {
    size_t interrupted = 0;
    std::vector<size_t> instructions;
  };
  std::vector<Handler> handlers;
};

class TrueStacks {
 public:
  TrueStacks(const char* oracle, uint64_t session, const Program& program) : program_(program) {
    OracleReader reader(oracle);
    OracleInstruction instruction;
    while (reader.next_of(session, session, &instruction)) {
      stack_of.push_back(kForeign);
      if (instruction.user) run(instruction);
    }
    for (auto& [who, task] : tasks_) {
      while (!task.handlers.empty()) end_handler(task, task.handlers.back().interrupted);
    }
  }

  std::vector<uint32_t> stack_of;  // by instruction
  Paths paths;

 private:
  static bool is_return(uint32_t word) { return (word & 0xfc0007ff) == 0x4c000020; }

  void run(const OracleInstruction& instruction) {
    const auto who = std::pair(instruction.space, instruction.area);
    Task& task = tasks_[who];
    const auto function = program_.at(instruction.ea);
    if (!function) {
      task.outside = true;
      return;
    }
    if (!task.begun) begin(task, who, *function);
    place(task, instruction.ea, *function);
    stack_of.back() = static_cast<uint32_t>(task.paths[*function].back());
    if (!task.handlers.empty()) {
      task.handlers.back().instructions.push_back(stack_of.size() - 1);
    }
    task.last = function;
    task.last_ea = instruction.ea;
    task.last_returns = is_return(instruction.words[0]);
    task.outside = false;
    last_of_process_[who.first] = who;
  }

  // The program begins at _start; a process with its parent's functions, a thread with none.
  void begin(Task& task, std::pair<uint64_t, uint64_t> who, size_t function) {
    task.begun = true;
    task.outside = false;
    task.paths.resize(program_.size());
    if (program_[function].name == "_start") {
      first_ = who;
    } else if (who.first != first_.first) {
      task.paths = tasks_[first_].paths;
      return;
    }
    task.paths[function] = {paths.inner(paths.number(""), program_[function].name)};
    task.last = function;
  }

  void place(Task& task, uint64_t ea, size_t function) {
    const Function& here = program_[function];
    const bool first = ea == here.first;
    if (task.outside && first && here.handler) {
      // Its return target becomes known later. Consecutive handlers interrupt the same instruction.
      if (task.handlers.empty()) {
        task.handlers.push_back({.interrupted = *task.last, .instructions = {}});
      }
      task.paths[function] = {paths.inner(paths.number(""), here.name)};
      return;
    }
    if (!task.handlers.empty() && !in_handler(function)) {
      const size_t interrupted = task.handlers.back().interrupted;
      // The signal arrived after a call, and before the callee's first instruction.
      if (task.outside && first && (function != interrupted || here.recursive)) {
        enter(task, interrupted, function);
      }
      end_handler(task, function);
    }
    if (task.last && program_[*task.last].recursive && task.last_returns &&
        ea != task.last_ea + 4) {
      task.paths[*task.last].pop_back();
    }
    const bool entered = first && task.last && (*task.last != function || here.recursive) &&
                         !(here.recursive && task.last_returns);
    if (!entered) return;
    if (program_[*task.last].handler && task.outside) return;
    enter(task, *task.last, function);
  }

  void enter(Task& task, size_t caller, size_t function) {
    if (task.paths[caller].empty()) throw std::runtime_error("a caller without a stack");
    size_t outer = task.paths[caller].back();
    if (program_[caller].tail) outer = paths.outer(outer);
    const size_t path = paths.inner(outer, program_[function].name);
    if (!program_[function].recursive) task.paths[function].clear();
    task.paths[function].push_back(path);
  }

  // True for all functions that handlers call.
  bool in_handler(size_t function) const {
    const std::string& name = program_[function].name;
    return name.starts_with("handler_") || name == "long_jump";
  }

  // The handler has returned to `function`, or jumped to it.
  void end_handler(Task& task, size_t function) {
    const Task::Handler handler = std::move(task.handlers.back());
    task.handlers.pop_back();
    const size_t interrupted = task.outside ? function : handler.interrupted;
    if (task.paths[interrupted].empty()) throw std::runtime_error("a handler without a program");
    const std::string outer = paths[task.paths[interrupted].back()];
    for (const size_t i : handler.instructions) {
      stack_of[i] = static_cast<uint32_t>(paths.number(outer + ";" + paths[stack_of[i]]));
    }
    task.last.reset();
  }

  const Program& program_;
  std::map<std::pair<uint64_t, uint64_t>, Task> tasks_;
  std::map<uint64_t, std::pair<uint64_t, uint64_t>> last_of_process_;
  std::pair<uint64_t, uint64_t> first_;
};

// htmtrace's claim about a stack.
struct Claim {
  std::string path;  // the program's functions
  bool own = false;  // the innermost function is the program's
  bool marked = false;
};

Claim claim_of(std::string_view stack, const Program& program) {
  Claim claim;
  while (!stack.empty()) {
    const size_t end = std::min(stack.find(';'), stack.size());
    const std::string name(stack.substr(0, end));
    stack.remove_prefix(std::min(end + 1, stack.size()));
    claim.own = program.has(name);
    claim.marked = claim.marked || name.starts_with('[');
    if (!claim.own) continue;
    if (!claim.path.empty()) claim.path += ';';
    claim.path += name;
  }
  return claim;
}

struct Verdict {
  uint64_t right = 0, marked = 0, wrong = 0, missing = 0;
};

// Each unmarked stack must have the number of instructions that ran in it, and each function must
// have all of its instructions.
Verdict compare_folded(const TrueStacks& truth, const Program& program, const char* path) {
  std::map<std::string, uint64_t> expected, expected_leaf, got, got_leaf;
  const auto leaf = [](const std::string& stack) { return stack.substr(stack.rfind(';') + 1); };
  for (const uint32_t stack : truth.stack_of) {
    if (stack == kForeign) continue;
    expected[truth.paths[stack]]++;
  }
  for (const auto& [stack, count] : expected) expected_leaf[leaf(stack)] += count;
  Verdict verdict;
  LineReader reader(path);
  std::string_view line;
  while (reader.next(&line)) {
    const size_t space = line.rfind(' ');
    if (space == std::string_view::npos) throw std::runtime_error("a line without a count");
    const uint64_t count = std::strtoull(std::string(line.substr(space + 1)).c_str(), nullptr, 10);
    const Claim claim = claim_of(line.substr(0, space), program);
    if (!claim.own) continue;
    got_leaf[leaf(claim.path)] += count;
    if (claim.marked) {
      verdict.marked += count;
    } else {
      got[claim.path] += count;
    }
  }
  for (const auto& [stack, count] : got) {
    const auto known = expected.find(stack);
    const uint64_t most = known == expected.end() ? 0 : known->second;
    verdict.right += std::min(count, most);
    if (count <= most) continue;
    verdict.wrong += count - most;
    fmt::print("wrong: {} {}, expected {}\n", stack, count, most);
  }
  for (const auto& [name, count] : expected_leaf) {
    if (got_leaf[name] == count) continue;
    fmt::print("{} has {} instructions, expected {}\n", name, got_leaf[name], count);
    verdict.missing += count > got_leaf[name] ? count - got_leaf[name] : got_leaf[name] - count;
  }
  return verdict;
}

// Compares a track of functions, event by event, with the true stack at each instruction.
class Track {
 public:
  Track(const TrueStacks& truth, const Program& program) : truth_(truth), program_(program) {}

  void event(std::string_view line) {
    const bool begin = line.find("\"ph\":\"B\"") != std::string_view::npos;
    if (!begin && line.find("\"ph\":\"E\"") == std::string_view::npos) return;
    const size_t at = line.find("\"ts\":");
    if (at == std::string_view::npos) throw std::runtime_error("an event without a time");
    const double us = std::strtod(std::string(line.substr(at + 5, 40)).c_str(), nullptr);
    constexpr double kInstructions = 1000;  // each instruction is shown as a nanosecond
    run_to(static_cast<uint64_t>(std::llround(us * kInstructions)));
    if (begin) {
      const size_t name = line.find("\"name\":\"") + 8;
      open_.push_back(std::string(line.substr(name, line.find('"', name) - name)));
    } else if (open_.empty()) {
      throw std::runtime_error("an end without a begin");
    } else {
      open_.pop_back();
    }
  }

  Verdict finish() {
    run_to(truth_.stack_of.size());
    if (!open_.empty()) throw std::runtime_error("a begin without an end");
    return verdict_;
  }

 private:
  void run_to(uint64_t when) {
    if (when < now_) throw std::runtime_error("events are not in order");
    if (when == now_) return;
    std::string stack;
    for (const std::string& name : open_) stack += (stack.empty() ? "" : ";") + name;
    const Claim claim = claim_of(stack, program_);
    for (; now_ < when && now_ < truth_.stack_of.size(); now_++) {
      if (truth_.stack_of[now_] == kForeign) continue;
      const std::string& expected = truth_.paths[truth_.stack_of[now_]];
      if (claim.marked) {
        verdict_.marked++;
      } else if (claim.path == expected) {
        verdict_.right++;
      } else {
        if (verdict_.wrong++ < 20) {
          fmt::print("wrong: instruction {} in {}, expected {}\n", now_, stack, expected);
        }
      }
    }
  }

  const TrueStacks& truth_;
  const Program& program_;
  std::vector<std::string> open_;
  uint64_t now_ = 0;
  Verdict verdict_;
};

Verdict compare_perfetto(const TrueStacks& truth, const Program& program, const char* path) {
  Track track(truth, program);
  LineReader reader(path);
  std::string_view line;
  while (reader.next(&line)) track.event(line);
  return track.finish();
}

int compare_stacks(char** arguments) {
  const Program program(arguments[3]);
  const TrueStacks truth(arguments[1], std::strtoull(arguments[2], nullptr, 10), program);
  const auto total = static_cast<uint64_t>(
      std::ranges::count_if(truth.stack_of, [](uint32_t stack) { return stack != kForeign; }));
  const bool folded = std::string_view(arguments[5]) == "folded";
  const Verdict verdict = folded ? compare_folded(truth, program, arguments[6])
                                 : compare_perfetto(truth, program, arguments[6]);
  const auto percent = [&](uint64_t count) {
    return 100.0 * static_cast<double>(count) / static_cast<double>(std::max<uint64_t>(total, 1));
  };
  fmt::print(
      "{} instructions of the program: right {:.3f} %, marked {:.3f} %, wrong {:.3f} % ({}), "
      "missing {}\n",
      total, percent(verdict.right), percent(verdict.marked), percent(verdict.wrong), verdict.wrong,
      verdict.missing);
  const bool enough = percent(verdict.right) >= std::strtod(arguments[4], nullptr);
  return total != 0 && verdict.wrong == 0 && verdict.missing == 0 && enough ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view form = argc == 7 ? argv[5] : "";
  if (form != "folded" && form != "perfetto") {
    std::fputs("usage: stacks-compare ORACLE SESSION SYMBOLS PERCENT folded|perfetto FILE\n",
               stderr);
    return 2;
  }
  try {
    return compare_stacks(argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stacks-compare: %s\n", error.what());
    return 2;
  }
}
