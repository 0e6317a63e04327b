// SPDX-License-Identifier: GPL-2.0-or-later
// The edges in a part of a core trace. CodeEdges adds up the parts. Threads can follow different
// parts at the same time.
//
// An edge leads from an instruction to the next instruction of the trace. Only edges between
// instructions that do not follow each other in memory, and the edges of conditional branches, are
// counted: these edges determine the executions of each address.
#pragma once

#include <cstdint>
#include <optional>

#include "core/analysis/control_flow.h"
#include "core/analysis/symbol_cursor.h"
#include "core/analysis/symbol_table.h"
#include "core/base/arrival_table.h"
#include "core/base/spread.h"
#include "core/core_trace/events.h"

namespace htmtrace {

// The last instruction before an edge.
struct EdgeStart {
  uint64_t address = 0;
  uint32_t opcode = 0;  // of the first execution, if has_opcode
  bool has_opcode = false;
  bool has_prefix = false;

  // The address of the instruction that follows in memory.
  uint64_t next() const { return address + (has_prefix ? 8 : 4); }
  BranchKind kind() const {
    return has_opcode && !has_prefix ? branch_kind(opcode) : BranchKind::kNone;
  }
};

// A sink for CoreDecoder.
class EdgePart {
 public:
  // Neither an address of an instruction nor one of SymbolCursor: the part does not know where
  // control came from, or where it went.
  static constexpr uint64_t kUnknown = 1;
  // The tables of a part with up to this number of edges stay in a processor's cache.
  static constexpr size_t kMostEdges = 1 << 14;

  // Addresses with their owners (core/analysis/symbol_table.h).
  struct Edge {
    uint64_t from = kUnknown;
    uint64_t to = kUnknown;
    bool operator==(const Edge&) const = default;
    // Without the secret factor, a trace could choose edges with equal hashes.
    uint64_t hash() const { return from ^ to * kHashSecret.factor; }
  };
  struct Count {
    uint64_t count = 0;
    EdgeStart start;  // with `from`, unless it is unknown
  };

  // `symbols` must outlive this object.
  explicit EdgePart(const SymbolTable& symbols) : cursor_(symbols) {}

  [[gnu::always_inline]] void instruction(const Instruction& instruction) {
    const uint64_t ea = cursor_.code(instruction).value;
    if (!instruction.has_ea || owned::is_nobodys(instruction.ea.value)) [[unlikely]] {
      without_address_++;
      return skipped();
    }
    if (ea != next_) arrive(ea);
    last_ = {.address = ea,
             .opcode = instruction.opcode,
             .has_opcode = instruction.has_opcode,
             .has_prefix = instruction.has_prefix};
    next_ = last_.kind() == BranchKind::kConditional ? kUnknown : last_.next();
  }
  void stamp(const Stamp& stamp) {
    if (breaks_flow(stamp)) skipped();
  }
  void defect(const Defect&) { skipped(); }

  // The next instruction does not follow the last instruction.
  void skipped();

  // Returns true if the caller should add up the part and clear it.
  bool is_large() const { return edges_.rows().size() >= kMostEdges; }

  // Returns true if the first instruction of the part does not follow the preceding part.
  bool begins_with_gap() const { return begins_with_gap_; }
  // The first instruction, if no gap precedes it. The preceding part has its predecessor.
  std::optional<uint64_t> first() const { return first_; }
  const ArrivalTable<Edge, Count>& edges() const { return edges_; }
  // The last instruction, if its edge is in the next part; otherwise its address is kUnknown.
  const EdgeStart& last() const { return last_; }
  // The instructions that are in no edge, because the trace does not report their address.
  uint64_t without_address() const { return without_address_; }

  // Keeps the allocated memory and the known names.
  void clear();

 private:
  void arrive(uint64_t ea);
  void add(uint64_t to);

  SymbolCursor cursor_;
  ArrivalTable<Edge, Count> edges_;
  EdgeStart last_{.address = kUnknown};
  uint64_t next_ = kUnknown;  // the address at which the trace continues without an edge
  std::optional<uint64_t> first_;
  uint64_t without_address_ = 0;
  bool is_new_ = true;  // no gap and no instruction yet
  bool begins_with_gap_ = false;
};

}  // namespace htmtrace
