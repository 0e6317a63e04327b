// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/trace_indexer.h"

#include <algorithm>

#include "core/big_endian.h"
#include "core/core_words.h"
#include "core/framing.h"

namespace htmtrace {
namespace {

constexpr size_t kIearaBytes = words::kIearaWords * words::kWordBytes;

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
    // A decoder that is settled before these words takes them for an IEARA.
    while (at + kIearaBytes <= piece.size() && !is_plain_line(piece.data() + at))
      at += words::kWordBytes;
    if (at + kIearaBytes > piece.size()) break;
    feed_to(at);
    if (decoder_.settled()) {
      index_.restarts.push_back(
          {.offset = offset_ + at,
           .place = {.instructions = decoder_.statistics().instruction_count(),
                     .ticks = sink_.ticks}});
      due_ = offset_ + at + interval_bytes_;
    }
    at += words::kWordBytes;
  }
  feed_to(piece.size());
  offset_ += piece.size();
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
    // The first timer may set the time back; from then on it only goes forward.
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
