// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/analysis/hot_blocks.h"

#include <algorithm>

namespace htmtrace {

// Recounts the room after the table dropped blocks with their lists.
void HotBlocks::recount_room() {
  size_t places = entries_ * kListPlaces;
  blocks_.visit([&](uint64_t, const HotBlock& block) {
    places -= std::min(places, block.successors.places());
  });
  room_.places = places;
  counted_until_ = blocks_.error();
}

HotBlock& HotBlocks::block_at(uint64_t begin) {
  HotBlock& block = blocks_.at(begin);
  if (blocks_.error() != counted_until_) [[unlikely]]
    recount_room();
  return block;
}

// Adds executions with these first words. Traces do not distinguish processes, and kernels change
// their own code.
void HotBlocks::put_words(std::span<const uint32_t> words, uint64_t executions, uint64_t longest,
                          HotBlock& block) {
  const auto both = static_cast<ptrdiff_t>(std::min(words.size(), block.words.size()));
  if (!std::equal(words.begin(), words.begin() + both, block.words.begin())) {
    block.rewritten += executions;
  } else if (words.size() > block.words.size()) {
    block.words.assign(words.begin(), words.end());
  }
  block.longest = std::max(block.longest, longest);
}

// Ends the last execution, which must exist.
HotBlock& HotBlocks::close() {
  HotBlock& block = block_at(run_.begin);
  executions_++;
  block.count += run_.instructions;
  block.executions++;
  put_words(run_.first_words(), 1, run_.instructions, block);
  run_.stop();
  return block;
}

void HotBlocks::leave() {
  if (run_.instructions != 0) close();
}

void HotBlocks::leave_to(uint64_t ea) {
  if (run_.instructions == 0) return;
  HotBlock& before = close();
  before.followed++;
  before.successors.add(ea, room_);
}

// The execution continues the last execution, or follows it.
void HotBlocks::take_run(const BlockRun& run) {
  if (run_.ended || owned::plain(run.begin) != run_.next) {
    leave_to(run.begin);
    run_.start(run.begin);
  }
  run_.instructions += run.instructions;
  for (const uint32_t word : run.first_words()) run_.put(word);
  run_.next = run.next;
  run_.ended = run.ended;
}

// `lead` is the address of the block to which the part's first execution belongs, if the part has a
// first execution that no gap precedes.
void HotBlocks::take_time(const HotBlockPart& part, std::optional<uint64_t> lead) {
  if (!part.has_stamp()) {
    if (interval_) interval_->join(part.last_interval(), lead);
    return;
  }
  const auto add = [&](const StampInterval& interval, uint64_t ticks) {
    if (interval.instructions == 0 || interval.is_mixed || !interval.block) return;
    block_at(*interval.block).time += {ticks, interval.instructions};
  };
  if (interval_ && part.first_ticks()) {
    interval_->join(part.first_interval(), lead);
    add(*interval_, *part.first_ticks());
  }
  for (const auto& [begin, time] : part.times().rows()) block_at(begin.value).time += time;
  if (lead) block_at(*lead).time += part.lead_time();
  if (part.lead_end()) {
    StampInterval end;
    end.join(*part.lead_end(), lead);
    add(end, part.lead_end_ticks());
  }
  interval_.emplace().join(part.last_interval(), lead);
}

void HotBlocks::take(HotBlockPart& part) {
  instructions_ += part.instructions();
  unknown_ += part.unknown();
  if (part.begins_with_gap()) leave();
  std::optional<uint64_t> lead;
  if (part.lead()) {
    take_run(*part.lead());
    lead = run_.begin;
    part.after_lead() ? leave_to(*part.after_lead()) : leave();
  }
  for (const auto& [key, found] : part.blocks().rows()) {
    HotBlock& block = block_at(key.begin);
    executions_ += found.executions;
    block.count += found.instructions;
    block.executions += found.executions;
    block.followed += found.followed;
    put_words(part.words(found), found.executions, found.longest, block);
    part.visit_edges(found,
                     [&](uint64_t to, uint64_t count) { block.successors.add(to, count, room_); });
  }
  if (part.open_is_lead()) {
    take_run(part.open());
    lead = run_.begin;
  } else if (part.open().instructions != 0) {
    run_ = part.open();
  }
  take_time(part, lead);
  part.clear();
}

void HotBlocks::end_trace() {
  take(own_);
  leave();
  interval_.reset();
}

}  // namespace htmtrace
