// SPDX-License-Identifier: GPL-2.0-or-later
// Names of addresses for printers. For one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "core/analysis/symbol_cursor.h"
#include "core/analysis/symbol_table.h"
#include "output/io/hex_text.h"
#include "output/io/put_text.h"

namespace htmtrace {

class AddressNames {
  struct Known;

 public:
  // "name+0x1c", "name+0x1c?" if the owner of the address is not proven, or empty if the address
  // has no name. The name of code is valid until the next name of code, and that of data until the
  // next name of data.
  class Name {
   public:
    Name() = default;
    bool empty() const { return known_ == nullptr; }
    // True if the name is not empty, has no blank, and is short enough for put().
    bool is_word() const { return known_ != nullptr && known_->is_word; }
    static constexpr size_t kMostWordBytes = 64;
    // Writes the name, and returns its end. Requires is_word() and room for kMostWordBytes
    // characters.
    char* put(char* to) const {
      std::memcpy(to, known_->text.data(), kShortBytes);
      return put_distance(to + known_->name_bytes);
    }
    std::string_view text() const;

   private:
    friend class AddressNames;
    Name(Known& known, uint64_t address) : known_(&known), address_(address) {}
    char* put_distance(char* to) const;

    Known* known_ = nullptr;
    uint64_t address_ = 0;  // with its owner
  };

  // `symbols` must outlive this object. Null turns names off.
  explicit AddressNames(const SymbolTable* symbols) : symbols_(symbols) {
    if (symbols != nullptr) cursor_.emplace(*symbols);
  }

  bool wanted() const { return symbols_ != nullptr; }

  // The name of the instruction. Call it only if wanted(). code() or code_in_page() must receive
  // every instruction, because the names of data depend on it.
  Name code(const Instruction& instruction) {
    return code_at(instruction.has_ea, instruction.ea, cursor_->code(instruction));
  }
  // See the functions of SymbolCursor with the same names.
  void enter_page(EffectiveAddr ea, LogicalAddr la, bool has_la) {
    cursor_->enter_page(ea, la, has_la);
  }
  Name code_in_page(EffectiveAddr ea, uint32_t opcode, uint16_t modes) {
    return code_at(true, ea, cursor_->code_in_page(ea, opcode, modes));
  }
  // The name of a data access of the last instruction.
  Name data(const DataAccess& access) {
    const EffectiveAddr address = cursor_->data(access);
    if (owned::is_nobodys(access.ea.value)) [[unlikely]]
      return {};
    Known& known = data_[kind_of(address)];
    if (!known.span.holds(address.value)) [[unlikely]]
      enter(known, symbols_->span_of(address), address);
    return name(known, address);
  }

 private:
  static constexpr size_t kMostDistanceBytes = 20;  // "+0x", 16 digits, "?"
  static constexpr size_t kShortBytes = Name::kMostWordBytes - kMostDistanceBytes;

  // A cache entry: most addresses are near the preceding address of the same kind.
  struct Known {
    SymbolTable::Span span;
    uint64_t first = 0;  // the address of the symbol, with the owner of the span
    bool is_unproven = false;
    bool is_word = false;
    size_t name_bytes = 0;
    std::string text;  // the name, and room for the distance of the last address
  };

  Name code_at(bool has_ea, EffectiveAddr ea, EffectiveAddr address) {
    if (!has_ea || owned::is_nobodys(ea.value)) [[unlikely]]
      return {};
    Known& known = code_[kind_of(address)];
    if (!known.span.holds(address.value)) [[unlikely]]
      enter(known, symbols_->code_span_of(address), address);
    return name(known, address);
  }
  // The index in code_ and data_. Programs, unknown programs (owned::kForeign) and the kernel have
  // separate entries, because their addresses alternate. Some of the programs after the 31st share
  // the entry of unknown programs, which costs only time.
  static size_t kind_of(EffectiveAddr address) {
    return (address.value >> 62 & 2) | (address.value >> (owned::kShift + 6) & 1);
  }
  static Name name(Known& known, EffectiveAddr address) {
    return known.span.symbol == nullptr ? Name() : Name(known, address.value);
  }
  static void enter(Known& known, const SymbolTable::Span& span, EffectiveAddr address);

  const SymbolTable* symbols_;
  std::optional<SymbolCursor> cursor_;
  std::array<Known, 4> code_;
  std::array<Known, 4> data_;
};

inline char* AddressNames::Name::put_distance(char* to) const {
  const uint64_t distance = address_ - known_->first;
  if (distance != 0) to = put_short_hex(put_text(to, "+0x"), distance);
  *to = '?';
  return to + (known_->is_unproven ? 1 : 0);
}

}  // namespace htmtrace
