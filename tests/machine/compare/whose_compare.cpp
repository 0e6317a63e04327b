// SPDX-License-Identifier: GPL-2.0-or-later
// Compares the process that htmtrace finds for each instruction with the process that executed it.
//
//   whose-compare ORACLE SESSION TEXT PROCESSES PERCENT [INDEX...]
//
// SESSION is the number of a START in the oracle, from 1. TEXT is the output of
// `htmtrace decode --fields ea,process`. PROCESSES has a line "INDEX COMMAND PID" for each process
// that htmtrace may name. Process INDEX executes the instruction li r0,0x5a00+INDEX, which no other
// process executes (cases/whose/mark.h): that, the process identifier of the processor (PIDR) and
// r13, which points to the thread's own memory, are the truth. Processes without a line, and user
// code without such an instruction, must be unknown. A new program has r13 0 until it sets up its
// memory; that code belongs to the program. If it did so on another core, the kernel may have given
// the PIDR of one process to another process here. Between the marks of the two, either is right.
//
// Exit status 0: no instruction has a wrong process, at most PERCENT of all instructions are
// unknown, and each process INDEX has instructions that htmtrace names.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/machine/compare/line_reader.h"
#include "tests/machine/compare/oracle_reader.h"

namespace {

using htmtrace::compare::LineReader;
using htmtrace::compare::OracleInstruction;
using htmtrace::compare::OracleReader;

struct Thread {
  uint64_t process = 0;    // PIDR
  uint64_t memory = 0;     // r13
  unsigned beginning = 0;  // counts the programs that began with this PIDR, which the kernel reuses
  auto operator<=>(const Thread&) const = default;
};

constexpr uint32_t kKernel = ~0U;
constexpr unsigned kNoIndex = ~0U;

class Truth {
 public:
  Truth(const char* oracle, uint64_t session) {
    OracleReader reader(oracle);
    OracleInstruction instruction;
    while (reader.next_of(session, session, &instruction)) {
      eas.push_back(instruction.ea);
      threads_of_.push_back(kKernel);
      if (instruction.user) add(instruction);
    }
    if (eas.empty()) throw std::runtime_error("the oracle has no instruction of this session");
  }

  std::vector<uint64_t> eas;  // by instruction

  bool is_kernel(size_t at) const { return threads_of_[at] == kKernel; }
  // kNoIndex if the process is not marked.
  unsigned index_of(size_t at) const { return indexes_[threads_of_[at]]; }
  // The other process to which the instruction may belong, or kNoIndex.
  unsigned other_index_of(size_t at) const {
    const auto found = others_.find(threads_of_[at]);
    return found == others_.end() ? kNoIndex : found->second;
  }
  std::string thread_text(size_t at) const {
    const Thread& thread = threads_[threads_of_[at]];
    return fmt::format("PIDR {} r13 {:x}", thread.process, thread.memory);
  }

 private:
  void add(const OracleInstruction& instruction) {
    Beginning& begun = beginnings_[instruction.process];
    if (instruction.thread == 0) {
      if (begun.instructions.empty()) begun.number++;
      begun.instructions.push_back(threads_of_.size() - 1);
      threads_of_.back() = number_of({instruction.process, 0, begun.number});
      return;
    }
    const uint32_t thread = number_of({instruction.process, instruction.thread, begun.number});
    threads_of_.back() = thread;
    for (const size_t at : begun.instructions) threads_of_[at] = thread;
    begun.instructions.clear();
    constexpr uint32_t kMark = 0x38005a00, kMarkMask = 0xfffffff0;
    if ((instruction.words[0] & kMarkMask) != kMark || instruction.word_count != 1) return;
    const unsigned index = instruction.words[0] & ~kMarkMask;
    const unsigned known = indexes_[thread];
    if (known != kNoIndex && known != index) {
      const uint32_t either = number_of({instruction.process, instruction.thread, ++begun.number});
      indexes_[either] = known;
      others_[either] = index;
      for (size_t at = marked_[thread] + 1; at < threads_of_.size(); at++) {
        if (threads_of_[at] == thread) threads_of_[at] = either;
      }
      threads_of_.back() = number_of({instruction.process, instruction.thread, ++begun.number});
    }
    indexes_[threads_of_.back()] = index;
    marked_[threads_of_.back()] = threads_of_.size() - 1;
  }

  uint32_t number_of(const Thread& thread) {
    const auto next = static_cast<uint32_t>(threads_.size());
    const auto [place, added] = numbers_.try_emplace(thread, next);
    if (added) {
      threads_.push_back(thread);
      indexes_.push_back(kNoIndex);
    }
    return place->second;
  }

  struct Beginning {
    unsigned number = 0;
    std::vector<size_t> instructions;  // whose r13 is not known yet
  };

  std::vector<uint32_t> threads_of_;  // by instruction
  std::map<Thread, uint32_t> numbers_;
  std::vector<Thread> threads_;
  std::vector<unsigned> indexes_;             // by number of the thread
  std::map<uint32_t, unsigned> others_;       // the second possible index of a thread
  std::map<uint32_t, size_t> marked_;         // the last mark of a thread
  std::map<uint64_t, Beginning> beginnings_;  // by process identifier
};

std::map<unsigned, std::string> read_processes(const char* path) {
  std::ifstream file(path);
  std::map<unsigned, std::string> names;
  unsigned index = 0;
  std::string command, pid;
  while (file >> index >> command >> pid) {
    names[index] = fmt::format("{}:{}", command, pid);
  }
  if (names.empty()) throw std::runtime_error(fmt::format("{} has no process", path));
  return names;
}

class Comparison {
 public:
  Comparison(const Truth& truth, std::map<unsigned, std::string> names)
      : truth_(truth), names_(std::move(names)) {}

  void run(const char* path) {
    LineReader reader(path);
    std::string_view line;
    size_t at = 0;
    for (; at < truth_.eas.size() && reader.next(&line); at++) {
      const size_t tab = line.find('\t');
      if (tab == line.npos || line.substr(0, tab) != fmt::format("{:016x}", truth_.eas[at])) {
        throw std::runtime_error(fmt::format("line {} is not the instruction at {:016x}: {}",
                                             reader.number(), truth_.eas[at], line));
      }
      compare(at, std::string(line.substr(tab + 1)));
    }
    if (at != truth_.eas.size() || reader.next(&line)) {
      throw std::runtime_error("the text and the oracle differ in length");
    }
  }

  bool passes(double percent, const std::set<unsigned>& needed) const {
    const auto all = static_cast<double>(truth_.eas.size());
    const double share = 100 * static_cast<double>(unknown_) / all;
    fmt::print("{} instructions: {} kernel, {} wrong, {} unknown ({:.4f}%)\n", truth_.eas.size(),
               kernel_, wrong_, unknown_, share);
    bool named = true;
    for (const auto& [index, name] : names_) {
      const auto right = right_.find(index);
      fmt::print("  {} {}: {} right\n", index, name, right == right_.end() ? 0 : right->second);
      named = named && (right != right_.end() || !needed.contains(index));
    }
    for (const auto& [what, count] : examples_) fmt::print("  {}: {}\n", what, count);
    return wrong_ == 0 && share <= percent && named;
  }

 private:
  void compare(size_t at, const std::string& found) {
    if (truth_.is_kernel(at)) {
      kernel_++;
      if (found != "kernel") wrong(found, "the kernel");
      return;
    }
    const unsigned index = truth_.index_of(at);
    const auto name = names_.find(index);
    const auto other = names_.find(truth_.other_index_of(at));
    const std::string who = index == kNoIndex ? "user code of " + truth_.thread_text(at)
                                              : fmt::format("process {}", index);
    if (found == "unknown") {
      unknown_++;
      examples_["unknown: " + who]++;
    } else if (name != names_.end() && found == name->second) {
      right_[index]++;
    } else if (other != names_.end() && found == other->second) {
      right_[other->first]++;
    } else {
      wrong(found, who);
    }
  }

  void wrong(const std::string& found, const std::string& truth) {
    wrong_++;
    examples_[fmt::format("WRONG: {} for {}", found, truth)]++;
  }

  const Truth& truth_;
  std::map<unsigned, std::string> names_;
  std::map<unsigned, uint64_t> right_;
  std::map<std::string, uint64_t> examples_;
  uint64_t kernel_ = 0, wrong_ = 0, unknown_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    fmt::print(stderr, "usage: whose-compare ORACLE SESSION TEXT PROCESSES PERCENT [INDEX...]\n");
    return 2;
  }
  try {
    const Truth truth(argv[1], std::strtoull(argv[2], nullptr, 10));
    Comparison comparison(truth, read_processes(argv[4]));
    comparison.run(argv[3]);
    std::set<unsigned> needed;
    for (int i = 6; i < argc; i++) {
      needed.insert(static_cast<unsigned>(std::strtoul(argv[i], nullptr, 10)));
    }
    return comparison.passes(std::strtod(argv[5], nullptr), needed) ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "whose-compare: {}\n", error.what());
    return 1;
  }
}
