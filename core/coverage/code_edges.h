// SPDX-License-Identifier: GPL-2.0-or-later
// Counts the edges of core traces in the code of program files. core/coverage/edge_part.h defines
// an edge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/arrival_table.h"
#include "core/coverage/code_files.h"
#include "core/coverage/edge_part.h"

namespace htmtrace {

// A sink for CoreDecoder with parts: several threads can find the edges. It accepts several traces;
// call end_trace() after each trace. Its memory depends on the code that ran. The length of the
// traces does not matter.
class CodeEdges {
 public:
  using Part = EdgePart;

  // Positions that are in no file.
  static constexpr uint64_t kElsewhere = 0;  // other code; as the start of an edge also unknown
  static constexpr uint64_t kInterrupt = 1;  // the code that handles an interrupt
  static constexpr uint64_t kUnknown = 2;

  struct Edge {
    uint64_t from = kElsewhere;  // positions of CodeFiles
    uint64_t to = kElsewhere;
    bool operator==(const Edge&) const = default;
    uint64_t hash() const { return from ^ to * kHashSecret.factor; }
  };
  struct Count {
    uint64_t count = 0;
    uint32_t opcode = 0;  // as in EdgeStart
    bool has_opcode = false;
    bool has_prefix = false;
  };
  // Linux and all programs of a large system have fewer jumps.
  static constexpr size_t kMostEdges = 1 << 22;

  // `symbols` must outlive this object.
  explicit CodeEdges(const SymbolTable& symbols)
      : symbols_(symbols), files_(symbols), own_(symbols) {}

  void instruction(const Instruction& instruction) {
    own_.instruction(instruction);
    if (own_.is_large()) [[unlikely]]
      take(own_);
  }
  void stamp(const Stamp& stamp) { own_.stamp(stamp); }
  void defect(const Defect& defect) { own_.defect(defect); }
  void skipped() { own_.skipped(); }
  void end_trace();

  EdgePart new_part() const { return EdgePart(symbols_); }
  // Throws Error if the traces have more edges than kMostEdges.
  void take(EdgePart& part);

  const CodeFiles& files() const { return files_; }
  const std::vector<ArrivalTable<Edge, Count>::Row>& edges() const { return edges_.rows(); }
  uint64_t without_address() const { return without_address_; }

 private:
  void connect(uint64_t to);
  void add(const EdgeStart& start, uint64_t to, uint64_t count);
  void add(const Edge& edge, const EdgeStart& start, uint64_t count);

  const SymbolTable& symbols_;
  CodeFiles files_;
  EdgePart own_;  // the events that this sink receives itself
  ArrivalTable<Edge, Count> edges_;
  EdgeStart last_{.address = EdgePart::kUnknown};  // of the trace so far
  uint64_t without_address_ = 0;
};

}  // namespace htmtrace
