// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/selection/indexer.h"

#include <algorithm>

#include "core/base/big_endian.h"
#include "core/core_trace/framing.h"
#include "core/core_trace/words.h"

namespace htmtrace {
namespace {

constexpr size_t kIearaBytes = words::kIearaWords * words::kWordBytes;

// The trace must have at least this many bytes for each byte of pages in its index.
constexpr uint64_t kBytesPerPageByte = 16;

// The run starts with a whole POWER8 instruction with its address, if a record starts there.
bool is_addressed_instruction(const WordRun& run) {
  const uint64_t info = run[0];
  return words::is_power8(info) && !words::is_stamp(info) && words::info8_valid(info) &&
         words::info8_has_iea(info) && frame_power8(run).verdict == Framing::Verdict::kWhole;
}

bool may_be_restart(const WordRun& run) {
  return is_plain_line(run.words) || is_addressed_instruction(run);
}

uint64_t round_up(uint64_t bytes) {
  return (bytes + words::kWordBytes - 1) / words::kWordBytes * words::kWordBytes;
}

}  // namespace

void CoreIndexer::Sink::stamp(const Stamp& stamp) {
  ticks += stamp.elapsed;
  if (stamp.kind == StampKind::kMark && stamp.mark.value < marks.size()) {
    marks[stamp.mark.value] = std::min(marks[stamp.mark.value], stamp.offset);
  }
}

void CoreIndexer::take(std::span<const std::byte> piece) {
  size_t fed = 0;
  const auto feed_to = [&](size_t end) {
    decoder_.feed(piece.subspan(fed, end - fed));
    fed = end;
  };
  size_t at = (words::kWordBytes - offset_ % words::kWordBytes) % words::kWordBytes;
  for (;;) {
    if (due_ > offset_ + at) at += round_up(due_ - offset_ - at);
    const auto run = [&] {
      return WordRun{.words = piece.data() + at,
                     .count = (piece.size() - at) / words::kWordBytes,
                     .in_sync = true};
    };
    while (at + kIearaBytes <= piece.size() && !may_be_restart(run())) at += words::kWordBytes;
    if (at + kIearaBytes > piece.size()) break;
    feed_to(at);
    if (may_begin_at(run())) note_restart(offset_ + at);
    at += words::kWordBytes;
  }
  feed_to(piece.size());
  offset_ += piece.size();
}

// A settled decoder accepts such words as the record that they look like.
bool CoreIndexer::may_begin_at(const WordRun& run) const {
  return is_plain_line(run.words) ? decoder_.settled() : decoder_.settled_but_for_pages();
}

void CoreIndexer::note_restart(uint64_t offset) {
  const size_t told_before = index_.pages.size();
  decoder_.tell_pages(index_.pages);
  const uint64_t told_bytes = (index_.pages.size() - told_before) * sizeof(Power8Page);
  index_.restarts.push_back(
      {.offset = offset,
       .place = {.instructions = decoder_.statistics().instruction_count(), .ticks = sink_.ticks},
       .pages = index_.pages.size()});
  due_ = offset + std::max(interval_bytes_, kBytesPerPageByte * told_bytes);
}

CoreIndex CoreIndexer::finish() {
  decoder_.finish();
  index_.instructions = decoder_.statistics().instruction_count();
  for (size_t value = 0; value < sink_.marks.size(); value++) {
    if (sink_.marks[value] == Selection::kAny) continue;
    index_.marks.push_back({.value = value, .offset = sink_.marks[value]});
  }
  return index_;
}

NestIndexer::NestIndexer(nest::Layout layout, unsigned engines, uint64_t interval_bytes)
    : interval_bytes_(interval_bytes), due_(interval_bytes) {
  index_.layout = layout;
  for (unsigned i = 0; i < engines; i++) decoders_.emplace_back(layout, static_cast<uint8_t>(i));
}

void NestIndexer::take(std::span<const std::byte> piece) {
  if (offset_ >= due_) note_restarts();
  take_lines(piece);
  offset_ += piece.size();
  for (size_t i = 0; i < decoders_.size(); i++) {
    nest::Decoder& decoder = decoders_[i];
    decoder.drop(decoder.ready().size());
    // The first timer may set the time back; afterwards, time only increases.
    std::vector<nest::Restart>& restarts = index_.restarts.at(i);
    if (!restarts.empty() && decoder.timer_heard() && !restarts.front().timer_heard) {
      restarts.clear();
    }
  }
}

void NestIndexer::note_restarts() {
  due_ = offset_ + interval_bytes_;
  for (size_t i = 0; i < decoders_.size(); i++) {
    nest::Restart restart = decoders_[i].restart();
    restart.offset = offset_;
    index_.restarts.at(i).push_back(std::move(restart));
  }
}

void NestIndexer::take_lines(std::span<const std::byte> piece) {
  if (decoders_.size() == 1) return decoders_.front().take(piece, offset_);
  for (size_t at = 0; at < piece.size(); at += nest::kLineBytes) {
    const size_t owner = (offset_ + at) / nest::kLineBytes % decoders_.size();
    const size_t size = std::min(nest::kLineBytes, piece.size() - at);
    decoders_[owner].take(piece.subspan(at, size), offset_ + at);
  }
}

NestIndex NestIndexer::finish() {
  return index_;
}

nest::Statistics NestIndexer::statistics() {
  nest::Statistics sum;
  for (nest::Decoder& decoder : decoders_) sum.add(decoder.statistics());
  return sum;
}

}  // namespace htmtrace
