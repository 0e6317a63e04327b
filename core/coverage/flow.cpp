// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/coverage/flow.h"

#include <algorithm>
#include <utility>

namespace htmtrace {
// Makes a Flow from the edges of its file.
class Flow::Building {
 public:
  Building(Flow& flow, const CodeEdges& edges, const CodeFiles::File& file) : flow_(flow) {
    take(edges, file);
    make_blocks();
    find_ends();
    for (const FileEdge& edge : edges_) follow(edge);
    continue_blocks(/*calls=*/true);
    continue_blocks(/*calls=*/false);
    for (unsigned pass = 0; pass < kMostPasses && resolve_branches(); pass++) continue;
    finish();
  }

 private:
  // Where control goes from the end of a block, unless an interrupt follows.
  struct Successors {
    static constexpr uint64_t kNowhere = 1;  // no address of an instruction
    uint64_t next = kNowhere;                // the next instruction in memory
    uint64_t target = kNowhere;              // of a direct branch
    bool any = false;                        // of a branch to a register, other than a return
    bool has(uint64_t address) const { return any || address == next || address == target; }
  };

  static Successors successors_of(const EdgeStart& last) {
    constexpr unsigned kSystemCall = 17, kBcctr = 528, kBctar = 560;
    const BranchKind kind = last.kind();
    const uint32_t word = last.opcode;
    if (kind == BranchKind::kNone || sets_link(word) ||
        control_flow::primary(word) == kSystemCall) {
      return {.next = last.next()};
    }
    Successors all;
    if (kind == BranchKind::kConditional) all.next = last.next();
    if (is_direct_branch(word)) {
      all.target = direct_target(word, last.address);
    } else {
      const unsigned extended = control_flow::extended(word);
      all.any = extended == kBcctr || extended == kBctar;
    }
    return all;
  }

  // An edge with at least one end in the file. An end in the file has its address in the file. An
  // end outside of the file keeps its position of CodeEdges.
  struct FileEdge {
    EdgeStart start;
    bool has_start = false;
    bool has_end = false;
    uint64_t to = 0;
    uint64_t count = 0;
  };
  // The end of a block.
  struct End {
    bool is_known = false;  // an edge begins there
    EdgeStart last;         // the last instruction, if it is known
    Successors successors;
    uint64_t taken = 0;
    uint64_t not_taken = 0;
    uint64_t leaving = 0;   // executions whose successor is unknown
    uint64_t arriving = 0;  // executions of the block whose predecessor is unknown
    bool is_conditional() const { return last.kind() == BranchKind::kConditional; }
    // A conditional branch that is not a call.
    bool is_conditional_jump() const { return is_conditional() && !sets_link(last.opcode); }
  };
  // Each pass resolves more branches. The passes after the first few resolve almost no branches.
  static constexpr unsigned kMostPasses = 16;

  void take(const CodeEdges& edges, const CodeFiles::File& file) {
    for (const auto& [edge, found] : edges.edges()) {
      FileEdge taken;
      taken.has_start = file.holds(edge.from);
      taken.has_end = file.holds(edge.to);
      taken.to = edge.to;
      if (!taken.has_start && !taken.has_end) continue;
      if (taken.has_start) {
        taken.start = {.address = file.address_of(edge.from),
                       .opcode = found.opcode,
                       .has_opcode = found.has_opcode,
                       .has_prefix = found.has_prefix};
      }
      if (taken.has_end) taken.to = file.address_of(edge.to);
      taken.count = found.count;
      edges_.push_back(taken);
    }
  }

  void make_blocks() {
    // The executions change at these addresses, where blocks begin.
    std::vector<std::pair<uint64_t, int64_t>> changes;
    changes.reserve(edges_.size() * 2);
    for (const FileEdge& edge : edges_) {
      const auto count = static_cast<int64_t>(edge.count);
      if (edge.has_end) changes.emplace_back(edge.to, count);
      if (edge.has_start) changes.emplace_back(edge.start.next(), -count);
    }
    std::ranges::sort(changes);
    int64_t count = 0;
    for (size_t i = 0; i < changes.size(); i++) {
      count += changes[i].second;
      if (i + 1 == changes.size() || changes[i + 1].first == changes[i].first || count <= 0) {
        continue;
      }
      flow_.blocks_.push_back({.begin = changes[i].first,
                               .end = changes[i + 1].first,
                               .count = static_cast<uint64_t>(count)});
    }
  }

  void find_ends() {
    ends_.resize(flow_.blocks_.size());
    for (const FileEdge& edge : edges_) {
      const uint32_t block = edge.has_start ? flow_.block_at(edge.start.address) : kNone;
      if (block == kNone || ends_[block].is_known) continue;
      ends_[block].is_known = true;
      ends_[block].last = edge.start;
      ends_[block].successors = successors_of(edge.start);
    }
    for (size_t i = 0; i < ends_.size(); i++) {
      End& end = ends_[i];
      if (!end.is_known) end.successors.next = flow_.blocks_[i].end;
      end.leaving = end.arriving = flow_.blocks_[i].count;
    }
  }

  // The block that begins at the address, or kNone.
  uint32_t begin_at(uint64_t address) const {
    const uint32_t block = flow_.block_at(address);
    return block != kNone && flow_.blocks_[block].begin == address ? block : kNone;
  }

  void add_arc(uint32_t from, uint32_t to, uint64_t count) {
    ends_[from].leaving -= std::min(ends_[from].leaving, count);
    ends_[to].arriving -= std::min(ends_[to].arriving, count);
    flow_.arcs_.push_back({.from = from, .to = to, .count = count});
  }

  // Counts an edge whose end is a successor, or the outcome of a branch.
  void follow(const FileEdge& edge) {
    const uint32_t from = edge.has_start ? flow_.block_at(edge.start.address) : kNone;
    if (from == kNone) return;
    End& end = ends_[from];
    const EdgeStart& last = end.last;
    const bool is_over = !edge.has_end && edge.to != CodeEdges::kElsewhere;
    if (last.kind() == BranchKind::kConditional && !is_over) {
      if (edge.has_end && edge.to == last.next()) {
        end.not_taken += edge.count;
      } else if (!is_direct_branch(last.opcode) ||
                 (edge.has_end && edge.to == direct_target(last.opcode, last.address))) {
        end.taken += edge.count;
      }
    }
    const uint32_t to = edge.has_end && end.successors.has(edge.to) ? begin_at(edge.to) : kNone;
    if (to != kNone) return add_arc(from, to, edge.count);
    // A return or another branch to a register went to other code.
    if (is_over || last.kind() == BranchKind::kNone || sets_link(last.opcode)) return;
    if (!is_direct_branch(last.opcode)) end.leaving -= std::min(end.leaving, edge.count);
  }

  // Adds the arcs of blocks with one successor, to which the flow returns after calls and
  // interrupts. `calls` chooses the blocks that continue at the next instruction; the others end
  // with a branch.
  void continue_blocks(bool calls) {
    for (uint32_t from = 0; from < ends_.size(); from++) {
      const Successors& all = ends_[from].successors;
      if (all.any || ends_[from].is_conditional_jump()) continue;
      continue_at(from, begin_at(calls ? all.next : all.target));
    }
  }

  uint64_t continue_at(uint32_t from, uint32_t to) {
    const uint64_t count = possible(from, to);
    if (count != 0) add_arc(from, to, count);
    return count;
  }
  uint64_t possible(uint32_t from, uint32_t to) const {
    return to == kNone ? 0 : std::min(ends_[from].leaving, ends_[to].arriving);
  }

  // Finds outcomes of branches that an interrupt followed. Returns whether it found one.
  bool resolve_branches() {
    bool found = false;
    for (uint32_t from = 0; from < ends_.size(); from++) {
      End& end = ends_[from];
      if (end.leaving == 0 || !end.is_conditional_jump()) continue;
      const uint32_t next = begin_at(end.successors.next);
      const uint32_t target = begin_at(end.successors.target);
      const uint64_t to_next = possible(from, next), to_target = possible(from, target);
      const bool both = to_next != 0 && to_target != 0;
      if (both && to_next + to_target != end.leaving) continue;
      end.not_taken += continue_at(from, next);
      end.taken += continue_at(from, target);
      found |= to_next != 0 || to_target != 0;
    }
    return found;
  }

  void finish() {
    std::ranges::stable_sort(flow_.arcs_, {}, &Arc::to);
    flow_.first_arc_.resize(flow_.blocks_.size() + 1);
    for (const Arc& arc : flow_.arcs_) flow_.first_arc_[arc.to + 1]++;
    for (size_t i = 1; i < flow_.first_arc_.size(); i++) {
      flow_.first_arc_[i] += flow_.first_arc_[i - 1];
    }
    for (size_t i = 0; i < ends_.size(); i++) {
      const End& end = ends_[i];
      if (!end.is_conditional()) continue;
      const uint64_t known = end.taken + end.not_taken, all = flow_.blocks_[i].count;
      flow_.branches_.push_back({.address = end.last.address,
                                 .taken = end.taken,
                                 .not_taken = end.not_taken,
                                 .unknown = all - std::min(all, known)});
    }
  }

  Flow& flow_;
  std::vector<FileEdge> edges_;
  std::vector<End> ends_;  // of each block
};

Flow::Flow(const CodeEdges& edges, const CodeFiles::File& file) {
  Building(*this, edges, file);
}

uint32_t Flow::first_after(uint64_t address) const {
  const auto after = std::ranges::upper_bound(blocks_, address, {}, &Block::end);
  return static_cast<uint32_t>(after - blocks_.begin());
}

uint32_t Flow::block_at(uint64_t address) const {
  const uint32_t block = first_after(address);
  return block < blocks_.size() && blocks_[block].begin <= address ? block : kNone;
}

uint64_t Flow::arrivals(uint64_t address, uint64_t end) const {
  const uint32_t block = block_at(address);
  if (block == kNone) return 0;
  uint64_t count = blocks_[block].count;
  if (blocks_[block].begin != address) return count;
  for (const Arc& arc : arcs_to(block)) {
    const uint64_t from = blocks_[arc.from].begin;
    if (from >= address && from < end) count -= std::min(count, arc.count);
  }
  return count;
}

namespace {

// Finds the arcs that begin another iteration of a loop: they lead to a block on the path from the
// first block that control entered.
class Loops {
 public:
  Loops(const Flow& flow, std::span<const uint32_t> set) : set_(set), successors_(set.size()) {
    for (uint32_t to = 0; to < set.size(); to++) {
      const Flow::Block& block = flow.blocks()[set[to]];
      uint64_t outside = block.count;
      for (const Flow::Arc& arc : flow.arcs_to(set[to])) {
        const auto from = std::ranges::lower_bound(set, arc.from);
        if (from == set.end() || *from != arc.from) continue;
        successors_[static_cast<size_t>(from - set.begin())].push_back({to, arc.count});
        outside -= std::min(outside, arc.count);
      }
      entries_ += outside;
      if (outside != 0) entered_.push_back(to);
    }
  }

  // The number of entries from outside and of further iterations.
  uint64_t count() {
    states_.assign(set_.size(), kNew);
    for (const uint32_t block : entered_) visit(block);
    for (uint32_t block = 0; block < set_.size(); block++) visit(block);
    return entries_;
  }

 private:
  enum State : uint8_t { kNew, kOnPath, kDone };
  struct Step {
    uint32_t to = 0;
    uint64_t count = 0;
  };
  struct Level {
    uint32_t block = 0;
    size_t next = 0;  // of its successors
  };

  void visit(uint32_t root) {
    if (states_[root] != kNew) return;
    states_[root] = kOnPath;
    path_.assign(1, {.block = root});
    while (!path_.empty()) {
      Level& level = path_.back();
      if (level.next == successors_[level.block].size()) {
        states_[level.block] = kDone;
        path_.pop_back();
        continue;
      }
      const Step step = successors_[level.block][level.next++];
      if (states_[step.to] == kOnPath) entries_ += step.count;
      if (states_[step.to] != kNew) continue;
      states_[step.to] = kOnPath;
      path_.push_back({.block = step.to});
    }
  }

  std::span<const uint32_t> set_;
  std::vector<std::vector<Step>> successors_;
  std::vector<uint32_t> entered_;  // blocks at which control arrived from outside
  uint64_t entries_ = 0;
  std::vector<State> states_;
  std::vector<Level> path_;
};

}  // namespace

uint64_t Flow::entries(std::span<const uint32_t> set) const {
  if (set.size() == 1 && arcs_to(set[0]).empty()) return blocks_[set[0]].count;
  return Loops(*this, set).count();
}

}  // namespace htmtrace
