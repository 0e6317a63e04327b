// SPDX-License-Identifier: GPL-2.0-or-later
// Generates random but valid core traces, with their content known by construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace htmtrace::generator {

// Small, and equal on every machine, unlike the distributions of <random>.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next();
  uint64_t below(uint64_t bound) { return next() % bound; }
  bool chance(unsigned per_mille) { return below(1000) < per_mille; }

 private:
  uint64_t state_;
};

struct Options {
  unsigned stamps_per_mille = 20;  // before any word
  bool companions = true;
  bool walks = true;
  bool interruptions = true;
};

// The memory of the generated machine: partition 0 owns 64 blocks of 256 MiB, placed among those of
// two others in an order of its own. Real addresses of traces fall into it.
inline constexpr uint64_t kBlockBytes = 256 << 20;
inline constexpr unsigned kOwnBlocks = 64;
uint64_t real_of_logical(uint64_t logical);

// A translation file of that memory: blocks of at most 40 entries each, shuffled.
std::vector<std::byte> translation_file();

// Generates one instruction. Appends its words to `words`, and returns its line of text (without
// line end) if `want_line` is set.
class Power10Program {
 public:
  Power10Program(uint64_t seed, Options options);
  std::string next(std::vector<uint64_t>& words, bool want_line);

 private:
  void word(std::vector<uint64_t>& words, uint64_t value);
  void enter_line(std::vector<uint64_t>& words);
  void walk(std::vector<uint64_t>& words, bool data_side);

  Random random_;
  Options options_;
  uint64_t ea_;
  uint64_t line_ = 1;  // no line has this address
};

class Power8Program {
 public:
  Power8Program(uint64_t seed, Options options);
  std::string next(std::vector<uint64_t>& words, bool want_line);

 private:
  void word(std::vector<uint64_t>& words, uint64_t value);

  Random random_;
  Options options_;
  uint64_t ea_;
  bool jumped_ = true;
  std::vector<uint64_t> seen_pages_;
};

// Words as the trace holds them.
std::vector<std::byte> bytes_of(const std::vector<uint64_t>& words);

// Where the generated machine has the page of an effective address; a logical address.
uint64_t logical_of_effective(uint64_t ea);

// A branch of any kind from `ea`, with plausible and with extreme distances.
uint32_t random_branch(Random& random, uint64_t ea);

// Returns the target of a taken branch, or `ea` + 4 for branches to a register.
uint64_t branch_target(uint32_t instruction, uint64_t ea);

}  // namespace htmtrace::generator
