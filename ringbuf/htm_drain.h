// SPDX-License-Identifier: GPL-2.0-or-later
// Drains a finished trace from an htm driver.
//
// The first read(2) of the event stops the trace. Each read(2) delivers one piece: first trace
// bytes in the AUX ring, later blocks of the memory map as raw samples. The rings must be empty
// before every read. If the driver finds the AUX ring full, the kernel disables the event, and the
// rest of the trace is lost. HtmDrain recognizes the delivered data by content, not by the driver's
// version, because the value of read(2) differs between the public drivers.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "core/base/loss.h"
#include "ringbuf/event_fd.h"
#include "ringbuf/records.h"
#include "ringbuf/rings.h"

namespace htmtrace {

class HtmDrain {
 public:
  // Reads the event: EventFd::read, or the simulated driver of a test.
  using ReadEvent = std::function<std::optional<EventValue>()>;

  struct Sinks {
    std::function<void(std::span<const std::byte>)> trace;
    std::function<void(std::span<const std::byte>)> map;
    std::function<void(const Loss&)> loss;
  };

  struct Totals {
    uint64_t reads = 0;
    uint64_t trace_bytes = 0;
    uint64_t map_bytes = 0;
    uint64_t map_blocks = 0;
    uint64_t map_entries = 0;
    uint64_t map_repeats = 0;      // blocks that arrived twice; written once
    uint64_t announced_bytes = 0;  // trace bytes that AUX records announced
    uint64_t lost_records = 0;
  };

  // The driver, as far as the delivered data identifies it. The public drivers have no version
  // number; the results of read(2) distinguish them.
  enum class Driver : uint8_t {
    kUnknown,
    kOwn,     // announces its deliveries
    kFirst,   // each dump fills the whole AUX ring; map in the AUX ring; end marker
    kSecond,  // map as samples; a read returns 1 or 0
    kThird,   // a read returns the number of delivered bytes; one read delivers the whole map
    kThirdOrLatest,  // the third or the latest driver: the map is too small to distinguish them
    kLatest,         // each read delivers one block of the map
  };

  enum class Step : uint8_t {
    kMore,   // new data arrived; call again
    kAgain,  // the driver waits for the hypervisor; call again a little later
    kDone,   // no further data will arrive
  };

  struct Mode {
    bool awaits_begin = false;  // the time before the begin of the trace is not a loss
    bool wraps = false;  // a full memory is not a loss: the newest data replaces the oldest data
    uint64_t lost_records = 0;  // the event's count before this trace began
    // Returns true if the macro reports in the last bytes of a trace that its memory was full. Null
    // if the format of the trace is not known.
    bool (*reports_full)(std::span<const std::byte> tail) = nullptr;
  };

  HtmDrain(ReadEvent read, DataRing data, AuxRing aux, Sinks sinks, Mode mode);

  // Processes the driver's reports so far, without read(2). The trace continues.
  void look() { consume(); }

  // Performs one read(2) and drains the delivered data.
  Step step();

  // Reports the losses that only the end shows. Call once after the last step, even if the drain
  // was interrupted.
  void finish();

  const Totals& totals() const { return totals_; }

  // The result of the last read(2). Empty before the first read.
  const std::optional<EventValue>& last_value() const { return last_; }

  // The first refusal or error that the driver reported, if any.
  const std::optional<Announcement>& error() const { return error_; }

  // The announcement that the macro began tracing, if received.
  const std::optional<Announcement>& started() const { return started_; }

  // The maximum number of trace bytes, which is the size of the macro's memory. 0 if the driver has
  // not reported the size.
  uint64_t expected_trace_bytes() const { return expected_trace_bytes_; }

  // The driver's count of delivered bytes. Empty if the driver reports no count or did not reach
  // the end.
  const std::optional<uint64_t>& trace_delivered() const { return trace_delivered_; }
  const std::optional<uint64_t>& map_delivered() const { return map_delivered_; }

  // Valid after finish(). True if the macro's memory was full, so that the macro stopped early or
  // overwrote the oldest data. Empty if neither the driver nor the trace reports this.
  std::optional<bool> memory_full() const;

  Driver driver() const;

  // Valid after finish().
  Proof trace_proof() const { return trace_proof_; }
  Proof map_proof() const { return map_proof_; }

 private:
  bool consume();
  bool take_trace();
  void take_record(const Record& record);
  void take_sample(std::span<const std::byte> body);
  bool take_end_marker(std::span<const std::byte> payload);
  bool take_map_block(std::span<const std::byte> bytes);
  void take_map_in_aux(std::span<const std::byte> bytes);
  void note_value(const EventValue& value, uint64_t blocks_before);
  void take_aux_record(std::span<const std::byte> body);
  void take_announcement(std::span<const std::byte> body);
  void keep_tail(std::span<const std::byte> bytes);
  void settle_gaps();
  void settle_lost_records();
  Proof prove(const char* place, std::optional<uint64_t> delivered, uint64_t received);
  void lose(const char* place, const char* cause, LossUnit unit, uint64_t amount);

  ReadEvent read_;
  DataRing data_;
  AuxRing aux_;
  Sinks sinks_;
  Mode mode_;
  Totals totals_;

  std::optional<EventValue> last_;
  int silent_reads_ = 0;   // consecutive reads with value 0 and no new data
  int stalled_reads_ = 0;  // consecutive reads during which the event did not run
  bool new_sample_ = false;
  uint64_t new_aux_record_bytes_ =
      0;  // bytes in the AUX records since the last drain of the AUX ring
  bool throttled_ = false;
  bool map_loops_ = false;
  std::vector<std::byte> last_block_;
  std::set<uint64_t> iterators_;

  // The last bytes of the trace; zeros where the macro has not written. They hold the largest
  // record (a complete walk has about 40 words of 8 bytes) and two lines of each of the nest's four
  // engines.
  static constexpr size_t kTailBytes = 1024;
  std::array<std::byte, kTailBytes> tail_{};
  uint64_t taken_bytes_ = 0;  // all bytes read from the AUX ring, including discarded bytes

  bool announces_ = false;       // the driver announces its deliveries
  bool whole_rings_ = false;     // the driver is the first public driver
  bool counts_value_ = false;    // a read has returned more than 1
  bool blocks_at_once_ = false;  // a read has delivered several blocks of the map
  uint64_t expected_trace_bytes_ = 0;
  std::optional<uint64_t> trace_delivered_;
  std::optional<uint64_t> map_delivered_;
  std::optional<Announcement> error_;
  std::optional<Announcement> started_;
  unsigned gaps_ = 0;  // number of gaps that the driver has announced
  unsigned gaps_why_ = 0;
  uint64_t gaps_ns_ = 0;
  bool partial_ = false;  // AUX flag PARTIAL, from a driver that announces gaps
  Proof trace_proof_ = Proof::kNotProvable;
  Proof map_proof_ = Proof::kNotProvable;
};

}  // namespace htmtrace
