// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/traces/nest_reading.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "cli/traces/index_file.h"
#include "core/nest_trace/wrap_finder.h"

namespace htmtrace {
namespace {

// Fills `buffer`, so that it holds whole lines. Returns the number of bytes, which is smaller only
// at the end.
size_t read_full(InputFile& input, std::span<std::byte> buffer) {
  size_t used = 0;
  while (used < buffer.size()) {
    const size_t got = input.read(buffer.subspan(used));
    if (got == 0) break;
    used += got;
  }
  return used;
}

}  // namespace

NestReading::NestReading(const ChosenTrace& trace, std::optional<nest::Layout> layout)
    : piece_(kPieceBytes),
      beginning_(kPieceBytes),
      layout_given_(layout.has_value()),
      order_known_(trace.is_standard_input()) {
  inputs_.push_back(trace.open());
  for (;;) {
    beginning_.resize(read_full(inputs_.front(), beginning_));
    evidence_ = nest::judge_layout(beginning_);
    if (evidence_.records != 0 || beginning_.size() < kPieceBytes) break;
    filler_bytes_ += beginning_.size();
  }
  layout_ = layout.value_or(evidence_.layout);
  const bool timed = evidence_.timed_stamps != 0;
  const bool two = layout_ == nest::Layout::kPower9 || (layout_ == nest::Layout::kUnknown && timed);
  engines_ = two ? 2 : 1;
  for (unsigned i = 0; i < engines_; i++) {
    engine_[i] = std::make_unique<Engine>(Engine{
        .decoder = nest::Decoder(layout_, static_cast<uint8_t>(i)), .offset = filler_bytes_});
  }
  // Only a regular file can be read at two offsets. Standard input is one stream even if it is a
  // regular file.
  if (two && input().regular() && !trace.is_standard_input()) {
    inputs_.push_back(trace.open());
    go_to(1, filler_bytes_);
  }
}

std::string NestReading::describe_layout() const {
  if (!layout_given_) return nest::describe(evidence_);
  return nest::describe(evidence_, fmt::format("{} (given by --layout)", layout_name(layout_)));
}

bool NestReading::narrow(const ChosenTrace& trace, const Selection& selection) {
  if (selection.ticks.first == 0 && selection.ticks.last == Selection::kAny) return false;
  // One stream of two engines cannot be read at two offsets.
  if (inputs_.size() != engines_) return false;
  const auto index = find_nest_index(trace, inputs_.front(), layout_);
  if (!index) return false;
  order_known_ = true;
  const NestStretch stretch = stretch_for(*index, selection);
  for (unsigned i = 0; i < engines_; i++) {
    Engine& engine = *engine_[i];
    engine.until = stretch.until.at(i);
    const nest::Restart* const from = stretch.from.at(i);
    if (from == nullptr) continue;
    engine.decoder.begin_at(*from);
    go_to(i, std::max(from->offset, filler_bytes_));
  }
  return true;
}

// Returns the engine's events that are final and needed. Ends the engine after its last needed
// event.
std::span<const nest::Event> NestReading::ready_of(Engine& engine) {
  std::span<const nest::Event> ready = engine.decoder.ready();
  if (ready.empty() || ready.back().offset < engine.until) return ready;
  while (!ready.empty() && ready.back().offset >= engine.until)
    ready = ready.first(ready.size() - 1);
  engine.ended = true;
  return ready;
}

uint64_t NestReading::offset() const {
  uint64_t furthest = 0;
  for (unsigned i = 0; i < engines_; i++) furthest = std::max(furthest, engine_[i]->offset);
  return furthest;
}

nest::Statistics NestReading::statistics() {
  nest::Statistics sum;
  sum.bytes = filler_bytes_;
  sum.filler_records = filler_bytes_ / nest::kRecordBytes;
  for (unsigned i = 0; i < engines_; i++) sum.add(engine_[i]->decoder.statistics());
  return sum;
}

bool NestReading::had_wrapped() {
  if (!std::exchange(order_known_, true) && input().regular() && inputs_.size() == engines_) {
    std::array<nest::WrapFinder, 2> finders;
    // Engines that do not exist count as settled.
    const auto settled = [&] {
      return finders[0].settled() && (engines_ == 1 || finders[1].settled());
    };
    uint64_t offset = filler_bytes_;
    std::span<const std::byte> piece = beginning_;
    while (!piece.empty()) {
      for_each_line(piece, offset, [&](size_t engine, auto records, uint64_t at) {
        if (!finders[engine].settled()) finders[engine].take(records, at);
      });
      if (settled()) break;
      offset += piece.size();
      piece = std::span(piece_).first(read_full(inputs_[0], piece_));
    }
    if (offset != filler_bytes_) go_to(0, filler_bytes_);
    // Otherwise, ignore a wrap. The end of a wrapped file lies inside the trace: a partial record
    // there would shift the following records, and an unreadable end would leave a gap.
    if (!settled() && offset % nest::kRecordBytes == 0 && input().trouble().empty()) {
      for (unsigned i = 0; i < engines_; i++) {
        engine_[i]->oldest = finders.at(i).oldest().value_or(0);
        if (engine_[i]->oldest != 0)
          go_to(i, engine_[i]->oldest / nest::kLineBytes * nest::kLineBytes);
      }
    }
  }
  return oldest() != std::array<uint64_t, 2>{};
}

std::array<uint64_t, 2> NestReading::oldest() const {
  return {engine_[0]->oldest, engines_ == 2 ? engine_[1]->oldest : 0};
}

void NestReading::go_to(size_t input, uint64_t offset) {
  engine_[input]->offset = offset;
  // beginning_ already holds the bytes up to its end.
  inputs_[input].go_to(std::max(offset, filler_bytes_ + beginning_.size()));
}

// In a part that wrapped, one line may hold both the newest and the oldest records.
void NestReading::Engine::take(std::span<const std::byte> records, uint64_t at) {
  const uint64_t before = at < oldest ? std::min<uint64_t>(oldest - at, records.size()) : 0;
  decoder.take(in_newest ? records.first(before) : records.subspan(before),
               at + (in_newest ? 0 : before));
}

// Passes each line to its engine, or only the lines of the engine `only`.
void NestReading::split(std::span<const std::byte> piece, uint64_t offset, size_t only) {
  for_each_line(piece, offset, [&](size_t owner, auto records, uint64_t at) {
    if (only == engines_ || owner == only) engine_[owner]->take(records, at);
  });
}

std::span<const std::byte> NestReading::next_piece(size_t input) {
  const uint64_t at = engine_[input]->offset - filler_bytes_;
  if (at < beginning_.size()) {
    const std::span<const std::byte> rest = std::span(beginning_).subspan(at);
    return rest.first(std::min(rest.size(), step_bytes_));
  }
  const std::span<std::byte> piece = std::span(piece_).first(step_bytes_);
  return piece.first(read_full(inputs_[input], piece));
}

// Reads the next piece of one input. Returns false at its end.
bool NestReading::read_piece(size_t input) {
  const bool shared = inputs_.size() == 1;
  Engine& engine = *engine_[input];
  const std::span<const std::byte> piece = next_piece(input);
  split(piece, engine.offset, shared ? engines_ : input);
  engine.offset += piece.size();
  // The end makes all events final. If the merge learned about it only in the next call, it would
  // first pass on the final events of one engine ahead of earlier events of the other engine.
  const bool last_of_stream = shared && engines_ == 2 && piece.size() < kPieceBytes;
  const bool at_end =
      piece.empty() || last_of_stream || (engine.in_newest && engine.offset >= engine.oldest);
  if (!at_end) return true;
  if (engine.oldest != 0 && !std::exchange(engine.in_newest, true)) {
    go_to(input, filler_bytes_);
    return true;
  }
  for (unsigned i = 0; i < engines_; i++) {
    if (!shared && i != input) continue;
    engine_[i]->ended = true;
    engine_[i]->decoder.finish();
  }
  return false;
}

bool NestReading::read_on() {
  bool more = false;
  for (size_t i = 0; i < inputs_.size(); i++) {
    if (engine_[i]->ended) continue;
    // Reads on only for an engine without final events, because the merge waits for that engine.
    if (inputs_.size() == 1 || engine_[i]->decoder.ready().empty()) {
      more |= read_piece(i);
    } else {
      more = true;
    }
  }
  return more;
}

std::string describe_wrap(NestReading& reading) {
  if (!reading.had_wrapped()) return {};
  const auto oldest = reading.oldest();
  std::string text =
      fmt::format("{} had wrapped: decoded from its oldest byte, {:#x}", reading.name(), oldest[0]);
  if (reading.engines() == 2) text += fmt::format(" of engine 0 and {:#x} of engine 1", oldest[1]);
  return text;
}

}  // namespace htmtrace
