// SPDX-License-Identifier: GPL-2.0-or-later
// known_expected SYMBOLS TEXT - prints the instructions that `known` executes, one per line:
//   ea=... op=... [dea=... [dea=...]]
// SYMBOLS is nm's output, and TEXT the bytes of the program's text. The instruction words are from
// TEXT. Their order and the data addresses follow from the program's construction. This program
// decodes no trace. It interprets instructions only to detect prefixes.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

namespace {

constexpr unsigned kPageBytes = 4096;

class Program {
 public:
  Program(const char* symbols, const char* text) {
    std::ifstream names(symbols);
    std::string address, kind, name;
    while (names >> address >> kind >> name) labels_[name] = std::stoull(address, nullptr, 16);
    std::ifstream bytes(text, std::ios::binary);
    text_.assign(std::istreambuf_iterator<char>(bytes), {});
    if (labels_.empty() || text_.empty()) fail("no symbols, or no text", symbols);
  }

  std::uint64_t at(const std::string& label) const {
    const auto found = labels_.find(label);
    if (found == labels_.end()) fail("no such label", label.c_str());
    return found->second;
  }

  // From now on, the load or store of `bytes` at `label` accesses `address`. If it crosses the end
  // of a 4 KiB page, it also accesses the next page.
  void touches(const std::string& label, std::uint64_t address, unsigned bytes) {
    data_[at(label)] = {address, (address + bytes - 1) & ~std::uint64_t{kPageBytes - 1}};
  }

  // The instructions from `first` up to, but not including, `last`, in the order of addresses.
  void run(const std::string& first, const std::string& last) const {
    for (std::uint64_t ea = at(first); ea < at(last);) {
      const std::uint32_t word = word_at(ea);
      const auto data = data_.find(ea);
      std::printf("ea=%016llx op=%08x", static_cast<unsigned long long>(ea), word);
      ea += 4;
      if (word >> 26 == 1) {  // primary opcode 1: a prefix (Power ISA 3.1, 1.6.3)
        std::printf("%08x", word_at(ea));
        ea += 4;
      }
      if (data != data_.end()) {
        print_data(data->second);
      }
      std::putchar('\n');
    }
  }

  [[noreturn]] static void fail(const char* what, const char* on) {
    std::fprintf(stderr, "known_expected: %s: %s\n", what, on);
    std::exit(1);
  }

 private:
  struct Access {
    std::uint64_t first, last_page;
  };

  static void print_data(const Access& access) {
    std::printf(" dea=%016llx", static_cast<unsigned long long>(access.first));
    if (access.last_page > access.first) {
      std::printf(" dea=%016llx", static_cast<unsigned long long>(access.last_page));
    }
  }

  std::uint32_t word_at(std::uint64_t ea) const {
    const std::uint64_t offset = ea - at("_start");
    if (offset + 4 > text_.size()) fail("address outside the text", "TEXT");
    std::uint32_t word = 0;
    for (unsigned i = 4; i-- > 0;) word = word << 8 | static_cast<unsigned char>(text_[offset + i]);
    return word;
  }

  std::map<std::string, std::uint64_t> labels_;
  std::map<std::uint64_t, Access> data_;
  std::string text_;
};

// Data addresses that change from round to round.
void set_round(Program& program, unsigned round) {
  const std::uint64_t data = program.at("data");
  const std::uint64_t index = data + (round * 16 & 0xff0);
  const std::uint64_t walk = program.at("walk") + std::uint64_t{WALK_STEP} * (round + 1);
  program.touches("at_ldx", index, 8);
  program.touches("at_stbx", index, 1);
  program.touches("at_inner", index, 1);
  program.touches("at_far_lwzx", index, 4);
  program.touches("at_ldu", walk, 8);
  program.touches("at_std_walk", walk, 8);
}

void set_fixed(Program& program) {
  const std::uint64_t data = program.at("data");
  program.touches("at_ld", data, 8);
  program.touches("at_std", data + 8, 8);
  program.touches("at_lwa", data + 16, 4);
  program.touches("at_sth", data + 22, 2);
  program.touches("at_cross_ld", data + 4092, 8);
  program.touches("at_cross_stw", data + 4094, 4);
  program.touches("at_cross_lhz", data + 4095, 2);
  program.touches("at_pld", data + 0x12348, 8);
  program.touches("at_plwz", program.at("pcrel_word"), 4);
  program.touches("at_pstd", data + 0x12350, 8);
  program.touches("at_pstb", data + 0x2345f, 1);
  program.touches("at_near_std", data + 24, 8);
  program.touches("at_near_ld", data + 32, 8);
}

void run_round(Program& program, unsigned round) {
  set_round(program, round);
  program.run("round", "inner");
  for (unsigned i = 0; i < INNER; i++) program.run("inner", "inner_end");
  program.run("inner_end", "after_near");
  program.run("near", "near_end");
  program.run("after_near", "after_far");
  program.run("far", "far_end");
  program.run("after_far", "odd");
  if (round % 2 != 0) program.run("odd", "even");
  program.run("even", "call");
  if (round % 64 == 0) program.run("call", "no_call");
  program.run("no_call", "leave");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: known_expected SYMBOLS TEXT\n", stderr);
    return 2;
  }
  Program program(argv[1], argv[2]);
  set_fixed(program);
  program.run("_start", "round");
  for (unsigned round = 0; round < ROUNDS; round++) run_round(program, round);
  program.run("leave", "leave_end");
  return std::fflush(stdout) == 0 && !std::ferror(stdout) ? 0 : 1;
}
