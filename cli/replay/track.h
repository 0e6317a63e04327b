// SPDX-License-Identifier: GPL-2.0-or-later
// The instructions of one core trace by number. A track decodes windows of a fixed number of
// instructions, and keeps two windows. To load a window, it decodes from the last restart that
// precedes the window. It finds restarts only up to the window, so a large trace is ready at once.
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
#include "core/analysis/page_owners.h"
#include "core/call_stacks/call_stacks.h"
#include "core/core_trace/events.h"
#include "core/memory_map/process.h"
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

  // The number of instructions in a window, which takes 4 MiB of memory.
  static constexpr uint64_t kWindow = 1 << 15;

  // Throws Error, also if the trace cannot be read twice.
  Track(const ChosenTrace& trace, std::endian order);

  // The instruction with this number, counted from 0. Null at and after the end of the trace. The
  // pointer stays valid during the next call, but not during the call after that. Throws Error.
  const Element* at(uint64_t number);

  // The number of instructions, if a window or play_from_start() has reached the end of the trace.
  std::optional<uint64_t> count() const { return count_; }

  // The file could not be read to its end, and a warning was printed.
  bool is_cut() const { return is_cut_; }

  // The words of all windows that were loaded so far.
  const CodeWords& code() const { return code_; }
  // The marks of the window that holds this instruction, in order. Call at(number) first.
  const std::vector<SeenMark>& marks_near(uint64_t number) const;

  // Passes the instructions up to `end`, excluding `end`, and all other events to `sink`. If
  // `logical`, the instructions also have logical addresses. Throws Error.
  void play_from_start(uint64_t end, bool logical, CallStacks& sink);

  // The process of the instruction, as `decode --fields process` prints it. Decodes the trace from
  // its start. Throws Error.
  const Process& process_of(uint64_t number);

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
  class ProcessSink;

  Window& window_of(uint64_t index);
  void load(uint64_t index, Window& window);
  void learn_restarts_to(uint64_t number);
  TraceBytes bytes_from(const CoreRestart* restart);
  template <class Sink>
  uint64_t decode(const CoreRestart* restart, uint64_t end, const TranslationMap& map, Sink& sink);

  // Loads the memory map on first use. Throws Error.
  const TranslationMap& map();

  const ChosenTrace& trace_;
  TranslationMap no_map_;  // gdb knows effective addresses only
  std::optional<TranslationMap> map_;
  std::optional<PageOwners> owners_;  // for process_of()
  InputFile input_;                   // for windows and play_from_start()
  InputFile ahead_;  // for the search for restarts, which precedes the load of a window
  uint64_t oldest_ = 0;
  TraceBytes ahead_bytes_;
  CoreIndexer indexer_;
  bool indexed_all_ = false;
  std::array<Window, 2> windows_;
  uint64_t uses_ = 0;
  std::optional<uint64_t> count_;
  bool is_cut_ = false;
  CodeWords code_;
  std::vector<bool> coded_;  // indexed by window: code_ has its words
  std::unique_ptr<std::byte[]> piece_;
};

}  // namespace htmtrace
