// SPDX-License-Identifier: GPL-2.0-or-later
// Names of addresses.
//
// A user address alone does not say which program it belongs to: most programs of one system start
// at the same address. The names of a program file therefore apply only to addresses whose owner is
// known; core/symbol_cursor.h finds the owner and puts it into the address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/address.h"
#include "core/page_owners.h"

namespace htmtrace {

class SymbolTable {
 public:
  enum class Kind : uint8_t { kFunction, kObject, kUntyped };
  enum class Binding : uint8_t { kGlobal, kWeak, kLocal };
  enum class Section : uint8_t { kUnknown, kCode, kData };

  struct Symbol {
    uint64_t address = 0;
    uint64_t size_bytes = 0;  // 0: unknown; up to the next symbol, `limit`, or kMostBytes
    std::string name;         // empty: only ends the preceding symbol, if that has no size
    Kind kind = Kind::kFunction;
    Binding binding = Binding::kGlobal;
    Section section = Section::kUnknown;  // limits the name to code or to data, if known
    uint32_t local_entry_bytes = 0;       // from the address to the entry of local callers
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

  // Code of a program file at its addresses in memory.
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
    std::string file;      // its name, without folders
    bool is_main = false;  // a program, not a library: a process that runs its code has mapped it
    uint64_t begin = 0;    // lowest address of the file in memory
    uint64_t end = 0;
    std::vector<Load> loads;
    std::vector<Text> texts;
    uint32_t number = PageOwners::kNone;  // number of the file in the page owners; set by finish()
    bool holds(uint64_t address) const { return address - begin < end - begin; }
    // Returns whether the file has `word` at `address`.
    bool has_word(uint64_t address, uint32_t word) const;
    // Returns whether this offset of the file is loaded at `address`.
    bool has_offset(uint64_t address, uint64_t offset) const;
  };
  static constexpr size_t kMostPrograms = 126;

  // Symbols that are added after this call belong to this program. Symbols that are added before
  // the first call belong to no program, for example to the kernel. Throws Error for too many
  // programs.
  void begin_program(Program program);
  void end_program() { current_ = 0; }
  void add(Symbol symbol) { layers_[current_].symbols.push_back(std::move(symbol)); }

  // Sets the files to which pages belong.
  void set_pages(PageOwners pages) { pages_ = std::move(pages); }

  // Call it after the last add(), before the first find().
  //
  // A symbol with a size names all its bytes. If several symbols hold an address, the symbol that
  // begins last names it, then the smallest, then the one that is global, typed, and first by name.
  // A symbol without a size names the bytes that no other symbol names, up to the next symbol.
  void finish();

  // The symbol of `address`; null when none is known. An address without an owner gets the name
  // from the first program that has one.
  const Symbol* find(EffectiveAddr address) const;
  // The same, with the known range of addresses that have the same symbol, or that have no symbol.
  Span span_of(EffectiveAddr address) const;
  // The same for instructions, which data symbols never name.
  const Symbol* find_code(EffectiveAddr address) const;
  Span code_span_of(EffectiveAddr address) const;
  // Searches only the symbols that belong to no program.
  const Symbol* find_unowned(EffectiveAddr address) const;

  size_t size() const;
  bool empty() const { return size() == 0; }
  const std::vector<Program>& programs() const { return programs_; }
  const PageOwners& pages() const { return pages_; }
  // Whether some process has mapped both this file of the pages and one of the programs.
  bool is_near(uint32_t file) const { return file < near_.size() && near_[file]; }

 private:
  struct Place {
    uint64_t begin = 0;
    uint64_t end = 0;
    size_t symbol = 0;
  };
  struct Layer {
    std::vector<Symbol> symbols;
    std::vector<Place> places;  // sorted, without overlaps
    void finish();
    Span span_of(uint64_t address) const;
  };

  std::vector<Layer> layers_ = std::vector<Layer>(1);  // first without a program, then one for each
  std::vector<Program> programs_;
  size_t current_ = 0;
  PageOwners pages_;
  std::vector<bool> near_;  // by file of the pages
};

// Effective addresses with their owners. Linux gives a program addresses below 2^52
// (arch/powerpc/include/asm/task_size_64.h, TASK_SIZE_4PB): the bits from there to 2^60 are free.
namespace owned {

inline constexpr unsigned kShift = 52;
inline constexpr uint64_t kMask = uint64_t{0xff} << kShift;
// Code or data of an unnamed or unknown program.
inline constexpr uint64_t kForeign = 0xff;

constexpr bool is_user(uint64_t address) {
  return address >> kShift == 0;
}
// Addresses of a trace that no program and no kernel has. Their bits would be taken for an owner,
// so they must not be given to a SymbolTable or shown as if they had one.
constexpr bool is_nobodys(uint64_t address) {
  return address >> 60 == 0 && !is_user(address);
}
// 0: none.
constexpr uint64_t owner(uint64_t address) {
  return address >> 60 == 0 ? address >> kShift : 0;
}
constexpr uint64_t with(uint64_t address, uint64_t owner) {
  return address | owner << kShift;
}
// Owners are numbers of programs from 0 on, with or without a proof.
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
// The address as in the trace, without the owner.
constexpr uint64_t plain(uint64_t address) {
  return address >> 60 == 0 ? address & ~kMask : address;
}

}  // namespace owned

// Returns an address, with its owner, by which find() finds the symbol of the span. The key is the
// same for all addresses of the symbol; `address` is one of them. Returns 0 without a symbol.
uint64_t symbol_key(const SymbolTable::Span& span, EffectiveAddr address);

// Returns "name" or "name+0x1c"; "name+0x1c?" if it is not proven that the address belongs to the
// program of the symbol.
std::string symbol_text(const SymbolTable::Symbol& symbol, uint64_t address);

}  // namespace htmtrace
