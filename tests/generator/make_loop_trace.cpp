// SPDX-License-Identifier: GPL-2.0-or-later
// make_loop_trace SEED INSTRUCTIONS TRACE TRANSLATION: a POWER10 core trace of a random program
// that repeats its blocks and its data, and the memory map that it needs. Reports of such a trace
// have long lists. The seed also chooses how many blocks and data there are.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <vector>

#include "tests/encoder/power10.h"
#include "tests/generator/generated_trace.h"
#include "tests/generator/write_file.h"

using namespace htmtrace::generator;

namespace {

constexpr uint64_t kUserText = 0x10000000;
constexpr uint64_t kKernelText = 0xc000000000000000;
constexpr uint64_t kUserData = 0x7fff80000000;
constexpr uint64_t kUserMsr = 0x800000000000d033;
constexpr uint64_t kKernelMsr = 0x8000000000009033;

// Power ISA 3.1: ld, std, lwarx, addi, and a prefix of a prefixed load.
constexpr uint32_t kLoad = 0xe8000000, kStore = 0xf8000000, kAtomic = 0x7c000028,
                   kOther = 0x38000000;
constexpr uint32_t kPrefix = 0x04000000, kReturn = 0x4e800020;

struct Block {
  uint64_t address;
  unsigned instructions;
  bool branches;                // or control leaves it without a branch
  std::vector<size_t> follows;  // the first ones are the most frequent
};

class LoopProgram {
 public:
  explicit LoopProgram(uint64_t seed) : random_(seed) {
    const size_t blocks = std::array{2, 30, 400, 3000}.at(random_.below(4));
    data_ = std::array{2, 50, 1000, 50000}.at(random_.below(4));
    for (size_t i = 0; i < blocks; i++) {
      const uint64_t text = random_.chance(800) ? kUserText : kKernelText;
      blocks_.push_back({.address = text + random_.below(blocks * 200) * 4,
                         .instructions = 1 + static_cast<unsigned>(random_.below(12)),
                         .branches = random_.chance(900),
                         .follows = {}});
    }
    for (Block& block : blocks_) {
      const uint64_t most = random_.chance(100) ? blocks : 8;
      for (uint64_t i = 0; i <= random_.below(most); i++) block.follows.push_back(below(blocks));
    }
    words_.push_back(power10_record(0));
  }

  // Runs one block.
  unsigned run() {
    const Block& block = blocks_[at_];
    at_ = block.follows[skewed(block.follows.size())];
    uint64_t ea = block.address;
    line_ = 0;
    for (unsigned i = 0; i < block.instructions; i++) {
      if (random_.chance(2)) put_stamp();
      const bool last = i + 1 == block.instructions;
      ea += put_instruction(ea, last && block.branches);
    }
    return block.instructions;
  }

  std::vector<uint64_t>& words() { return words_; }

 private:
  size_t below(size_t bound) { return static_cast<size_t>(random_.below(bound)); }
  // Lower numbers are more frequent.
  size_t skewed(size_t bound) { return below(1 + below(1 + below(bound))); }

  void put_stamp() {
    switch (random_.below(8)) {
      case 0:
        return words_.push_back(power10_pause(5));
      case 1:
        return words_.push_back(power10_time(kPower10TimeRecordsDropped, 3, 7));
      case 2:
        return words_.push_back(power10_mark(3, 2, 0x155, 0xabc, false));
      default:
        return words_.push_back(power10_time(kPower10TimeElapsed, 0, 9));
    }
  }

  void enter_line(uint64_t ea) {
    if (ea / kPower10LineBytes == line_) return;
    line_ = ea / kPower10LineBytes;
    uint64_t line[kPower10IearaWords];
    power10_ieara(line, ea, real_of_logical(logical_of_effective(ea)));
    words_.insert(words_.end(), std::begin(line), std::end(line));
  }

  // Returns its size in bytes.
  unsigned put_instruction(uint64_t ea, bool branch) {
    enter_line(ea);
    const bool prefixed = !branch && ea % 64 != 60 && random_.chance(10);
    uint32_t opcode = kReturn;
    auto operands = kPower10NoOperand;
    // The same address mostly has the same instruction.
    Random fixed(random_.chance(5) ? random_.next() : ea);
    if (!branch) {
      opcode = std::array{kLoad, kStore, kAtomic, kOther, kOther}.at(fixed.below(5));
      if (opcode != kOther) operands = random_.chance(30) ? kPower10TwoPairs : kPower10OnePair;
    }
    words_.push_back(power10_info(opcode, ea, false, prefixed, operands));
    words_.push_back(power10_msr(ea >> 63 != 0 ? kKernelMsr : kUserMsr));
    if (prefixed) words_.push_back(power10_prefix(kPrefix));
    for (unsigned i = 0; i < static_cast<unsigned>(operands); i++) put_data(fixed);
    return prefixed ? 8 : 4;
  }

  void put_data(Random& fixed) {
    // Each instruction prefers some data.
    const uint64_t number = random_.chance(500) ? fixed.below(data_) : skewed(data_);
    const uint64_t dea = kUserData + number * 72;
    // Some of the memory belongs to another partition.
    const uint64_t real = real_of_logical(logical_of_effective(dea));
    words_.push_back(dea);
    words_.push_back(power10_dra(dea % 11 == 0 ? real + kBlockBytes : real));
  }

  Random random_;
  std::vector<Block> blocks_;
  uint64_t data_ = 0;
  size_t at_ = 0;
  uint64_t line_ = 0;  // that the trace is in; 0: none
  std::vector<uint64_t> words_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fputs("usage: make_loop_trace SEED INSTRUCTIONS TRACE TRANSLATION\n", stderr);
    return 2;
  }
  LoopProgram program(std::strtoull(argv[1], nullptr, 10));
  const uint64_t instructions = std::strtoull(argv[2], nullptr, 10);
  for (uint64_t made = 0; made < instructions;) made += program.run();
  std::FILE* trace = std::fopen(argv[3], "wb");
  write_or_exit(trace, bytes_of(program.words()), argv[3]);
  std::FILE* translation = std::fopen(argv[4], "wb");
  write_or_exit(translation, translation_file(), argv[4]);
  return std::fclose(trace) == 0 && std::fclose(translation) == 0 ? 0 : 1;
}
