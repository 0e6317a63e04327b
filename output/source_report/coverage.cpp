// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/source_report/coverage.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "core/analysis/control_flow.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/coverage/flow.h"
#include "output/source_lines/code_words.h"
#include "output/source_lines/debug_info.h"

namespace htmtrace {
namespace {

using Source = SourceCoverage::Source;

// Adds the coverage of one program file.
class ProgramCoverage {
 public:
  ProgramCoverage(const CodeEdges& edges, const CodeFiles::File& file, const SymbolTable& symbols,
                  DebugBudgets& budgets, SourceCoverage& all)
      : file_(file), symbols_(symbols), budgets_(budgets), all_(all), flow_(edges, file) {
    find_branches();
  }

  SourceVisitor visitor() {
    return {.begin_unit = [this](bool marks_statements) { marks_statements_ = marks_statements; },
            .function = [this](const SourceFunction& function) { add(function); },
            .row = [this](const SourceRow& row) { add(row); },
            .end_unit = [this] { end_unit(); }};
  }

 private:
  // A row of the current unit.
  struct Row {
    Source* source = nullptr;
    uint32_t line = 0;
    uint32_t function = 0;
    uint32_t column = 0;
    bool is_statement = false;
    uint64_t begin = 0;
    uint64_t end = 0;
    uint64_t loops_end = 0;  // not 0: `begin` is the entry of a function that ends there

    auto line_key() const { return std::tuple(source, line); }
    auto key() const { return std::tuple(source, line, function); }
    // Whether the rows belong to one copy of a line.
    bool is_same_line(const Row& other) const { return key() == other.key(); }
  };
  struct Branch {
    uint64_t address = 0;
    const Flow::Branch* outcomes = nullptr;  // null: it did not run
    bool has_line = false;
  };
  // Memory of an element of a map, with its content.
  static constexpr uint64_t kNodeBytes = 128;

  // The branches of the file, and those that the kernel wrote into its code.
  void find_branches() {
    const auto& executed = flow_.branches();
    try {
      visit_code(file_.path, budgets_.work, [this](uint64_t address, uint32_t word) {
        if (branch_kind(word) != BranchKind::kConditional) return;
        budgets_.memory.take(grown_bytes<Branch>());
        branches_.push_back({.address = address});
      });
    } catch (const Error& error) {
      all_.problems.emplace_back(error.what());
    }
    for (const Flow::Branch& branch : executed) {
      branches_.push_back({.address = branch.address, .outcomes = &branch});
      all_.unknown_outcomes += branch.unknown;
    }
    // An executed branch precedes the branch of the file at the same address.
    std::ranges::stable_sort(branches_, [](const Branch& a, const Branch& b) {
      return std::pair(a.address, a.outcomes == nullptr) <
             std::pair(b.address, b.outcomes == nullptr);
    });
    branches_.erase(
        std::unique(branches_.begin(), branches_.end(),
                    [](const Branch& a, const Branch& b) { return a.address == b.address; }),
        branches_.end());
  }

  // Null if the path is unknown.
  Source* source_of(std::string_view path) {
    if (path.empty()) return nullptr;
    Source*& known = of_unit_[path.data()];
    if (known != nullptr) return known;
    std::string normal = std::filesystem::path(path).lexically_normal().string();
    const auto place = all_.sources.find(normal);
    if (place != all_.sources.end()) return known = &place->second;
    budgets_.memory.take(kNodeBytes + normal.size());
    return known = &all_.sources[std::move(normal)];
  }

  template <class Map, class Key>
  auto& element(Map& map, const Key& key) {
    const auto known = map.lower_bound(key);
    if (known != map.end() && known->first == key) return known->second;
    budgets_.memory.take(kNodeBytes);
    return map.emplace_hint(known, typename Map::key_type(key), typename Map::mapped_type())
        ->second;
  }

  void add(const SourceFunction& function) {
    Source* const source = source_of(function.file);
    if (source == nullptr || function.line == 0 || function.name.empty()) return;
    if (!source->functions.contains(function.name)) budgets_.memory.take(function.name.size());
    SourceCoverage::Function& added = element(source->functions, function.name);
    if (added.line == 0 || function.line < added.line) added.line = function.line;
    added.count += entries_of(function);
  }

  // A function has an entry for callers with another TOC, and often a second entry for the others.
  uint64_t entries_of(const SourceFunction& function) {
    if (function.is_inlined) return flow_.executions(function.address);
    const EffectiveAddr address = file_.named_address(function.address);
    const SymbolTable::Symbol* const symbol = symbols_.find_code(address);
    // ELFv2 ABI, 3.4.1: the code that sets r2 usually takes two instructions.
    uint64_t to_local = 8;
    if (symbol != nullptr && symbol->address == owned::plain(address.value)) {
      // If GCC inlines only the beginning of a function, a function of this name has the rest.
      if (symbol->name.find(".part.") != std::string::npos) return 0;
      to_local = symbol->local_entry_bytes;
    }
    const uint64_t local = function.address + to_local;
    const uint64_t all = flow_.arrivals(function.address, function.end);
    const uint64_t at_local = flow_.arrivals(local, function.end);
    if (to_local == 0 || at_local <= all) return all;
    budgets_.memory.take(kNodeBytes);
    local_entries_[function.address] = {local, function.end};
    return at_local;
  }

  void add(const SourceRow& found) {
    Source* const source = found.line == 0 ? nullptr : source_of(found.file);
    if (source == nullptr) return;
    Row row{.source = source,
            .line = found.line,
            .function = found.function,
            .column = found.column,
            .is_statement = found.is_statement,
            .begin = found.begin,
            .end = found.end};
    add_branches(row);
    // Most callers skip the first instructions of the function, which have its first row.
    if (const auto local = local_entries_.find(row.begin); local != local_entries_.end()) {
      row.begin = local->second.first;
      row.end = std::max(row.end, row.begin);
      row.loops_end = local->second.second;
    }
    // The row continues the statement of the last row.
    if (!rows_.empty() && !row.is_statement && rows_.back().end == row.begin &&
        rows_.back().is_same_line(row)) {
      rows_.back().end = row.end;
      return;
    }
    rows_.push_back(row);
  }

  void add_branches(const Row& row) {
    auto branch = std::ranges::lower_bound(branches_, row.begin, {}, &Branch::address);
    for (; branch != branches_.end() && branch->address < row.end; ++branch) {
      if (branch->has_line) continue;
      branch->has_line = true;
      std::vector<SourceCoverage::Branch>& of_line = element(row.source->branches, row.line);
      budgets_.memory.take(grown_bytes<SourceCoverage::Branch>());
      SourceCoverage::Branch& added = of_line.emplace_back();
      if (branch->outcomes == nullptr) continue;
      added = {.taken = branch->outcomes->taken,
               .not_taken = branch->outcomes->not_taken,
               .is_reached = true};
    }
  }

  using Rows = std::vector<Row>::const_iterator;

  // Counts each line: the sum of its copies.
  void end_unit() {
    std::ranges::stable_sort(rows_, {}, &Row::key);
    for (Rows first = rows_.begin(); first != rows_.end();) {
      const Rows last = std::find_if(first, Rows(rows_.end()), [&](const Row& row) {
        return row.line_key() != first->line_key();
      });
      uint64_t& count = element(first->source->lines, first->line);
      const bool has_statements = std::any_of(first, last, is_statement);
      while (first != last) {
        const Rows next =
            std::find_if(first, last, [&](const Row& row) { return !row.is_same_line(*first); });
        count += has_statements && marks_statements_ ? statements(first, next)
                                                     : entries(first, next, has_statements);
        first = next;
      }
    }
    rows_.clear();
    local_entries_.clear();
    of_unit_.clear();
  }

  static bool is_statement(const Row& row) { return row.is_statement; }

  // Each statement of the line has a column. The compiler may have duplicated the statement.
  uint64_t statements(Rows first, Rows last) {
    std::map<uint32_t, uint64_t> counts;
    for (; first != last; ++first) {
      if (first->is_statement)
        counts[first->column] += flow_.arrivals(first->begin, first->loops_end);
    }
    uint64_t most = 0;
    for (const auto& [column, count] : counts) most = std::max(most, count);
    return most;
  }

  uint64_t entries(Rows first, Rows last, bool only_statements) {
    for (; first != last; ++first) {
      if (first->is_statement || !only_statements) add_blocks(*first);
    }
    return entries();
  }

  // Adds the blocks that have code of the row.
  void add_blocks(const Row& row) {
    const std::vector<Flow::Block>& blocks = flow_.blocks();
    const uint64_t end = std::max(row.end, row.begin + 1);
    for (uint32_t i = flow_.first_after(row.begin); i < blocks.size() && blocks[i].begin < end;
         i++) {
      if (!budgets_.work.spend(kBlockWork)) throw Error("its lines have too much code in common");
      set_.push_back(i);
    }
  }

  uint64_t entries() {
    std::ranges::sort(set_);
    set_.erase(std::unique(set_.begin(), set_.end()), set_.end());
    const uint64_t count = set_.empty() ? 0 : flow_.entries(set_);
    set_.clear();
    return count;
  }

  // In bytes of the input, as for all work.
  static constexpr uint64_t kBlockWork = 4;

  const CodeFiles::File& file_;
  const SymbolTable& symbols_;
  DebugBudgets& budgets_;
  SourceCoverage& all_;
  const Flow flow_;
  std::vector<Branch> branches_;                      // sorted by address
  std::unordered_map<const char*, Source*> of_unit_;  // by path
  // The local entries of functions that most callers enter there, and the ends of the functions.
  std::unordered_map<uint64_t, std::pair<uint64_t, uint64_t>> local_entries_;
  std::vector<Row> rows_;          // of the unit
  bool marks_statements_ = false;  // SourceVisitor::begin_unit
  std::vector<uint32_t> set_;      // of blocks
};

}  // namespace

SourceCoverage coverage_of(const CodeEdges& edges, const SymbolTable& symbols,
                           const DebugFolders& folders) {
  SourceCoverage all;
  DebugBudgets budgets;
  for (const CodeFiles::File& file : edges.files().files()) {
    try {
      DebugInfo info(file.path, folders, budgets);
      ProgramCoverage program(edges, file, symbols, budgets, all);
      info.visit(program.visitor());
      all.programs++;
      const DebugInfo::Damage& damage = info.damage();
      if (damage.units == 0) continue;
      all.problems.push_back(fmt::format("cannot use {} of the debug information of {}: {}",
                                         counted(damage.units, "part"), info.path().string(),
                                         damage.first));
    } catch (const Error& error) {
      all.problems.emplace_back(error.what());
    }
  }
  return all;
}

}  // namespace htmtrace
