// SPDX-License-Identifier: GPL-2.0-or-later
// A driver of the htm PMU in plain memory.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ringbuf/htm_drain.h"
#include "tests/unit/big_endian.h"
#include "tests/unit/plain_ring.h"

namespace htmtrace {

// Returns a block of the memory map with `entries` entries.
inline std::string map_block(uint64_t next, uint64_t entries, char fill = 'm') {
  return big_endian(0) + big_endian(next) + big_endian(entries) + big_endian(0) +
         std::string(entries * 32, fill);
}

// Returns the body of a sample with this raw payload, padded as in perf.
inline std::string raw_sample(const std::string& payload) {
  const size_t padded = (payload.size() + 4 + 7) / 8 * 8 - 4;
  const auto size = static_cast<uint32_t>(padded);
  return native_words({1, 2, 3, 4, 5}) + std::string(reinterpret_cast<const char*>(&size), 4) +
         payload + std::string(padded - payload.size(), '\0');
}

// Each read() puts one piece into the rings.
class PlainDriver {
 public:
  explicit PlainDriver(size_t data_bytes = 4096, size_t aux_bytes = 64)
      : ring(data_bytes, aux_bytes) {}

  // The actions of the next reads in order. Each returns the value of its read.
  std::deque<std::function<uint64_t()>> plan;
  PlainRing ring;
  uint64_t lost_records = 0;
  bool running = true;
  bool error_state = false;
  bool read_with_full_rings = false;
  std::string trace, map;
  std::vector<Loss> losses;

  std::function<uint64_t()> give_trace(const std::string& bytes, uint64_t flags = 0) {
    return [=, this]() -> uint64_t {
      announce_aux(bytes.size(), flags);
      ring.put_aux(bytes);
      return 2;
    };
  }
  std::function<uint64_t()> give_sample(const std::string& payload) {
    return [=, this]() -> uint64_t {
      if (!ring.put_record(PERF_RECORD_SAMPLE, raw_sample(payload))) lost_records++;
      return payload.size() / 32 + 1;
    };
  }
  std::function<uint64_t()> say(uint64_t id) {
    return [=, this]() -> uint64_t {
      announce(id);
      return 1;
    };
  }
  std::function<uint64_t()> answer(uint64_t value) {
    return [=] { return value; };
  }
  void announce(uint64_t id) { ring.put_record(PERF_RECORD_AUX_OUTPUT_HW_ID, native_words({id})); }
  void announce_aux(uint64_t size, uint64_t flags) {
    ring.put_record(PERF_RECORD_AUX, native_words({ring.page().aux_head, size, flags}));
  }

  HtmDrain make_drain(HtmDrain::Mode mode = {.wraps = false, .lost_records = 0}) {
    return {[this] { return read(); },
            ring.data(),
            ring.aux(),
            {.trace = [this](auto bytes) { trace += text_of(bytes); },
             .map = [this](auto bytes) { map += text_of(bytes); },
             .loss = [this](const Loss& loss) { losses.push_back(loss); }},
            mode};
  }

 private:
  std::optional<EventValue> read() {
    if (!ring.empty()) read_with_full_rings = true;
    if (error_state) return std::nullopt;
    EventValue value;
    if (!plan.empty()) {
      value.value = plan.front()();
      plan.pop_front();
    }
    clock_ += running ? 10 : 0;
    value.enabled_ns = value.running_ns = clock_;
    value.lost_records = lost_records;
    return value;
  }

  uint64_t clock_ = 0;
};

}  // namespace htmtrace
