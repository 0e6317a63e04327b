// SPDX-License-Identifier: GPL-2.0-or-later
// Selects instructions by the names of their code and data. An instruction has the names that
// htmtrace decode --symbols prints for it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "core/analysis/symbol_cursor.h"
#include "core/analysis/symbol_table.h"
#include "core/core_trace/events.h"
#include "core/selection/selection.h"

namespace htmtrace {

// Symbols, or parts of symbols.
class SymbolSet {
 public:
  // Offsets from the address of the symbol; both ends belong to the part.
  struct Part {
    const SymbolTable::Symbol* symbol = nullptr;
    uint64_t first = 0;
    uint64_t last = std::numeric_limits<uint64_t>::max();
  };
  using Parts = std::span<const Part>;

  void add(const Part& part) { parts_.push_back(part); }
  // Call finish() after the last add() and before parts_of().
  void finish() { std::ranges::stable_sort(parts_, std::less<>(), &Part::symbol); }

  Parts parts_of(const SymbolTable::Symbol* symbol) const {
    const auto begin = std::ranges::lower_bound(parts_, symbol, std::less<>(), &Part::symbol);
    const auto end = std::ranges::upper_bound(parts_, symbol, std::less<>(), &Part::symbol);
    return Parts(parts_).subspan(static_cast<size_t>(begin - parts_.begin()),
                                 static_cast<size_t>(end - begin));
  }
  const std::vector<Part>& parts() const { return parts_; }
  bool empty() const { return parts_.empty(); }

 private:
  std::vector<Part> parts_;
};

// Finds the parts of a set that contain the addresses of one trace. Addresses can be in any order.
class SymbolFollower {
 public:
  // All arguments must outlive this object. With `of_code`, symbols of data never match.
  SymbolFollower(const SymbolTable& symbols, const SymbolSet& set, bool of_code)
      : symbols_(&symbols), set_(&set), of_code_(of_code) {}

  // `address` contains its owner (SymbolCursor). Returns the first part that holds the address, or
  // null.
  const SymbolSet::Part* find(EffectiveAddr address) {
    if (!span_.holds(address.value)) [[unlikely]] {
      span_ = of_code_ ? symbols_->code_span_of(address) : symbols_->span_of(address);
      parts_ = span_.symbol == nullptr ? SymbolSet::Parts() : set_->parts_of(span_.symbol);
    }
    for (const SymbolSet::Part& part : parts_) {
      const uint64_t offset = owned::plain(address.value) - part.symbol->address;
      if (offset >= part.first && offset <= part.last) return &part;
    }
    return nullptr;
  }

 private:
  const SymbolTable* symbols_;
  const SymbolSet* set_;
  bool of_code_;
  SymbolTable::Span span_;  // a cache: most addresses are near their predecessors
  SymbolSet::Parts parts_;  // of the symbol of span_
};

struct NameSelection {
  const SymbolTable* symbols = nullptr;
  SymbolSet functions;           // empty: all code
  SymbolSet objects;             // empty: all data
  SymbolSet modules;             // the symbols of the selected kernel modules
  std::vector<uint32_t> files;   // numbers of the selected files in the page owners
  std::vector<size_t> programs;  // indexes of the selected programs
  bool of_file = false;          // code must belong to `modules`, `files` or `programs`
};

// Follows one trace. It must receive every instruction, because the owners of data depend on the
// instruction.
class NameSelector {
 public:
  // `selection` must outlive this object.
  explicit NameSelector(const NameSelection& selection)
      : selection_(&selection),
        cursor_(*selection.symbols),
        functions_(*selection.symbols, selection.functions, true),
        modules_(*selection.symbols, selection.modules, true),
        objects_(*selection.symbols, selection.objects, false) {}

  NameMatch match(const Instruction& instruction);

 private:
  // A cached answer of on_page().
  struct Page {
    uint64_t ea = kNoPage;
    uint64_t la = kNoPage;
    bool selected = false;
  };
  static constexpr uint64_t kNoPage = 1;

  bool in_file(const Instruction& instruction, EffectiveAddr address);
  bool on_page(const Instruction& instruction);

  const NameSelection* selection_;
  SymbolCursor cursor_;
  SymbolFollower functions_;
  SymbolFollower modules_;
  SymbolFollower objects_;
  std::array<Page, 64> pages_{};
};

}  // namespace htmtrace
