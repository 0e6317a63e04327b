// SPDX-License-Identifier: GPL-2.0-or-later
// Decodes one core trace with several threads, and produces the same result as one thread.
//
// The trace is cut into parts ahead of IEARA records. A separate decoder decodes each part. It
// assumes that a record begins at the cut, and prints into memory. The results are then checked in
// the order of the trace. The assumption holds if the preceding decoder, at the cut, is between two
// records and carries no state into the part. Otherwise (damage, data that looks like an IEARA,
// POWER8 records, a printer that cannot follow), the preceding decoder decodes the part, too.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/start_thread.h"
#include "core/core_trace/decoder.h"
#include "core/core_trace/parts.h"
#include "core/core_trace/sink.h"
#include "output/io/text_output.h"
#include "output/print/part_printer.h"

namespace htmtrace {

// `MakePrinter` turns a TextOutput& into a sink for CoreDecoder. The sink must not carry state from
// one event to the next, unless it is a FollowsPrinter.
template <class MakePrinter>
class ParallelDecode {
 public:
  using Printer = std::invoke_result_t<MakePrinter, TextOutput&>;

  // `map` and the pages of `start` must outlive this object. `threads` includes the thread that
  // calls run(). Starts fewer threads if the system refuses to start more.
  ParallelDecode(const TranslationMap& map, MakePrinter make_printer, unsigned threads,
                 const ParallelLimits& limits = {}, const DecodeStart& start = {})
      : map_(map),
        make_printer_(std::move(make_printer)),
        limits_(limits),
        start_(start),
        offset_(start.offset) {
    parts_.resize(std::min(kPartsPerThread * size_t{threads}, kMostParts));
    for (Part& part : parts_) part.bytes.reset(new std::byte[limits_.part_bytes]);
    carried_.reserve(limits_.part_bytes);
    // The calling thread also decodes while it has nothing to write.
    threads_.reserve(threads - 1);
    try {
      for (unsigned i = 1; i < threads; i++) {
        auto thread = start_thread([this] { work(); });
        if (!thread) break;
        threads_.push_back(std::move(*thread));
      }
    } catch (...) {
      stop();
      throw;
    }
  }
  ~ParallelDecode() { stop(); }
  ParallelDecode(const ParallelDecode&) = delete;
  ParallelDecode& operator=(const ParallelDecode&) = delete;

  size_t threads() const { return threads_.size() + 1; }

  // The printer of the last part. Call it only after run() has returned statistics.
  const Printer& printer() const { return strand_->printer; }
  // After run(): the printer was satisfied, and the rest of the trace was not decoded.
  bool left_rest() const { return left_rest_; }

  // Decodes the trace once, up to its end or until the printer is satisfied. Returns nothing if
  // `write` returned false.
  std::optional<CoreStatistics> run(const DecodeStreams& streams) {
    for (uint64_t done = 0; !finished() && fill(streams, done) != done; done++) {
      if (!pass_on(part(done), streams)) return std::nullopt;
    }
    left_rest_ = finished();
    if (read_failure_ && !left_rest_) std::rethrow_exception(read_failure_);
    if (!strand_) strand_ = first_strand();
    strand_->decoder.finish();
    if constexpr (FollowsPrinter<Printer>) strand_->printer.finish();
    if (!pass_output(streams)) return std::nullopt;
    add_strand(0);
    statistics_.bytes -= start_.offset;
    return statistics_;
  }

 private:
  enum class Begin : uint8_t {
    kTrace,
    kLine,      // ahead of an apparent IEARA
    kAnywhere,  // the preceding part held no apparent IEARA
  };

  // Enough parts that no thread waits for a slow part that precedes its own.
  static constexpr size_t kPartsPerThread = 4;
  static constexpr size_t kMostParts = kPartsPerThread * kMostDecodeThreads;

  using Decoder = CoreDecoder<Printer>;

  // Resources that a strand hands to the next strand. Its text memory is reused, because the system
  // clears each new page. The other resource is the cache of translated addresses.
  struct Spare {
    TextOutput text;
    typename Decoder::Cursors cursors;
  };

  // A decoder and its printed text.
  struct Strand {
    Strand(Spare spare, const MakePrinter& make_printer)
        : text(std::move(spare.text)),
          printer(make_printer(text)),
          decoder(spare.cursors, printer) {
      if (wants_walks(printer)) decoder.follow_raw_walks();
    }
    TextOutput text;
    Printer printer;
    Decoder decoder;
  };

  struct Part {
    std::unique_ptr<std::byte[]> bytes;
    size_t size_bytes = 0;
    uint64_t offset = 0;
    Begin begin = Begin::kTrace;
    bool decoded = false;
    std::unique_ptr<Strand> strand;
    size_t text_bytes = 0;  // memory of the strand's text
    std::exception_ptr failure;
    std::span<const std::byte> all() const { return {bytes.get(), size_bytes}; }
  };

  Part& part(uint64_t number) { return parts_[number % parts_.size()]; }

  // ---- the thread that reads and writes

  // Reads parts while the ring has room. `done` counts the parts that were passed on. Returns the
  // number of parts read.
  uint64_t fill(const DecodeStreams& streams, uint64_t done) {
    while (!ended_ && filled_ - done < parts_.size() && has_room_for_text(done)) {
      Part& next = part(filled_);
      if (!read_part(next, streams)) break;
      {
        const std::lock_guard lock(mutex_);
        filled_++;
      }
      work_.notify_one();  // a woken thread finds the lock free
    }
    return filled_;
  }

  // Each part that is not decoded yet may have the longest text.
  bool has_room_for_text(uint64_t done) {
    if (filled_ == done) return true;
    const std::lock_guard lock(mutex_);
    const uint64_t undecoded = filled_ - done - waiting_parts_ + 1;
    return waiting_text_ + undecoded * kMostPartText <= limits_.text_bytes;
  }

  bool read_part(Part& next, const DecodeStreams& streams) {
    std::copy(carried_.begin(), carried_.end(), next.bytes.get());
    next.size_bytes = carried_.size();
    carried_.clear();
    while (next.size_bytes < limits_.part_bytes && !ended_) {
      const size_t got =
          read({next.bytes.get() + next.size_bytes, limits_.part_bytes - next.size_bytes}, streams);
      next.size_bytes += got;
      ended_ = got == 0;
    }
    next.offset = offset_;
    next.begin = begin_;
    next.decoded = false;
    if (!ended_) {
      const size_t line = last_line_offset(next.all());
      begin_ = line == 0 ? Begin::kAnywhere : Begin::kLine;
      if (line != 0) {
        carried_.assign(next.bytes.get() + line, next.bytes.get() + next.size_bytes);
        next.size_bytes = line;
      }
    }
    offset_ += next.size_bytes;
    return next.size_bytes != 0;
  }

  // Keeps a failure until the preceding bytes are decoded: the printer may need no more bytes.
  size_t read(std::span<std::byte> piece, const DecodeStreams& streams) {
    try {
      return streams.read(piece);
    } catch (...) {
      read_failure_ = std::current_exception();
      return 0;
    }
  }

  bool pass_on(Part& next, const DecodeStreams& streams) {
    help_until_decoded(next);
    if (next.failure) std::rethrow_exception(next.failure);
    bool wanted = true;
    if (!next.strand || (strand_ && !can_follow(*next.strand))) {
      give_back(std::move(next.strand));
      if (!strand_) strand_ = first_strand();
      wanted = write_pieces(next.all(), streams);
    } else {
      if (strand_) wanted = follow(*next.strand, streams);
      give_back(std::exchange(strand_, std::move(next.strand)));
    }
    wanted = wanted && pass_output(streams);
    strand_->text.clear();
    streams.progress(next.offset + next.size_bytes, statistics_);
    return wanted;
  }

  bool finished() const { return strand_ && strand_->decoder.finished(); }

  bool pass_output(const DecodeStreams& streams) {
    if constexpr (DeliversPrinter<Printer>) strand_->printer.deliver();
    return streams.write(strand_->text.text());
  }

  // Whether the text of `next` continues the text of strand_, as one decoder would print it.
  bool can_follow(const Strand& next) const {
    if (!strand_->decoder.settled()) return false;
    if constexpr (FollowsPrinter<Printer>) return next.printer.can_follow(strand_->printer);
    return true;
  }

  bool follow(Strand& next, const DecodeStreams& streams) {
    add_strand(strand_->decoder.groups_ended_by_line());
    if constexpr (FollowsPrinter<Printer>) {
      next.printer.follow(strand_->printer);
      return streams.write(strand_->text.text());
    }
    return true;
  }

  // Decodes a part after its predecessor, and writes long text as it arises.
  bool write_pieces(std::span<const std::byte> bytes, const DecodeStreams& streams) {
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(limits_.feed_bytes, bytes.size()))) {
      strand_->decoder.feed(bytes.first(std::min(limits_.feed_bytes, bytes.size())));
      if (strand_->text.text().size() < kMostPartText) continue;
      if (!streams.write(strand_->text.text())) return false;
      strand_->text.clear();
    }
    return true;
  }

  // The strand's decoder has finished its part.
  void add_strand(unsigned interrupted_groups) {
    statistics_.add(strand_->decoder.statistics());
    statistics_.interrupted_groups += interrupted_groups;
  }

  void help_until_decoded(const Part& wanted) {
    std::unique_lock lock(mutex_);
    while (!wanted.decoded) {
      if (taken_ != filled_) {
        take_one(lock);
      } else {
        decoded_.wait(lock);
      }
    }
    waiting_parts_--;
    waiting_text_ -= wanted.text_bytes;
  }

  // ---- threads that decode

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    work_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      work_.wait(lock, [&] { return stopping_ || taken_ != filled_; });
      if (stopping_) return;
      take_one(lock);
    }
  }

  // Decodes the next part that no thread has claimed. The caller holds the lock, and decoding runs
  // without it.
  void take_one(std::unique_lock<std::mutex>& lock) {
    Part& next = part(taken_++);
    lock.unlock();
    try {
      decode(next);
    } catch (...) {
      next.failure = std::current_exception();
    }
    lock.lock();
    next.decoded = true;
    next.text_bytes = next.strand ? next.strand->text.capacity() : 0;
    waiting_parts_++;
    waiting_text_ += next.text_bytes;
    decoded_.notify_one();
  }

  void decode(Part& next) {
    if (next.begin == Begin::kAnywhere) return;
    next.strand = next.begin == Begin::kTrace ? first_strand() : new_strand();
    if (next.begin == Begin::kLine) {
      next.strand->decoder.start_at(next.offset);
      if constexpr (FollowsPrinter<Printer>) next.strand->printer.start_inside();
    }
    std::span<const std::byte> bytes = next.all();
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(limits_.feed_bytes, bytes.size()))) {
      next.strand->decoder.feed(bytes.first(std::min(limits_.feed_bytes, bytes.size())));
      if (next.strand->text.text().size() <= kMostPartText / 2) continue;
      next.strand.reset();
      return;
    }
  }

  std::unique_ptr<Strand> first_strand() {
    std::unique_ptr<Strand> strand = new_strand();
    if (start_.offset != 0) strand->decoder.start_at(start_.offset, start_.pages);
    return strand;
  }

  // ---- reused resources

  std::unique_ptr<Strand> new_strand() {
    return std::make_unique<Strand>(take_spare(), make_printer_);
  }

  Spare take_spare() {
    const std::lock_guard lock(mutex_);
    if (spare_.empty()) return {TextOutput::memory(), typename Decoder::Cursors(map_)};
    Spare spare = std::move(spare_.back());
    spare_.pop_back();
    spare_text_ -= spare.text.capacity();
    return spare;
  }

  void give_back(std::unique_ptr<Strand> strand) {
    if (!strand) return;
    strand->text.clear();
    const std::lock_guard lock(mutex_);
    if (spare_text_ + strand->text.capacity() > limits_.text_bytes / 4) return;
    spare_text_ += strand->text.capacity();
    spare_.push_back({std::move(strand->text), strand->decoder.cursors()});
  }

  const TranslationMap& map_;
  MakePrinter make_printer_;
  ParallelLimits limits_;
  DecodeStart start_;

  // Bytes of the part that is read next.
  std::vector<std::byte> carried_;
  uint64_t offset_;
  Begin begin_ = Begin::kTrace;
  bool ended_ = false;
  std::exception_ptr read_failure_;
  bool left_rest_ = false;

  std::unique_ptr<Strand> strand_;  // of the last part that was passed on
  CoreStatistics statistics_;       // of the preceding strands

  std::mutex mutex_;
  std::condition_variable work_, decoded_;
  bool stopping_ = false;
  uint64_t filled_ = 0, taken_ = 0;  // part numbers
  std::vector<Part> parts_;          // a ring
  std::vector<Spare> spare_;
  uint64_t spare_text_ = 0;
  // Parts that are decoded and not passed on yet, and the memory of their text.
  uint64_t waiting_parts_ = 0, waiting_text_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace htmtrace
