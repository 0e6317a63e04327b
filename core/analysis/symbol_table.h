// SPDX-License-Identifier: GPL-2.0-or-later
// Names of addresses.
//
// A user address alone does not identify its program: most programs of a system start at the same
// address. The names of a program file therefore apply only to addresses with a known owner.
// core/analysis/symbol_cursor.h finds the owner and adds it to the address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/page_owners.h"
#include "core/base/address.h"
#include "core/base/budget.h"
#include "core/base/plain_text.h"

namespace htmtrace {

class SymbolTable {
 public:
  enum class Kind : uint8_t { kFunction, kObject, kUntyped };
  enum class Binding : uint8_t { kGlobal, kWeak, kLocal };
  enum class Section : uint8_t { kUnknown, kCode, kData };

  struct Symbol {
    uint64_t address = 0;
    uint64_t size_bytes = 0;  // 0: unknown; up to the next symbol, `limit`, or kMostBytes
    std::string name;         // empty: only ends the preceding symbol, if that symbol has no size
    Kind kind = Kind::kFunction;
    Binding binding = Binding::kGlobal;
    Section section = Section::kUnknown;  // limits the name to code or data, if known
    uint32_t local_entry_bytes = 0;       // distance to the entry for local callers
    uint64_t limit = 0;                   // end of the section; 0: unknown
    // The first address with this name, set by finish(). find() finds the symbol by this address.
    uint64_t named_at = 0;
  };
  static constexpr uint64_t kMostBytes = 1 << 20;

  // Addresses from `begin` to `end`, all named by `symbol`.
  struct Span {
    uint64_t begin = 0;
    uint64_t end = 0;
    const Symbol* symbol = nullptr;
    bool holds(uint64_t address) const { return address - begin < end - begin; }
  };

  // Code of a program file at its memory addresses.
  struct Text {
    uint64_t address = 0;
    std::vector<uint32_t> words;
  };

  // A loaded part of a program file.
  struct Load {
    uint64_t address = 0;
    uint64_t offset = 0;  // in the file
    uint64_t size_bytes = 0;
  };

  // A file whose names apply to the processes that have mapped it.
  struct Program {
    std::string file;  // its name, without folders
    // Its path in the recording. Empty: the only recorded file with this name.
    std::string path = {};
    // The absolute path of the file that was read.
    std::string source = {};
    std::string build_id = {};  // its bytes; empty: none
    // Distinguishes the file from earlier and later files of the same path. 0: unknown.
    uint64_t inode = 0;
    bool is_main =
        false;  // a program, not a library: each process that runs its code has mapped the file
    // False: data has a name of this program only if the owner of the data is proven.
    bool may_guess_data = true;
    uint64_t begin = 0;  // lowest address of the file in memory
    uint64_t end = 0;
    std::vector<Load> loads;
    std::vector<Text> texts;              // begin_program() sorts them by address
    uint32_t number = PageOwners::kNone;  // number of the file in the page owners
    bool holds(uint64_t address) const { return address - begin < end - begin; }
    // True if the file has `word` at `address`.
    bool has_word(uint64_t address, uint32_t word) const;
    // The words of the file at these addresses; null if the file does not have all of them.
    const uint32_t* words_at(uint64_t address, uint64_t size_bytes) const;
    struct Word {
      uint64_t address = 0;
      uint32_t word = 0;
    };
    // The first word that the file has at `address` or at a later address.
    std::optional<Word> word_from(uint64_t address) const;
    // True if this offset of the file is loaded at `address`.
    bool has_offset(uint64_t address, uint64_t offset) const;
  };
  static constexpr size_t kMostPrograms = 126;
  // The size of a SHA-1 hash. By default, linkers write build IDs of at most this size, and perf
  // supports build IDs of at most this size.
  static constexpr size_t kMostBuildIdBytes = 20;

  // A file on this machine whose symbols the table has.
  struct File {
    static constexpr size_t kNoProgram = ~size_t{0};
    std::string path;
    uint64_t distance = 0;  // from the addresses in the file to those in memory
    uint64_t begin = 0;     // lowest address of the file in memory
    uint64_t end = 0;
    size_t program = kNoProgram;  // its number; a kernel has none
  };

 private:
  struct Place {
    uint64_t begin = 0;
    uint64_t end = 0;
    size_t symbol = 0;
  };

 public:
  // Symbols added after this call belong to this program. Symbols added before the first call
  // belong to no program, for example to the kernel. Throws Error for too many programs.
  void begin_program(Program program);
  void end_program() { current_ = 0; }
  void add_file(File file) { files_.push_back(std::move(file)); }
  // Removes the programs from number `count` on, with their symbols and files.
  void drop_programs(size_t count);
  // add() escapes control characters, which a stranger's program could send to the terminal, and
  // cuts the name to kMostNameBytes. No compiler makes names of this length, and each line of text
  // may hold three names.
  static constexpr size_t kMostNameBytes = 128 << 10;
  void add(Symbol symbol);
  // A reader adds its input, and takes memory_bytes() for each symbol.
  MemoryBudget& budget() { return budget_; }
  // The memory of a symbol with a name of this length.
  static constexpr uint64_t memory_bytes(size_t name_bytes) {
    constexpr uint64_t kHeapBytes = 32;  // of a text, in addition to its characters
    return grown_bytes<Symbol>() + grown_bytes<Place>() + kHeapBytes + name_bytes;
  }

  // The number of the program's file in `pages`, or PageOwners::kNone.
  static uint32_t number_in(const PageOwners& pages, const Program& program) {
    return program.path.empty() ? pages.number_of_name(program.file)
                                : pages.number_of(program.path, program.inode);
  }
  // Removes the symbols that only one of the two tables has, with their kind. Each of their
  // addresses still ends the preceding symbol. Returns true if there is such an address. If no name
  // is left, the table is empty. Call this before finish(), and before the first program and the
  // first symbol with a size. Throws Error when it takes too much memory.
  bool keep_common(const SymbolTable& other);

  // Call finish() after the last add() and before the first find().
  //
  // A symbol with a size names all its bytes. If several symbols hold an address, the symbol that
  // begins last names the address. Further criteria, in order: smaller size, global, typed, first
  // by name. A symbol without a size names the bytes up to the next symbol that no other symbol
  // names.
  void finish();

  // Sets the page owners of the current recording, and with them the numbers of the programs'
  // files. Cursors look up their pages again. Call this between two traces, not during one.
  void set_pages(PageOwners pages);
  // The number of calls of set_pages().
  uint64_t pages_version() const { return pages_version_; }

  // The symbol of `address`, or null. An address without an owner gets its name from the first
  // program that has a symbol there.
  const Symbol* find(EffectiveAddr address) const;
  // Like find(), with the known range of addresses that share the symbol or have no symbol.
  Span span_of(EffectiveAddr address) const;
  // Like find(), for instructions, which data symbols never name.
  const Symbol* find_code(EffectiveAddr address) const;
  Span code_span_of(EffectiveAddr address) const;
  // Searches only the symbols that belong to no program.
  const Symbol* find_unowned(EffectiveAddr address) const;

  // A symbol and the file that it belongs to.
  struct Named {
    const Symbol* symbol = nullptr;
    size_t layer = 0;  // 0: of no program; i + 1: of programs()[i]
  };
  // Calls visit(named) for each symbol with a name, in the order of addresses in each layer.
  template <class Visit>
  void visit(const Visit& visit) const {
    for (size_t i = 0; i < layers_.size(); i++) {
      for (const Symbol& symbol : layers_[i].symbols) {
        if (!symbol.name.empty()) visit(Named{&symbol, i});
      }
    }
  }
  // The symbol of the layer that names the address, or null.
  const Symbol* find_in(size_t layer, uint64_t address) const {
    return layers_[layer].span_of(address).symbol;
  }

  size_t size() const;
  bool empty() const { return size() == 0; }
  const std::vector<Program>& programs() const { return programs_; }
  const std::vector<File>& files() const { return files_; }
  // The file that has an address, or null.
  const File* file_of(EffectiveAddr address) const;
  const PageOwners& pages() const { return pages_; }
  // True if some process has mapped both this file of the pages and one of the programs.
  bool is_near(uint32_t file) const { return file < near_.size() && near_[file]; }

 private:
  void number_files();

  struct Layer {
    std::vector<Symbol> symbols;
    std::vector<Place> places;  // sorted, without overlaps
    void finish();
    Span span_of(uint64_t address) const;
  };

  std::vector<Layer> layers_ =
      std::vector<Layer>(1);  // first the layer without a program, then one layer for each program
  std::vector<Program> programs_;
  std::vector<File> files_;
  MemoryBudget budget_;
  size_t current_ = 0;
  PageOwners pages_;        // of the current recording
  std::vector<bool> near_;  // indexed by file of the pages
  uint64_t pages_version_ = 0;
};

// Effective addresses with their owners. Linux gives a program addresses below 2^52
// (arch/powerpc/include/asm/task_size_64.h, TASK_SIZE_4PB): the bits from there to 2^60 are free.
namespace owned {

inline constexpr unsigned kShift = 52;
inline constexpr uint64_t kMask = uint64_t{0xff} << kShift;
// Code or data of an unnamed or unknown program.
inline constexpr uint64_t kForeign = 0xff;

// The first address above those with an owner.
inline constexpr uint64_t kFirstWithout = uint64_t{1} << 60;

constexpr bool is_user(uint64_t address) {
  return address >> kShift == 0;
}
// Addresses of a trace that belong to no program and no kernel. Their bits would count as an owner,
// so a SymbolTable must not receive them and reports must not show an owner.
constexpr bool is_nobodys(uint64_t address) {
  // One comparison, because kernel and user addresses alternate and two branches would be
  // mispredicted.
  return (address >> kShift) - 1 < kMask >> kShift;
}
// Returns 0 for an address without an owner.
constexpr uint64_t owner(uint64_t address) {
  return address >> 60 == 0 ? address >> kShift : 0;
}
constexpr uint64_t with(uint64_t address, uint64_t owner) {
  return address | owner << kShift;
}
// The owner of a program's addresses. Programs are numbered from 0; the number also states whether
// the owner is proven.
constexpr uint64_t of_program(size_t program, bool proven) {
  return 2 * program + (proven ? 1 : 2);
}
constexpr size_t program(uint64_t owner) {
  return static_cast<size_t>((owner - 1) / 2);
}
constexpr bool is_unproven(uint64_t address) {
  const uint64_t who = owner(address);
  return who != 0 && who != kForeign && who % 2 == 0;
}
// The address in the trace, without the owner.
constexpr uint64_t plain(uint64_t address) {
  return address >> 60 == 0 ? address & ~kMask : address;
}

}  // namespace owned

// An address with its owner that find() resolves to the symbol of the span. The key is the same for
// all addresses of the symbol, of which `address` is an example. Returns 0 without a symbol.
uint64_t symbol_key(const SymbolTable::Span& span, EffectiveAddr address);

// "name" or "name+0x1c"; "name+0x1c?" if the owner of the address is not proven.
std::string symbol_text(const SymbolTable::Symbol& symbol, uint64_t address);

}  // namespace htmtrace
