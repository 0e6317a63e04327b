// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/replay/track.h"

#include <algorithm>
#include <span>

#include "cli/traces/context.h"
#include "cli/traces/symbols.h"
#include "core/analysis/control_flow.h"
#include "core/analysis/process_follower.h"
#include "core/base/error.h"
#include "core/core_trace/decoder.h"

namespace htmtrace {
namespace {

// A window of POWER10 records has about this size.
constexpr uint64_t kRestartBytes = 1 << 19;

InputFile open_replayable(const ChosenTrace& trace) {
  InputFile input = trace.open();
  if (!input.regular()) {
    throw Error("cannot replay " + trace.name() + ": it can be read only once")
        .hint("save it in a file");
  }
  return input;
}

}  // namespace

// Receives all events from an earlier restart on, and keeps the elements of one window.
class Track::WindowSink {
 public:
  WindowSink(Window& window, uint64_t first, uint64_t begin)
      : window_(window), first_(first), number_(begin) {}

  void instruction(const Instruction& instruction) {
    if (number_++ >= first_) {
      window_.elements[window_.size++] = {.instruction = instruction, .after_gap = gap_};
    }
    gap_ = !instruction.has_ea;
  }
  void stamp(const Stamp& stamp) {
    gap_ |= breaks_flow(stamp);
    if (stamp.kind == StampKind::kMark && number_ >= first_) {
      window_.marks.push_back({.value = stamp.mark.value, .number = number_});
    }
  }
  void defect(const Defect&) { gap_ = true; }

 private:
  Window& window_;
  uint64_t first_;   // of the window
  uint64_t number_;  // of the next instruction
  bool gap_ = true;
};

// Receives all events from the start, and keeps the process of one instruction.
class Track::ProcessSink {
 public:
  ProcessSink(const PageOwners& owners, uint64_t number)
      : follower_(owners), followed_{.number = number} {}

  void instruction(const Instruction& instruction) {
    follower_.instruction(instruction, followed_);
  }
  void stamp(const Stamp& stamp) { follower_.stamp(stamp, followed_); }
  void walk(const Walk& walk) { follower_.walk(walk, followed_); }
  void defect(const Defect& defect) { follower_.defect(defect, followed_); }
  void finish() { follower_.finish(followed_); }
  const Process& process() const { return *followed_.found; }

 private:
  struct Followed {
    uint64_t number;
    uint64_t passed = 0;
    const Process* now = &Process::unknown();
    const Process* found = &Process::unknown();

    void instruction(const Instruction&) {
      if (passed++ == number) found = now;
    }
    void process(const Process& next) { now = &next; }
    void stamp(const Stamp&) {}
    void walk(const Walk&) {}
    void defect(const Defect&) {}
  };

  ProcessFollower follower_;
  Followed followed_;
};

Track::Track(const ChosenTrace& trace, std::endian order)
    : trace_(trace),
      input_(open_replayable(trace)),
      ahead_(open_replayable(trace)),
      ahead_bytes_(ahead_, /*file_order=*/false),
      indexer_(kRestartBytes),
      code_(order),
      piece_(new std::byte[InputFile::kPieceBytes]) {
  oldest_ = ahead_bytes_.wrapped_at().value_or(0);
  if (oldest_ != 0 && !input_.size_bytes()) {
    throw Error("cannot replay " + trace.name() + ": it has wrapped, and it is compressed")
        .hint("decompress it first: zstd -d, or gzip -d");
  }
}

TraceBytes Track::bytes_from(const CoreRestart* restart) {
  const CoreRestart start = restart == nullptr ? CoreRestart{} : *restart;
  if (oldest_ != 0) return {input_, CoreStart{.restart = start, .oldest = oldest_, .pages = {}}};
  input_.go_to(start.offset);
  return {input_, /*file_order=*/true};
}

// Returns the number of the instruction after the last decoded instruction.
template <class Sink>
uint64_t Track::decode(const CoreRestart* restart, uint64_t end, const TranslationMap& map,
                       Sink& sink) {
  TraceBytes bytes = bytes_from(restart);
  CoreDecoder decoder(map, sink);
  uint64_t begin = 0;
  if (restart != nullptr) {
    begin = restart->place.instructions;
    decoder.start_at(restart->offset, pages_before(indexer_.so_far(), *restart));
  }
  decoder.set_instruction_limit(end - begin);
  const std::span<std::byte> piece(piece_.get(), InputFile::kPieceBytes);
  while (!decoder.finished()) {
    const size_t got = bytes.read(piece);
    if (got == 0) {
      decoder.finish();
      is_cut_ = is_cut_ || tell_trouble(input_);
      break;
    }
    decoder.feed(piece.first(got));
  }
  const uint64_t after = begin + decoder.statistics().instruction_count();
  if (after < end) count_ = after;
  return after;
}

void Track::learn_restarts_to(uint64_t number) {
  const std::span<std::byte> piece(piece_.get(), InputFile::kPieceBytes);
  while (!indexed_all_ && indexer_.statistics().instruction_count() < number) {
    const size_t got = ahead_bytes_.read(piece);
    indexed_all_ = got == 0;
    indexer_.take(piece.first(got));
  }
}

void Track::load(uint64_t index, Window& window) {
  window.index.reset();  // in case of an exception
  window.size = 0;
  window.marks.clear();
  if (!window.elements) window.elements.reset(new Element[kWindow]);
  const uint64_t first = index * kWindow;
  // Also decodes the preceding instruction, because a gap can follow it.
  const uint64_t lead = first == 0 ? 0 : first - 1;
  learn_restarts_to(lead);
  const std::vector<CoreRestart>& restarts = indexer_.so_far().restarts;
  const auto later = std::ranges::upper_bound(
      restarts, lead, {}, [](const CoreRestart& r) { return r.place.instructions; });
  const CoreRestart* const restart = later == restarts.begin() ? nullptr : &*(later - 1);
  WindowSink sink(window, first, restart == nullptr ? 0 : restart->place.instructions);
  decode(restart, first + kWindow, no_map_, sink);
  window.index = index;
  if (window.size == 0) return;  // gdb may ask for any number
  if (coded_.size() <= index) coded_.resize(index + 1);
  if (coded_[index]) return;
  coded_[index] = true;
  for (size_t i = 0; i < window.size; i++) code_.add(window.elements[i].instruction);
}

Track::Window& Track::window_of(uint64_t index) {
  const auto found =
      std::ranges::find_if(windows_, [index](const Window& w) { return w.index == index; });
  if (found != windows_.end()) {
    found->used = ++uses_;
    return *found;
  }
  Window& oldest = *std::ranges::min_element(windows_, {}, &Window::used);
  load(index, oldest);
  oldest.used = ++uses_;
  return oldest;
}

const Track::Element* Track::at(uint64_t number) {
  // No trace has this number of instructions. The sum of this number and a window fits into 64
  // bits.
  constexpr uint64_t kMostInstructions = uint64_t{1} << 60;
  number = std::min(number, kMostInstructions);
  if (count_ && number >= *count_) return nullptr;
  const Window& window = window_of(number / kWindow);
  const uint64_t place = number % kWindow;
  return place < window.size ? &window.elements[place] : nullptr;
}

const std::vector<Track::SeenMark>& Track::marks_near(uint64_t number) const {
  static const std::vector<SeenMark> none;
  const auto found = std::ranges::find_if(
      windows_, [number](const Window& w) { return w.index == number / kWindow; });
  return found == windows_.end() ? none : found->marks;
}

const TranslationMap& Track::map() {
  if (!map_) map_ = load_map({}, trace_, manifest_of(trace_));
  return *map_;
}

void Track::play_from_start(uint64_t end, bool logical, CallStacks& sink) {
  decode(nullptr, end, logical ? map() : no_map_, sink);
}

const Process& Track::process_of(uint64_t number) {
  if (!owners_) owners_ = load_page_owners(trace_.path);
  ProcessSink sink(*owners_, number);
  // The proof may follow the instruction.
  decode(nullptr, number + 1 + ProcessFollower::kMostHeld,
         owners_->has_provable() ? map() : no_map_, sink);
  sink.finish();
  return sink.process();
}

}  // namespace htmtrace
