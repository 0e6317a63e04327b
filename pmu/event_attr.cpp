// SPDX-License-Identifier: GPL-2.0-or-later
#include "pmu/event_attr.h"

#include <cstring>

namespace htmtrace {
namespace {

// Fields without a name in an old header must lie at the kernel's offsets.
static_assert(offsetof(perf_event_attr, config) == kConfigOffsets[0]);
static_assert(offsetof(perf_event_attr, config1) == kConfigOffsets[1]);
static_assert(offsetof(perf_event_attr, config2) == kConfigOffsets[2]);
static_assert(offsetof(perf_event_attr, aux_sample_size) + sizeof(uint32_t) == kAuxActionOffset);
static_assert(offsetof(perf_event_attr, sig_data) == kAuxActionOffset + sizeof(uint32_t));
static_assert(sizeof(perf_event_attr) % sizeof(uint64_t) == 0);
static_assert(sizeof(perf_event_attr) >= kConfigOffsets[3]);

}  // namespace

EventAttr::EventAttr() {
  static_assert(sizeof(Words) >= kEventAttrBytes);
  static_assert(offsetof(Words, tail) == sizeof(perf_event_attr));
  std::memset(&words_, 0, sizeof(words_));
  words_.base.size = kEventAttrBytes;
}

void EventAttr::record_raw_samples() {
  words_.base.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                            PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW;
  words_.base.sample_id_all = 1;
  words_.base.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
                            PERF_FORMAT_ID | PERF_FORMAT_LOST;
  words_.base.disabled = 1;
  words_.base.pinned = 1;
}

uint64_t EventAttr::config(size_t index) const {
  uint64_t value = 0;
  std::memcpy(&value, bytes().data() + kConfigOffsets.at(index), sizeof(value));
  return value;
}

void EventAttr::set_config(size_t index, uint64_t value) {
  auto all = std::as_writable_bytes(std::span(&words_, 1));
  std::memcpy(all.data() + kConfigOffsets.at(index), &value, sizeof(value));
}

uint32_t EventAttr::aux_action() const {
  uint32_t value = 0;
  std::memcpy(&value, bytes().data() + kAuxActionOffset, sizeof(value));
  return value;
}

void EventAttr::set_aux_action(uint32_t value) {
  auto all = std::as_writable_bytes(std::span(&words_, 1));
  std::memcpy(all.data() + kAuxActionOffset, &value, sizeof(value));
}

std::span<const std::byte> EventAttr::bytes() const {
  return std::as_bytes(std::span(&words_, 1)).first(kEventAttrBytes);
}

}  // namespace htmtrace
