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
    std::string name;         // empty: only ends the symbol before, if that has no size
    Kind kind = Kind::kFunction;
    Binding binding = Binding::kGlobal;
    Section section = Section::kUnknown;  // of the address, which names neither code nor data else
    uint32_t local_entry_bytes = 0;       // from the address to the entry of local callers
    uint64_t limit = 0;                   // end of the section; 0: unknown
    // finish() sets it: the first address that has this name, by which find() finds the symbol
    // again.
    uint64_t named_at = 0;
  };
  static constexpr uint64_t kMostBytes = 1 << 20;

  // Addresses from `begin` to `end`, of which `symbol` names all.
  struct Span {
    uint64_t begin = 0;
    uint64_t end = 0;
    const Symbol* symbol = nullptr;
    bool holds(uint64_t address) const { return address - begin < end - begin; }
  };

  // Code of a program file as it is in memory.
  struct Text {
    uint64_t address = 0;
    std::vector<uint32_t> words;
  };

  // Part of a program file that is in memory.
  struct Load {
    uint64_t address = 0;
    uint64_t offset = 0;  // in the file
    uint64_t size_bytes = 0;
  };

  // A file whose names apply to the processes that have mapped it.
  struct Program {
    std::string file;      // its name, without folders
    bool is_main = false;  // a program, not a library: who runs its code has mapped it
    uint64_t begin = 0;    // of the addresses that it takes up
    uint64_t end = 0;
    std::vector<Load> loads;
    std::vector<Text> texts;
    uint32_t number = PageOwners::kNone;  // of the file among the page owners; finish() sets it
    bool holds(uint64_t address) const { return address - begin < end - begin; }
    // Whether the file has `word` at `address`.
    bool has_word(uint64_t address, uint32_t word) const;
    // Whether this offset in the file is in memory at `address`.
    bool has_offset(uint64_t address, uint64_t offset) const;
  };
  static constexpr size_t kMostPrograms = 126;

  // Symbols that are added next belong to this program; before the first call, to no program: to
  // the kernel, say. Throws Error when there are too many.
  void begin_program(Program program);
  void end_program() { current_ = 0; }
  void add(Symbol symbol) { layers_[current_].symbols.push_back(std::move(symbol)); }

  // Which pages belong to which file.
  void set_pages(PageOwners pages) { pages_ = std::move(pages); }

  // After the last add(): find() works from here on.
  //
  // A symbol with a size names all its bytes. Where several hold an address, the one that begins
  // last does, then the smallest, then the one that is global, typed, and first by name. A symbol
  // without a size names what no other does, up to the next symbol.
  void finish();

  // The symbol of `address`; null when none is known. An address without an owner has the name of
  // no program in particular: of the first that has one.
  const Symbol* find(EffectiveAddr address) const;
  // The same with the addresses, as far as is known, that have the same symbol or none.
  Span span_of(EffectiveAddr address) const;
  // The same of instructions, which no data symbol names.
  const Symbol* find_code(EffectiveAddr address) const;
  Span code_span_of(EffectiveAddr address) const;
  // Of the symbols that belong to no program.
  const Symbol* find_unowned(EffectiveAddr address) const;

  size_t size() const;
  bool empty() const { return size() == 0; }
  const std::vector<Program>& programs() const { return programs_; }
  const PageOwners& pages() const { return pages_; }

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

  std::vector<Layer> layers_ = std::vector<Layer>(1);  // of no program, then of each program
  std::vector<Program> programs_;
  size_t current_ = 0;
  PageOwners pages_;
};

// Effective addresses with their owners. Linux gives a program addresses below 2^52
// (arch/powerpc/include/asm/task_size_64.h, TASK_SIZE_4PB): the bits from there to 2^60 are free.
namespace owned {

inline constexpr unsigned kShift = 52;
inline constexpr uint64_t kMask = uint64_t{0xff} << kShift;
// Code or data of a program that is none of the named ones, or cannot be told.
inline constexpr uint64_t kForeign = 0xff;

constexpr bool is_user(uint64_t address) {
  return address >> kShift == 0;
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
// As it is in the trace.
constexpr uint64_t plain(uint64_t address) {
  return address >> 60 == 0 ? address & ~kMask : address;
}

}  // namespace owned

// An address, with its owner, by which the symbol of the span is found: the same for all addresses
// of the symbol. `address` is one of them. 0 without a symbol.
uint64_t symbol_key(const SymbolTable::Span& span, EffectiveAddr address);

// "name" or "name+0x1c"; "name+0x1c?" where nothing proves that the address belongs to the program
// of the symbol.
std::string symbol_text(const SymbolTable::Symbol& symbol, uint64_t address);

}  // namespace htmtrace
