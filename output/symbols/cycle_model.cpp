// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/symbols/cycle_model.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "output/symbols/llvm_program.h"

namespace htmtrace {
namespace {

constexpr const char* kProcessor = "pwr10";

[[noreturn]] void refuse(const char* program, std::string_view reason) {
  throw Error(fmt::format("cannot predict cycles: {} failed: {}", program, reason))
      .hint(
          "check that llvm-mc and llvm-mca belong to one version of LLVM with the target PowerPC");
}

[[noreturn]] void refuse(const char* program, const LlvmRun& run) {
  if (run.messages.empty()) refuse(program, fmt::format("exit status {}", run.status));
  refuse(program, std::string_view(run.messages).substr(0, run.messages.find('\n')));
}

// Calls visit(line) for each line.
template <class Visit>
void visit_lines(std::string_view text, const Visit& visit) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// Returns the number at the beginning of the line, after `name` and blanks.
std::optional<uint64_t> number_after(std::string_view name, std::string_view line) {
  if (!line.starts_with(name)) return std::nullopt;
  line.remove_prefix(name.size());
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc{}) return std::nullopt;
  return number;
}

void put_word(std::string& text, uint32_t word) {
  for (unsigned i = 0; i < 4; i++) {
    fmt::format_to(std::back_inserter(text), "0x{:02x} ", word >> 8 * i & 0xff);
  }
}

// Returns a line for each instruction, with its bytes in little-endian order.
std::string bytes_of(std::span<const Instruction> code) {
  std::string text;
  for (const Instruction& instruction : code) {
    if (instruction.has_prefix) put_word(text, instruction.prefix);
    put_word(text, instruction.opcode);
    text += '\n';
  }
  return text;
}

LlvmRun disassemble(std::span<const Instruction> code) {
  LlvmRun finished = run_llvm(
      "llvm-mc", {"--disassemble", "--triple=powerpc64le", fmt::format("--mcpu={}", kProcessor)},
      bytes_of(code));
  if (finished.status != 0) refuse("llvm-mc", finished);
  return finished;
}

// The code of a block, as LLVM's assembler writes it.
struct Assembly {
  size_t block = 0;
  std::string text;
};

// Omits the blocks with an instruction that LLVM does not know: llvm-mc prints no line for it.
std::vector<Assembly> assemble(std::span<const std::vector<Instruction>> blocks) {
  // All instructions, with the number of their block.
  std::vector<Instruction> code;
  std::vector<size_t> block_of;
  const auto add = [&](size_t block) {
    code.insert(code.end(), blocks[block].begin(), blocks[block].end());
    block_of.insert(block_of.end(), blocks[block].size(), block);
  };
  for (size_t i = 0; i < blocks.size(); i++) add(i);
  std::vector<bool> is_known(blocks.size(), true);
  // A warning names the line of the input: <stdin>:LINE:COLUMN: warning: ...
  visit_lines(disassemble(code).messages, [&](std::string_view line) {
    const auto number = number_after("<stdin>:", line);
    if (number && *number >= 1 && *number <= code.size()) is_known[block_of[*number - 1]] = false;
  });

  code.clear();
  block_of.clear();
  for (size_t i = 0; i < blocks.size(); i++) {
    if (is_known[i]) add(i);
  }
  std::vector<Assembly> known;
  size_t lines = 0;
  visit_lines(disassemble(code).output, [&](std::string_view line) {
    if (line.empty() || line == "\t.text" || lines++ >= code.size()) return;
    const size_t block = block_of[lines - 1];
    if (known.empty() || known.back().block != block) known.push_back({.block = block, .text = {}});
    known.back().text.append(line).append("\n");
  });
  if (lines != code.size()) refuse("llvm-mc", "it did not print one line for each instruction");
  return known;
}

// A region for each block, with the number of the block as its name.
LlvmRun simulate(std::span<const Assembly> blocks) {
  std::string text;
  for (const Assembly& one : blocks) {
    fmt::format_to(std::back_inserter(text), "# LLVM-MCA-BEGIN {}\n{}# LLVM-MCA-END\n", one.block,
                   one.text);
  }
  return run_llvm("llvm-mca",
                  {"--mtriple=powerpc64le", fmt::format("--mcpu={}", kProcessor),
                   "--instruction-info=false", "--resource-pressure=false"},
                  text);
}

void take(std::string_view output, std::vector<std::optional<double>>& cycles) {
  std::optional<uint64_t> block;
  uint64_t iterations = 0;
  visit_lines(output, [&](std::string_view line) {
    constexpr std::string_view kRegion = "Code Region - ";
    if (const size_t at = line.find(kRegion); line.starts_with('[') && at != line.npos) {
      block = number_after(kRegion, line.substr(at));
    } else if (const auto count = number_after("Iterations:", line)) {
      iterations = *count;
    } else if (const auto total = number_after("Total Cycles:", line)) {
      if (block && *block < cycles.size() && iterations != 0) {
        cycles[*block] = static_cast<double>(*total) / static_cast<double>(iterations);
      }
    }
  });
}

// "14.0.6", from a line such as "  LLVM version 14.0.6" or "Debian LLVM version 14.0.6".
std::string version() {
  const LlvmRun finished = run_llvm("llvm-mca", {"--version"}, {});
  if (finished.status != 0) refuse("llvm-mca", finished);
  constexpr std::string_view kBefore = "LLVM version ";
  const std::string& text = finished.output;
  const size_t at = text.find(kBefore);
  if (at == text.npos) return "of unknown version";
  const size_t begin = at + kBefore.size();
  return text.substr(begin, text.find_first_of(" \n", begin) - begin);
}

// Sets the cycles of the blocks that the model knows.
void predict(std::span<const Assembly> blocks, std::vector<std::optional<double>>& cycles) {
  if (blocks.empty()) return;
  const LlvmRun run = simulate(blocks);
  if (run.status == 0) {
    take(run.output, cycles);
    if (!std::all_of(blocks.begin(), blocks.end(),
                     [&](const Assembly& one) { return cycles[one.block].has_value(); })) {
      refuse("llvm-mca", "it did not print the cycles of each block");
    }
  } else if (blocks.size() > 1) {
    // The model lacks an instruction of a block, and llvm-mca ended without the later blocks.
    const size_t half = blocks.size() / 2;
    predict(blocks.first(half), cycles);
    predict(blocks.subspan(half), cycles);
  }
}

// See CycleModel::predict().
std::vector<std::optional<double>> predictions_of(
    std::span<const std::vector<Instruction>> blocks) {
  std::vector<std::optional<double>> cycles(blocks.size());
  predict(assemble(blocks), cycles);
  return cycles;
}

// ------------------------------------------------------------------------------------ messages

// A request has a line for each block. Each word of the line is an instruction: 16 hexadecimal
// digits with a prefix, otherwise 8. An answer has a line for each block: the cycles, or an
// empty line without a prediction. An answer that begins with kFailed has the text of an Error and
// of its hint.
constexpr char kFailed = '!';

std::string request_of(std::span<const std::vector<Instruction>> blocks) {
  std::string text;
  for (const std::vector<Instruction>& block : blocks) {
    for (const Instruction& instruction : block) {
      if (instruction.has_prefix) {
        fmt::format_to(std::back_inserter(text), "{:08x}", instruction.prefix);
      }
      fmt::format_to(std::back_inserter(text), "{:08x} ", instruction.opcode);
    }
    text += '\n';
  }
  return text;
}

std::vector<std::vector<Instruction>> blocks_of(std::string_view request) {
  std::vector<std::vector<Instruction>> blocks;
  visit_lines(request, [&](std::string_view line) {
    std::vector<Instruction>& block = blocks.emplace_back();
    while (!line.empty()) {
      const size_t size = line.find(' ');
      uint64_t words = 0;
      std::from_chars(line.data(), line.data() + size, words, 16);
      Instruction& instruction = block.emplace_back();
      instruction.opcode = static_cast<uint32_t>(words);
      instruction.prefix = static_cast<uint32_t>(words >> 32);
      instruction.has_opcode = true;
      instruction.has_prefix = size == 16;
      line.remove_prefix(size + 1);
    }
  });
  return blocks;
}

std::string answer_of(std::span<const std::optional<double>> cycles) {
  std::string text;
  for (const std::optional<double>& one : cycles) {
    text += one ? fmt::format("{:.2f}\n", *one) : "\n";
  }
  return text;
}

void put(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw Error("cannot write to the process that predicts cycles", errno);
    text.remove_prefix(static_cast<size_t>(written));
  }
}

// Reads up to the end, or up to the end of the first line.
std::string get(int fd, bool line) {
  std::string text;
  while (!line || !text.ends_with('\n')) {
    char next[4096];
    const ssize_t got = ::read(fd, next, line ? 1 : sizeof(next));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error("cannot read from the process that predicts cycles", errno);
    if (got == 0) break;
    text.append(next, static_cast<size_t>(got));
  }
  return text;
}

// Throws the Error that the child reports, if any.
void check_answer(std::string_view answer) {
  if (answer.empty())
    throw Error("cannot predict cycles: the process that predicts them has ended");
  if (answer.front() != kFailed) return;
  answer.remove_prefix(1);
  const size_t end = answer.find('\n');
  Error error{std::string(answer.substr(0, end))};
  const std::string_view rest = answer.substr(end + 1);
  const std::string hint(rest.substr(0, rest.find('\n')));
  if (!hint.empty()) error = std::move(error).hint(hint);
  throw error;
}

// The child runs this function. It answers one request.
void serve(int requests, int answers) {
  try {
    put(answers, fmt::format("LLVM {}, {}\n", version(), kProcessor));
    const std::string request = get(requests, /*line=*/false);
    if (!request.empty()) put(answers, answer_of(predictions_of(blocks_of(request))));
  } catch (const Error& error) {
    put(answers, fmt::format("{}{}\n{}\n", kFailed, error.what(),
                             error.hints().empty() ? "" : error.hints().front()));
  }
}

struct Channel {
  Channel() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw Error("cannot make a pipe", errno);
    read = Fd(ends[0]);
    write = Fd(ends[1]);
  }
  Fd read;
  Fd write;
};

}  // namespace

CycleModel::CycleModel() {
  Channel requests;
  Channel answers;
  child_ = ::fork();
  if (child_ < 0) throw Error("cannot start the process that predicts cycles", errno);
  if (child_ == 0) {
    requests.write.reset();
    answers.read.reset();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::signal(SIGCHLD, SIG_DFL);  // run_llvm() waits for its programs
    // A reader of standard output waits until no process has it open.
    const Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    ::dup2(nothing.get(), STDIN_FILENO);
    ::dup2(nothing.get(), STDOUT_FILENO);
    try {
      serve(requests.read.get(), answers.write.get());
    } catch (...) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  requests_ = std::move(requests.write);
  answers_ = std::move(answers.read);
  requests.read.reset();
  answers.write.reset();
  name_ = get(answers_.get(), /*line=*/true);
  if (name_.starts_with(kFailed)) name_ += get(answers_.get(), /*line=*/false);
  check_answer(name_);
  name_.pop_back();
}

CycleModel::~CycleModel() {
  requests_.reset();
  answers_.reset();
  while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::vector<std::optional<double>> CycleModel::predict(
    std::span<const std::vector<Instruction>> blocks) {
  std::vector<std::optional<double>> cycles;
  if (blocks.empty()) return cycles;
  put(requests_.get(), request_of(blocks));
  requests_.reset();
  const std::string answer = get(answers_.get(), /*line=*/false);
  check_answer(answer);
  visit_lines(answer, [&](std::string_view line) {
    double number = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
    cycles.push_back(error == std::errc{} ? std::optional(number) : std::nullopt);
  });
  if (cycles.size() != blocks.size())
    throw Error("cannot predict cycles: the process that predicts them has ended");
  return cycles;
}

}  // namespace htmtrace
