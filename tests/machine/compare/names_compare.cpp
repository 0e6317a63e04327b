// SPDX-License-Identifier: GPL-2.0-or-later
// Compares the names in a decoded trace, and in the tables of a report, with the executed code and
// the accessed data.
//
//   names-compare ORACLE KALLSYMS NAMED FOREIGN decode DECODED.txt
//   names-compare ORACLE KALLSYMS NAMED FOREIGN tables DIRECTORY [EDGES_OF]
//
// NAMED is the program file that was given to htmtrace. FOREIGN is a program that ran on the same
// processor at the same time; "-" means none. The page from which an instruction was fetched shows
// its program: one of the files has all words that were executed from this page. Where both files
// have all words, the owner is unknown, and the instructions are counted separately.
//
// decode: compares the text of `htmtrace decode --symbols`. Exit status 0: every instruction of
// NAMED and each of its accesses to an object has the right name, and no other instruction or
// access has a program name. tables: writes the true contents of a report's tables:
//   code      NAMES INSTRUCTIONS ACCESSES
//   data-U    ADDRESS ACCESSES SITES OBJECTS        by logical address, in units of U bytes
//   edges     ADDRESS COUNT                         instructions that followed EDGES_OF
//   windows   NUMBER INSTRUCTIONS ACCESSES          of 1024 instructions each
// SITES and OBJECTS are NAMES=COUNT, separated by commas. The name of code without a symbol is its
// line of 128 bytes. NAMES are equally right names separated by |, then @ and the symbol's address.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/machine/compare/line_reader.h"
#include "tests/machine/compare/oracle_reader.h"
#include "tests/machine/compare/program_file.h"

namespace {

using namespace htmtrace::compare;

constexpr uint64_t kPage = 4096;
constexpr uint64_t kUserEnd = uint64_t{1} << 52;

enum class Owner { kKernel, kNamed, kForeign, kElsewhere, kUnknowable };

struct Access {
  uint64_t ea = 0;
  uint64_t la = 0;
  bool has_la = false;
};

// The accesses of an instruction that a trace shows: the lowest address, and the lowest address in
// another page (expected_line()).
std::vector<Access> accesses_of(const OracleInstruction& instruction) {
  std::vector<Access> accesses;
  const auto& all = instruction.accesses;
  if (all.empty()) return accesses;
  const auto add = [&](const OracleAccess& access) {
    accesses.push_back({.ea = access.ea, .la = access.real, .has_la = !access.device});
  };
  const auto lower = [](const OracleAccess& a, const OracleAccess& b) { return a.ea < b.ea; };
  const OracleAccess& first = *std::min_element(all.begin(), all.end(), lower);
  const OracleAccess* second = nullptr;
  for (const OracleAccess& access : all) {
    if (access.ea / kPage == first.ea / kPage) continue;
    if (second == nullptr || access.ea < second->ea) second = &access;
  }
  add(first);
  if (second != nullptr) add(*second);
  return accesses;
}

// The kernel's names: an address has the name of the nearest preceding symbol of the same kind.
class KernelNames {
 public:
  explicit KernelNames(const char* path) {
    std::ifstream stream(path);
    std::string line;
    while (std::getline(stream, line)) {
      std::istringstream fields(line);
      std::string address, type, name, module;
      fields >> address >> type >> name >> module;
      if (type == "a" || type == "A") continue;
      std::string& text = names_[std::stoull(address, nullptr, 16)];
      text += (text.empty() ? "" : "|") + name;
    }
  }
  std::string of(uint64_t address) const {
    auto after = names_.upper_bound(address);
    if (after == names_.begin()) return "";
    --after;
    return fmt::format("{}@{:016x}", after->second, after->first);
  }

 private:
  std::map<uint64_t, std::string> names_;
};

class TrueNames {
 public:
  TrueNames(const char* oracle, const char* kallsyms, const std::string& named,
            const std::string& foreign)
      : path_(oracle), kernel_(kallsyms), named_(named) {
    if (foreign != "-") foreign_ = std::make_unique<ProgramFile>(foreign);
    OracleReader reader(path_);
    OracleInstruction instruction;
    while (reader.next(&instruction)) {
      if (instruction.ea >= kUserEnd) continue;
      Page& page = pages_[page_of(instruction)];
      for (unsigned i = 0; i < instruction.word_count; i++) {
        const uint64_t ea = instruction.ea + 4 * uint64_t{i};
        page.named = page.named && named_.has_word(ea, instruction.words[i]);
        page.foreign = page.foreign && foreign_ && foreign_->has_word(ea, instruction.words[i]);
      }
    }
    OracleReader again(path_);
    while (again.next(&instruction)) {
      if (owner_of(instruction) != Owner::kNamed) continue;
      for (const Access& access : accesses_of(instruction)) {
        if (access.has_la) own_data_.insert({access.ea / kPage, access.la / kPage});
      }
    }
  }

  Owner owner_of(const OracleInstruction& instruction) const {
    if (instruction.ea >= kUserEnd) return Owner::kKernel;
    const auto page = pages_.find(page_of(instruction));
    if (page == pages_.end()) return Owner::kElsewhere;
    if (page->second.named && page->second.foreign) return Owner::kUnknowable;
    if (page->second.named) return Owner::kNamed;
    return page->second.foreign ? Owner::kForeign : Owner::kElsewhere;
  }

  // Returns true if the named program makes the access, or if the kernel accesses a page that the
  // program accesses at this address. Another program may have used this page at this address
  // earlier.
  bool is_own_data(const Access& access, Owner owner) const {
    return owner == Owner::kNamed || (owner == Owner::kKernel && access.has_la &&
                                      own_data_.contains({access.ea / kPage, access.la / kPage}));
  }

  const std::string& path() const { return path_; }
  const KernelNames& kernel() const { return kernel_; }
  const ProgramFile& named() const { return named_; }

 private:
  struct Page {
    bool named = true;  // this file has all words
    bool foreign = true;
  };
  static std::pair<uint64_t, uint64_t> page_of(const OracleInstruction& instruction) {
    return {instruction.ea / kPage, instruction.real / kPage};
  }

  std::string path_;
  KernelNames kernel_;
  ProgramFile named_;
  std::unique_ptr<ProgramFile> foreign_;
  std::map<std::pair<uint64_t, uint64_t>, Page> pages_;
  std::set<std::pair<uint64_t, uint64_t>> own_data_;
};

bool is_one_of(std::string_view name, std::string_view names) {
  while (!names.empty()) {
    const size_t end = std::min(names.find('|'), names.size());
    if (names.substr(0, end) == name) return true;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return false;
}

// Returns whether a text such as "name+0x10?" is right for the address.
bool is_right(std::string text, const ProgramFile::Name& truth, uint64_t address) {
  if (text == "-") return truth.text.empty() || !truth.sized;
  if (text.ends_with('?')) text.pop_back();
  const size_t plus = text.rfind("+0x");
  const uint64_t distance =
      plus == std::string::npos ? 0 : std::stoull(text.substr(plus + 3), nullptr, 16);
  if (plus != std::string::npos) text.resize(plus);
  return is_one_of(text, truth.text) && truth.begin + distance == address;
}

class DecodeComparison {
 public:
  explicit DecodeComparison(const TrueNames& truth) : truth_(truth) {}

  int run(const char* path) {
    OracleReader oracle(truth_.path());
    LineReader text(path);
    OracleInstruction instruction;
    std::string_view line;
    while (oracle.next(&instruction)) {
      if (!text.next(&line)) {
        fmt::print("the text ends before the oracle does\n");
        return 1;
      }
      compare(instruction, line);
    }
    fmt::print("instructions of {}: {} right, {} of them not proven, {} wrong or without a name\n",
               truth_.named().name(), code_.right, code_.marked, code_.wrong);
    fmt::print(
        "other instructions with a name of {}: {}; with one that is marked as not proven: {}\n",
        truth_.named().name(), other_code_.wrong, other_code_.marked);
    fmt::print("accesses of {} to its own objects: {} right, {} of them not proven, {} wrong\n",
               truth_.named().name(), data_.right, data_.marked, data_.wrong);
    fmt::print("other accesses with a name of {}: {}; with one that is marked as not proven: {}\n",
               truth_.named().name(), other_data_.wrong, other_data_.marked);
    fmt::print("instructions whose owner cannot be known: {}\n", unknowable_);
    for (const auto& [example, count] : examples_) fmt::print("  {} times: {}\n", count, example);
    const bool failed =
        code_.wrong + other_code_.wrong + other_code_.marked + data_.wrong + other_data_.wrong != 0;
    return failed || code_.right == 0 || data_.right == 0 ? 1 : 0;
  }

 private:
  struct Count {
    uint64_t right = 0, wrong = 0, marked = 0;
  };

  static std::vector<std::string> fields_of(std::string_view line, std::string_view name) {
    std::vector<std::string> found;
    for (size_t at = line.find(name); at != line.npos; at = line.find(name, at)) {
      at += name.size();
      found.emplace_back(line.substr(at, std::min(line.find(' ', at), line.size()) - at));
    }
    return found;
  }

  void wrong(const char* what, const std::string& name, const std::string& truth) {
    if (examples_.size() < 40) examples_[fmt::format("{}: {} for {}", what, name, truth)]++;
  }

  void count(Count& count, const char* what, const std::string& text,
             const ProgramFile::Name& truth, uint64_t address) {
    if (is_right(text, truth, address)) {
      count.right++;
      count.marked += text.ends_with('?') ? 1 : 0;
    } else {
      count.wrong++;
      wrong(what, text.substr(0, text.rfind("+0x")), truth.text.empty() ? "none" : truth.text);
    }
  }

  // Outside the named program, only the kernel may have a name.
  void count_other(Count& count, const char* what, const std::string& text) {
    if (text == "-") return;
    if (text.ends_with('?')) {
      count.marked++;
    } else {
      count.wrong++;
    }
    wrong(what, text, "another program");
  }

  void compare(const OracleInstruction& instruction, std::string_view line) {
    const Owner owner = truth_.owner_of(instruction);
    const auto is_user = [](const OracleAccess& access) { return access.ea < kUserEnd; };
    if (owner == Owner::kKernel &&
        std::none_of(instruction.accesses.begin(), instruction.accesses.end(), is_user)) {
      return;
    }
    const std::string name = fields_of(line, " sym=").at(0);
    if (owner == Owner::kUnknowable) {
      unknowable_++;
      return;
    }
    if (owner == Owner::kNamed) {
      count(code_, "instruction", name, truth_.named().name_of(instruction.ea), instruction.ea);
    } else if (owner != Owner::kKernel) {
      count_other(other_code_, "instruction", name);
    }
    const std::vector<std::string> names = fields_of(line, " dsym=");
    const std::vector<Access> accesses = accesses_of(instruction);
    for (size_t i = 0; i < accesses.size(); i++) {
      const Access& access = accesses[i];
      if (access.ea >= kUserEnd) continue;
      const ProgramFile::Name& truth = truth_.named().name_of(access.ea);
      const bool own = truth_.is_own_data(access, owner);
      if (own && owner == Owner::kNamed) {
        count(data_, "access", names.at(i), truth, access.ea);
      } else if (own) {
        // The kernel accesses memory for the program: a name must be right, but may be missing.
        if (names.at(i) != "-") count(data_, "access", names.at(i), truth, access.ea);
      } else if (owner == Owner::kKernel && names.at(i).ends_with('?')) {
        other_data_.marked++;
      } else {
        count_other(other_data_, "access", names.at(i));
      }
    }
  }

  const TrueNames& truth_;
  Count code_, other_code_, data_, other_data_;
  uint64_t unknowable_ = 0;
  std::map<std::string, uint64_t> examples_;
};

class Tables {
 public:
  explicit Tables(const TrueNames& truth) : truth_(truth) {}

  void write(const std::filesystem::path& folder, uint64_t edges_of) {
    OracleReader oracle(truth_.path());
    OracleInstruction instruction;
    bool follows = false;
    for (uint64_t number = 0; oracle.next(&instruction); number++) {
      if (follows) edges_[instruction.ea]++;
      follows = instruction.ea == edges_of;
      const std::vector<Access> accesses = accesses_of(instruction);
      const Owner owner = truth_.owner_of(instruction);
      const std::string site = site_of(instruction, owner);
      Work& code = code_[site];
      code.instructions++;
      code.accesses += accesses.size();
      Work& window = windows_[number / 1024];
      window.instructions++;
      window.accesses += accesses.size();
      for (const Access& access : accesses) {
        if (!access.has_la) continue;
        const std::string object = object_of(access, owner);
        for (size_t i = 0; i < kUnits.size(); i++) {
          Row& row = data_[i][access.la / kUnits[i] * kUnits[i]];
          row.accesses++;
          row.sites[site]++;
          row.objects[object]++;
        }
      }
    }
    write_all(folder);
  }

 private:
  struct Work {
    uint64_t instructions = 0, accesses = 0;
  };
  struct Row {
    uint64_t accesses = 0;
    std::map<std::string, uint64_t> sites, objects;
  };
  static constexpr std::array<uint64_t, 2> kUnits = {128, 65536};

  // Names are not unique, so the address of the symbol follows.
  std::string program_name(uint64_t address) const {
    const ProgramFile::Name& name = truth_.named().name_of(address);
    return name.text.empty() ? "" : fmt::format("{}@{:016x}", name.text, name.begin);
  }

  std::string site_of(const OracleInstruction& instruction, Owner owner) const {
    std::string name;
    if (owner == Owner::kKernel) name = truth_.kernel().of(instruction.ea);
    if (owner == Owner::kNamed) name = program_name(instruction.ea);
    return name.empty() ? fmt::format("{:016x}", instruction.ea & ~uint64_t{127}) : name;
  }

  std::string object_of(const Access& access, Owner owner) const {
    std::string name;
    if (access.ea >= kUserEnd) {
      name = truth_.kernel().of(access.ea);
    } else if (truth_.is_own_data(access, owner)) {
      name = program_name(access.ea);
    }
    return name.empty() ? "-" : name;
  }

  static std::string list(const std::map<std::string, uint64_t>& counts) {
    std::string text;
    for (const auto& [name, count] : counts) {
      text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, count);
    }
    return text;
  }

  void write_all(const std::filesystem::path& folder) const {
    std::ofstream code(folder / "code");
    for (const auto& [name, work] : code_) {
      code << name << ' ' << work.instructions << ' ' << work.accesses << '\n';
    }
    for (size_t i = 0; i < kUnits.size(); i++) {
      std::ofstream data(folder / fmt::format("data-{}", kUnits[i]));
      for (const auto& [address, row] : data_[i]) {
        data << fmt::format("{:016x} {} {} {}\n", address, row.accesses, list(row.sites),
                            list(row.objects));
      }
    }
    std::ofstream edges(folder / "edges");
    for (const auto& [address, count] : edges_)
      edges << fmt::format("{:016x} {}\n", address, count);
    std::ofstream windows(folder / "windows");
    for (const auto& [number, work] : windows_) {
      windows << number << ' ' << work.instructions << ' ' << work.accesses << '\n';
    }
  }

  const TrueNames& truth_;
  std::map<std::string, Work> code_;
  std::array<std::map<uint64_t, Row>, kUnits.size()> data_;
  std::map<uint64_t, uint64_t> edges_;
  std::map<uint64_t, Work> windows_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 7) {
    fmt::print(stderr, "usage: names-compare ORACLE KALLSYMS NAMED FOREIGN decode|tables PATH\n");
    return 2;
  }
  try {
    const TrueNames truth(argv[1], argv[2], argv[3], argv[4]);
    if (std::string_view(argv[5]) == "decode") return DecodeComparison(truth).run(argv[6]);
    Tables(truth).write(argv[6], argc > 7 ? std::stoull(argv[7], nullptr, 16) : ~uint64_t{0});
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "names-compare: {}\n", error.what());
    return 1;
  }
}
