// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/generator/generated_trace.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "tests/encoder/power10.h"
#include "tests/encoder/power8.h"

namespace htmtrace::generator {
namespace {

constexpr uint64_t kGuestMsr = 0x8000000000009033;
constexpr uint64_t kUserText = 0x0000000010000000;
constexpr uint64_t kKernelText = 0xc000000000000000;

std::string data_text(uint64_t dea) {
  const uint64_t logical = logical_of_effective(dea);
  return fmt::format(" dea={:016x} dra={:016x} dla={:016x}", dea, real_of_logical(logical),
                     logical);
}

std::string line_text(uint64_t ea, const std::string& opcode) {
  const uint64_t logical = logical_of_effective(ea);
  return fmt::format("ea={:016x} op={} ra={:016x} la={:016x}", ea, opcode, real_of_logical(logical),
                     logical);
}

uint64_t random_data_address(Random& random) {
  switch (random.below(3)) {
    case 0:
      return 0x00007ffff0000000 + random.below(1 << 20);
    case 1:
      return 0xc000000100000000 + random.below(1 << 26);
    default:
      return 0x00000000abcd0000 + random.below(1 << 24);  // has addresses that look like headers
  }
}

uint64_t random_stamp(Random& random) {
  const auto elapsed = static_cast<uint32_t>(random.below(1 << 28));
  switch (random.below(6)) {
    case 0:
      return power10_sync();
    case 1:
      return power10_mark(3, 2, 0x155, 0xabc, false);
    case 2:
      return power10_pause(elapsed);
    default:
      return power10_time(kPower10TimeElapsed, 0, elapsed);
  }
}

void maybe_stamps(Random& random, const Options& options, std::vector<uint64_t>& words) {
  while (random.chance(options.stamps_per_mille)) {
    const uint64_t stamp = random_stamp(random);
    if (options.companions && random.chance(300)) {
      uint64_t pair[kPower10CompanionWords];
      power10_companion(pair, random.next(), 5, stamp);
      words.insert(words.end(), std::begin(pair), std::end(pair));
    } else {
      words.push_back(stamp);
    }
  }
}

}  // namespace

uint64_t Random::next() {
  // splitmix64, public domain (Sebastiano Vigna).
  uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

uint64_t logical_of_effective(uint64_t ea) {
  const uint64_t page = ea >> 12;
  const uint64_t pages = kOwnBlocks * kBlockBytes >> 12;
  return (page * 0x9e3779b97f4a7c15 >> 20) % pages << 12 | (ea & 0xfff);
}

uint64_t real_of_logical(uint64_t logical) {
  const uint64_t block = logical / kBlockBytes;
  // 27 is prime to 64: another order. Two of three blocks belong to others.
  const uint64_t placed = (block * 27 + 5) % kOwnBlocks * 3 + 1;
  return 0x0000200000000000 + placed * kBlockBytes + logical % kBlockBytes;
}

std::vector<std::byte> translation_file() {
  struct Entry {
    uint64_t real, logical, partition;
  };
  std::vector<Entry> entries;
  for (uint64_t i = 0; i < kOwnBlocks; i++) {
    const uint64_t logical = i * kBlockBytes;
    const uint64_t real = real_of_logical(logical);
    entries.push_back({real, logical, 0});
    entries.push_back({real - kBlockBytes, logical, 7});
    entries.push_back({real + kBlockBytes, logical, 3});
  }
  std::vector<uint64_t> words;
  constexpr size_t kEach = 40;
  for (size_t first = 0; first < entries.size(); first += kEach) {
    const size_t count = std::min(kEach, entries.size() - first);
    words.insert(words.end(), {0, first + kEach, count, 0});
    for (size_t i = first; i < first + count; i++) {
      const Entry& entry = entries.at(i * 71 % entries.size());  // 71 is prime to 192
      words.insert(words.end(), {entry.real | uint64_t{1} << 63, entry.logical,
                                 entry.partition << 32 | 0x01020000, kBlockBytes});
    }
  }
  return bytes_of(words);
}

std::vector<std::byte> bytes_of(const std::vector<uint64_t>& words) {
  std::vector<std::byte> bytes(words.size() * 8);
  for (size_t i = 0; i < words.size(); i++) {
    power10_store(reinterpret_cast<uint8_t*>(bytes.data() + i * 8), words[i]);
  }
  return bytes;
}

uint64_t branch_target(uint32_t instruction, uint64_t ea) {
  const uint32_t primary = instruction >> 26;
  if (primary == 19) return ea + 4;
  const uint64_t offset =
      primary == 18 ? static_cast<uint64_t>(static_cast<int64_t>(uint64_t{instruction} << 38) >> 38)
                    : static_cast<uint64_t>(static_cast<int16_t>(instruction));
  return ((instruction & 2) != 0 ? 0 : ea) + (offset & ~uint64_t{3});
}

uint32_t random_branch(Random& random, uint64_t ea) {
  const auto field = static_cast<uint32_t>(random.next());
  const uint32_t link = field >> 31;
  switch (random.below(8)) {
    case 0:  // any distance
      return 18U << 26 | (field & 0x03fffffd);
    case 1:  // just over a border of 64 MiB or 64 KiB
      return 18U << 26 | static_cast<uint32_t>((((ea >> 26) + 1) << 26) - ea + 4) % (1U << 25) |
             link;
    case 2:
      return 16U << 26 | (field & 0x03fffffd);
    case 3:  // absolute
      return 16U << 26 | 2 | (field & 0x03fffffd);
    case 4:
      return 18U << 26 | 2 | (field & 0x03fffffd);
    case 5:
      return 0x4e800020 | link;
    case 6:
      return 0x4e800420 | link | (field & 0x1800);
    default:
      return 0x4e800460 | link;
  }
}

// ------------------------------------------------------------------------------------ POWER10

Power10Program::Power10Program(uint64_t seed, Options options)
    : random_(seed), options_(options), ea_(kUserText + (random_.below(1 << 20) << 2)) {}

void Power10Program::word(std::vector<uint64_t>& words, uint64_t value) {
  maybe_stamps(random_, options_, words);
  words.push_back(value);
}

void Power10Program::walk(std::vector<uint64_t>& words, bool data_side) {
  word(words, power10_xlate(data_side, 5, 1234));
  const unsigned steps = 1 + static_cast<unsigned>(random_.below(kPower10MaxWalkWords - 1));
  static constexpr unsigned kKinds[] = {kPower10WalkHost, kPower10WalkGuest,
                                        kPower10WalkGuest | kPower10WalkHost,
                                        kPower10WalkFinal | kPower10WalkGuest | kPower10WalkHost};
  for (unsigned i = 0; i < steps; i++) {
    const unsigned level = i % 2 == 0 ? kPower10LevelPmd : kPower10LevelPud;
    word(words, power10_walk(kKinds[random_.below(4)], level, random_.below(1ULL << 45)));
  }
  word(words, power10_walk_end());
}

void Power10Program::enter_line(std::vector<uint64_t>& words) {
  while (options_.interruptions && random_.chance(10)) {
    // The group of an instruction that did not complete.
    uint64_t line[kPower10IearaWords];
    power10_ieara(line, random_.next(), random_.below(1ULL << 50));
    for (const uint64_t value : line) word(words, value);
    if (options_.walks && random_.chance(300)) walk(words, true);
  }
  if (options_.walks && random_.chance(30)) walk(words, false);
  uint64_t line[kPower10IearaWords];
  power10_ieara(line, ea_, real_of_logical(logical_of_effective(ea_)));
  for (const uint64_t value : line) word(words, value);
  line_ = ea_ / kPower10LineBytes;
}

std::string Power10Program::next(std::vector<uint64_t>& words, bool want_line) {
  if (ea_ / kPower10LineBytes != line_) enter_line(words);
  const uint64_t ea = ea_;
  const bool prefixed = random_.chance(20) && ea % 64 != 60;
  bool is_branch = !prefixed && random_.chance(150);
  uint32_t opcode = is_branch ? random_branch(random_, ea)
                              : 0xe8000000 | static_cast<uint32_t>(random_.next() & 0x03fffffc);
  uint32_t stored = opcode;
  const bool recoded = is_branch && power10_recode_branch(opcode, ea, &stored);
  ea_ += prefixed ? 8 : 4;
  if (is_branch && random_.chance(500)) ea_ = branch_target(opcode, ea) & ~uint64_t{3};
  if (random_.chance(5)) ea_ = (random_.chance(500) ? kUserText : kKernelText) + (ea_ & 0x3fffffc);

  auto operands = kPower10NoOperand;
  if (!is_branch && random_.chance(400)) {
    operands = random_.chance(20) ? kPower10SegmentPair
                                  : (random_.chance(30) ? kPower10TwoPairs : kPower10OnePair);
  }
  if (options_.walks && operands == kPower10OnePair && random_.chance(20)) walk(words, true);
  const auto prefix = static_cast<uint32_t>(0x04000000 | (random_.next() & 0x01ffffff));
  word(words, power10_info(stored, ea, recoded, prefixed, operands));
  word(words, power10_msr(kGuestMsr | (ea >> 63 != 0 ? 0 : 0x4000)));
  if (prefixed) word(words, power10_prefix(prefix));
  std::string text;
  if (want_line) {
    text = line_text(
        ea, prefixed ? fmt::format("{:08x}{:08x}", prefix, opcode) : fmt::format("{:08x}", opcode));
  }
  if (operands == kPower10SegmentPair) {
    word(words, power10_esid(random_.below(1ULL << 36)));
    word(words, power10_vsid(1, random_.below(1ULL << 30)));
    return text;
  }
  for (unsigned i = 0; i < static_cast<unsigned>(operands); i++) {
    const uint64_t dea = random_data_address(random_);
    word(words, dea);
    word(words, power10_dra(real_of_logical(logical_of_effective(dea))));
    if (want_line) text += data_text(dea);
  }
  return text;
}

// ------------------------------------------------------------------------------------- POWER8

Power8Program::Power8Program(uint64_t seed, Options options)
    : random_(seed), options_(options), ea_(kUserText + (random_.below(1 << 20) << 2)) {}

void Power8Program::word(std::vector<uint64_t>& words, uint64_t value) {
  maybe_stamps(random_, options_, words);
  words.push_back(value);
}

std::string Power8Program::next(std::vector<uint64_t>& words, bool want_line) {
  const uint64_t ea = ea_;
  const uint64_t page = ea >> 12;
  const bool known_page =
      std::find(seen_pages_.begin(), seen_pages_.end(), page) != seen_pages_.end();
  const bool with_address = jumped_ || !known_page || random_.chance(30);
  const bool with_page = with_address && (!known_page || random_.chance(100));
  if (!known_page) seen_pages_.push_back(page);

  const bool is_branch = random_.chance(150);
  const uint32_t opcode = is_branch
                              ? random_branch(random_, ea)
                              : 0xe8000000 | static_cast<uint32_t>(random_.next() & 0x03fffffc);
  uint32_t stored = opcode;
  const bool recoded = is_branch && power8_recode_branch(opcode, ea, &stored);
  jumped_ = is_branch && random_.chance(500);
  ea_ = jumped_ ? kUserText + (random_.below(1 << 16) << 2) : ea + 4;

  unsigned follow = 0;
  if (with_address) follow |= kPower8Iea;
  if (with_page) follow |= kPower8Ira;
  const bool with_data = !is_branch && random_.chance(350);
  if (with_data) follow |= kPower8Dea | kPower8Dra;
  if (random_.chance(5)) {
    // Never completed; the words that it announces are there in one trace and not in another.
    word(words, power8_info(0x60000000, false, false, false, kPower8Iea));
    if (random_.chance(500)) word(words, power8_iea(ea + 64, false, true));
  }
  word(words, power8_info(stored, recoded, random_.chance(10), true, follow));
  const uint64_t real = real_of_logical(logical_of_effective(ea));
  if (with_address) word(words, power8_iea(ea, false, true));
  if (with_page) word(words, power8_ira(real, kPower8Page4K));
  std::string text;
  if (want_line) text = line_text(ea, fmt::format("{:08x}", opcode));
  if (with_data) {
    const uint64_t dea = random_data_address(random_);
    word(words, dea);
    word(words, power8_dra(real_of_logical(logical_of_effective(dea)), kPower8Page4K));
    if (want_line) text += data_text(dea);
  }
  return text;
}

}  // namespace htmtrace::generator
