// SPDX-License-Identifier: GPL-2.0-or-later
// Takes a finished trace out of an htm driver.
//
// Each read(2) of the event stops the trace (the first time) and then delivers one piece: trace
// bytes in the AUX ring, later blocks of the memory map as raw samples. The rings must be empty
// before every read: a driver that finds the AUX ring full is switched off by the kernel, and the
// rest of the trace is gone. What comes is judged by what it is, not by a guess of the driver's
// version; the public drivers differ in what the value of read(2) means.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "core/loss.h"
#include "ringbuf/event_fd.h"
#include "ringbuf/records.h"
#include "ringbuf/rings.h"

namespace htmtrace {

class HtmDrain {
 public:
  // Reads the event: EventFd::read, or a test's own driver.
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
    uint64_t map_repeats = 0;      // blocks that came twice and were written once
    uint64_t announced_bytes = 0;  // trace bytes that AUX records spoke of
    uint64_t lost_records = 0;
  };

  // What can be said about the completeness of the trace or of the map.
  enum class Proof : uint8_t {
    kProven,       // as many bytes came as the driver says it delivered
    kNotProvable,  // the driver does not say how many it delivered
    kViolated,     // fewer or more came than the driver says, or it did not get to the end
  };

  // Whose driver it is, as far as what came tells. The public ones carry no number; they are told
  // apart by what a read brings and returns.
  enum class Driver : uint8_t {
    kUnknown,
    kOwn,            // announces what it delivers
    kFirst,          // fills the whole AUX ring with each dump; map in the AUX ring; end marker
    kSecond,         // map as samples; a read returns 1 or 0
    kThird,          // a read returns how much came; the whole map with one read
    kThirdOrLatest,  // the same, with a map too small to tell
    kLatest,         // one block of the map with each read
  };

  enum class Step : uint8_t {
    kMore,   // something came; call again
    kAgain,  // the driver has to wait for the hypervisor; call again a little later
    kDone,   // no more comes
  };

  struct Mode {
    bool awaits_begin = false;  // the time before the begin of the trace is not a loss
    bool wraps = false;         // a full memory is no loss: the oldest was given up for the newest
    uint64_t lost_records = 0;  // that the event had counted before this trace began
  };

  HtmDrain(ReadEvent read, DataRing data, AuxRing aux, Sinks sinks, Mode mode);

  // Takes what the driver has said so far, without read(2): this does not end the trace.
  void look() { consume(); }

  // One read(2) with all that it brings.
  Step step();

  // Call once after the last step, also when the drain is cut short: accounts for what only the
  // end shows.
  void finish();

  const Totals& totals() const { return totals_; }

  // Of the last read(2); nothing before the first.
  const std::optional<EventValue>& last_value() const { return last_; }

  // The driver's first refusal or failure, if it told of one.
  const std::optional<Announcement>& error() const { return error_; }

  // The announcement that the macro began to trace, if it has arrived.
  const std::optional<Announcement>& started() const { return started_; }

  // How many trace bytes can follow at most: the size of the macro's memory; 0 when the driver has
  // not said.
  uint64_t expected_trace_bytes() const { return expected_trace_bytes_; }

  // What the driver says it has delivered; nothing when it does not, or did not get to the end.
  const std::optional<uint64_t>& trace_delivered() const { return trace_delivered_; }
  const std::optional<uint64_t>& map_delivered() const { return map_delivered_; }

  // Valid after finish(): the macro's memory was full, so that it had to stop tracing before it was
  // told to, or to write over the oldest. Nothing when the driver does not tell how large the
  // memory is.
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
  void take_map_block(const MapBlock& block);
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
  int silent_reads_ = 0;   // reads in a row with value 0 and nothing new
  int stalled_reads_ = 0;  // reads in a row during which the event did not run
  bool new_sample_ = false;
  uint64_t new_aux_record_bytes_ = 0;  // of the AUX records since the AUX ring was last looked at
  bool throttled_ = false;
  bool map_loops_ = false;
  std::vector<std::byte> last_block_;
  std::set<uint64_t> iterators_;

  // The last bytes of the trace: zero where the macro has not written.
  static constexpr size_t kTailBytes = 128;
  std::array<std::byte, kTailBytes> tail_{};
  uint64_t taken_bytes_ = 0;  // from the AUX ring, whatever became of them

  bool announces_ = false;       // the driver says what it delivers
  bool whole_rings_ = false;     // it is the first public one
  bool counts_value_ = false;    // a read has returned more than 1
  bool blocks_at_once_ = false;  // a read has brought several blocks of the map
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
