// SPDX-License-Identifier: GPL-2.0-or-later
// The instructions of one core trace by number. Decodes the trace in windows of a fixed number of
// instructions, and keeps two of them. To go back, it decodes from the last restart that precedes
// the window. It learns the restarts as it goes forward, so that a large trace is ready at once.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cli/replay/code_words.h"
#include "cli/traces/bytes.h"
#include "cli/traces/choice.h"
#include "core/analysis/call_stacks.h"
#include "core/core_trace/events.h"
#include "core/memory_map/translation.h"
#include "core/selection/indexer.h"
#include "output/io/input_file.h"

namespace htmtrace {

class Track {
 public:
  struct Element {
    Instruction instruction;
    // Instructions or their addresses are missing between the preceding instruction and this one.
    bool after_gap = false;
  };
  struct SeenMark {
    unsigned value = 0;
    uint64_t number = 0;  // of the next instruction
  };

  // A window has 32768 instructions and 4 MB.
  static constexpr uint64_t kWindow = 1 << 15;

  // Throws Error, also if the trace cannot be read twice.
  Track(const ChosenTrace& trace, std::endian order);

  // The instruction with this number, counted from 0; null at the end of the trace. Valid until the
  // second next call. Throws Error.
  const Element* at(uint64_t number);

  // The number of instructions if the end of the trace has been read.
  std::optional<uint64_t> count() const { return count_; }

  // The words of all windows so far.
  const CodeWords& code() const { return code_; }
  // The marks of the window that holds this instruction, in order. Call at(number) first.
  const std::vector<SeenMark>& marks_near(uint64_t number) const;

  // Passes the instructions up to `end`, excluding `end`, and all other events to `sink`.
  void play_from_start(uint64_t end, CallStacks& sink);

  const ChosenTrace& trace() const { return trace_; }

 private:
  struct Window {
    std::optional<uint64_t> index;
    size_t size = 0;
    std::unique_ptr<Element[]> elements;
    std::vector<SeenMark> marks;
    uint64_t used = 0;
  };
  class WindowSink;

  Window& window_of(uint64_t index);
  void load(uint64_t index, Window& window);
  void learn_restarts_to(uint64_t number);
  TraceBytes bytes_from(const CoreRestart* restart);
  template <class Sink>
  uint64_t decode(const CoreRestart* restart, uint64_t end, Sink& sink);

  const ChosenTrace& trace_;
  TranslationMap map_;  // empty: gdb knows effective addresses only
  InputFile input_;     // for windows
  InputFile ahead_;     // for restarts, which are learned ahead of the windows
  uint64_t oldest_ = 0;
  TraceBytes ahead_bytes_;
  CoreIndexer indexer_;
  bool indexed_all_ = false;
  std::array<Window, 2> windows_;
  uint64_t uses_ = 0;
  std::optional<uint64_t> count_;
  CodeWords code_;
  std::vector<bool> coded_;  // by window: code_ has its words
  std::unique_ptr<std::byte[]> piece_;
};

}  // namespace htmtrace
