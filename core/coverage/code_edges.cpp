// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/coverage/code_edges.h"

#include <fmt/core.h>

#include "core/base/error.h"

namespace htmtrace {
namespace {

// Whether control went to `to` because of an interrupt. A kernel also branches to such addresses.
bool is_interrupted(const EdgeStart& start, uint64_t to) {
  if (!is_interrupt_vector(owned::plain(to)) || to == start.next()) return false;
  const uint64_t from = owned::plain(start.address);
  const bool direct = start.kind() != BranchKind::kNone && is_direct_branch(start.opcode);
  return !direct || direct_target(start.opcode, from) != owned::plain(to);
}

}  // namespace

void CodeEdges::add(const Edge& edge, const EdgeStart& start, uint64_t count) {
  if (edge.from == kElsewhere && edge.to <= kUnknown) return;
  Count& counted = edges_.at(edge);
  if (counted.count == 0) {
    if (edges_.rows().size() > kMostEdges) {
      throw Error(fmt::format("cannot count coverage: the traces have more than {} different jumps",
                              kMostEdges))
          .hint("select a part of the code with --privilege, --function or --ea");
    }
    counted.opcode = start.opcode;
    counted.has_opcode = start.has_opcode;
    counted.has_prefix = start.has_prefix;
  }
  counted.count += count;
}

void CodeEdges::add(const EdgeStart& start, uint64_t to, uint64_t count) {
  const uint64_t from = files_.position_of(start.address);
  const uint64_t target = to == EdgePart::kUnknown ? kUnknown : files_.position_of(to);
  if (is_interrupted(start, to)) {
    add({.from = from, .to = kInterrupt}, start, count);
    add({.to = target}, {}, count);
  } else {
    add({.from = from, .to = target}, start, count);
  }
}

// Adds the edge from the last instruction of the trace so far, unless `to` continues it.
void CodeEdges::connect(uint64_t to) {
  if (last_.kind() != BranchKind::kConditional && to == last_.next() &&
      last_.address != EdgePart::kUnknown) {
    return;
  }
  add(last_, to, 1);
}

void CodeEdges::take(EdgePart& part) {
  without_address_ += part.without_address();
  if (part.begins_with_gap()) {
    connect(EdgePart::kUnknown);
    last_ = {.address = EdgePart::kUnknown};
  }
  if (part.first()) {
    connect(*part.first());
    last_ = {.address = EdgePart::kUnknown};
  }
  for (const auto& [edge, found] : part.edges().rows()) add(found.start, edge.to, found.count);
  if (part.begins_with_gap() || part.first()) last_ = part.last();
  part.clear();
}

void CodeEdges::end_trace() {
  take(own_);
  connect(EdgePart::kUnknown);
  last_ = {.address = EdgePart::kUnknown};
}

}  // namespace htmtrace
