// SPDX-License-Identifier: GPL-2.0-or-later
// Prints the events of a nest trace with several threads, in the order of the events.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/base/address.h"
#include "core/nest_trace/events.h"
#include "output/io/block_queue.h"
#include "output/io/text_output.h"

namespace htmtrace {

// The File of a BlockQueue for the text of a nest trace. `MakePrinter` turns a TextOutput& into a
// printer. The printer's text for an event must not depend on other events.
template <class MakePrinter>
class NestLines {
 public:
  struct Item {
    nest::Event event;
    std::optional<LogicalAddr> la;
  };
  class Block {
   public:
    void add(const Item& item) { items_.push_back(item); }
    void clear() { items_.clear(); }
    const std::vector<Item>& items() const { return items_; }

   private:
    std::vector<Item> items_;
  };
  class Encoder {
   public:
    explicit Encoder(const NestLines& lines)
        : text_(TextOutput::memory()), printer_(lines.make_printer_(text_)) {}
    void encode(const Block& block) {
      text_.clear();
      for (const Item& item : block.items()) printer_.event(item.event, item.la);
    }
    std::string_view text() const { return text_.text(); }

   private:
    TextOutput text_;
    std::invoke_result_t<MakePrinter, TextOutput&> printer_;
  };

  // The output must outlive this object.
  NestLines(TextOutput& output, const MakePrinter& make_printer)
      : output_(output), make_printer_(make_printer) {}

  static Block empty_block() { return {}; }
  void write(const Block&, const Encoder& encoder) { output_.put_large(encoder.text()); }

 private:
  TextOutput& output_;
  const MakePrinter& make_printer_;
};

// A nest::SelectedSink that collects events in blocks, which the threads print.
template <class MakePrinter>
class NestLineQueue {
 public:
  // All arguments except `threads` must outlive this object. `threads` includes the thread that
  // passes the events. Starts fewer threads if the system refuses to start more.
  NestLineQueue(TextOutput& output, const MakePrinter& make_printer, unsigned threads)
      : lines_(output, make_printer), queue_(lines_, threads - 1, kBlocksPerThread * threads) {}

  void event(const nest::Event& event, std::optional<LogicalAddr> la) {
    block_.add({event, la});
    if (block_.items().size() == kItems) queue_.add(block_);
  }

  // Writes the rest. Throws Error.
  void finish() {
    queue_.add(block_);
    queue_.finish();
  }

 private:
  // Small enough that the text of a block stays in a processor's cache.
  static constexpr size_t kItems = 1 << 11;
  static constexpr size_t kBlocksPerThread = 4;

  NestLines<MakePrinter> lines_;
  typename NestLines<MakePrinter>::Block block_;
  BlockQueue<NestLines<MakePrinter>> queue_;
};

}  // namespace htmtrace
