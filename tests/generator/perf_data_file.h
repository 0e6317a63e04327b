// SPDX-License-Identifier: GPL-2.0-or-later
// Writes perf.data files as `perf record` of the htm series does, in either byte order. Shares
// nothing with the reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace htmtrace::generator {

// Of that machine.
inline constexpr uint32_t kHtmPmu = 27;
inline constexpr uint32_t kDtlPmu = 28;

class PerfDataFile {
 public:
  struct Event {
    uint64_t config = 0;
    uint32_t cpu = 0;  // its carrier
    uint32_t pmu = kHtmPmu;
    std::string name = "htm/htm_core/";
  };
  struct Wishes {
    bool big_endian = false;
    bool names = true;        // of PMUs and events
    bool unfinished = false;  // as perf leaves it when it is killed
    bool pairs = true;        // AUXTRACE_INFO tells which CPU traces what
    bool dispatches = false;  // AUXTRACE_INFO says that it is the dispatch trace log
  };

  PerfDataFile(std::vector<Event> events, Wishes wishes);

  // As the drivers since the second deliver: the trace in pieces of at most `piece_bytes`, then the
  // blocks of the memory map as samples.
  void deliver(size_t event, std::span<const std::byte> trace, std::span<const std::byte> map,
               size_t piece_bytes);
  // As the first one does: dumps of the whole AUX area, the blocks after them, a marker.
  void deliver_first(size_t event, std::span<const std::byte> trace, std::span<const std::byte> map,
                     size_t aux_bytes);

  void aux(size_t event, uint64_t position, uint64_t size, uint64_t flags);
  void auxtrace(size_t event, uint64_t position, std::span<const std::byte> bytes);
  void sample(size_t event, std::span<const std::byte> payload);
  void record(uint32_t type, const std::vector<std::byte>& body, uint16_t misc = 0);
  // perf record --switch-events; a task is pid * 2^32 + tid. And a name.
  void switched(size_t event, uint64_t ns, uint64_t from, uint64_t to);
  void named(uint64_t task, const std::string& name);
  void lost(uint64_t count);

  std::vector<std::byte> finish() const;

 private:
  using Bytes = std::vector<std::byte>;
  void put(Bytes& to, uint64_t value, unsigned size) const;
  void put_text(Bytes& to, const std::string& text) const;
  void put_attr(Bytes& to, const Event& event) const;
  void put_identity(Bytes& to, size_t event, uint64_t task = 0, uint64_t ns = 1000) const;
  void put_task(Bytes& to, uint64_t task) const;
  Bytes event_names() const;
  Bytes pmu_names() const;
  static uint64_t id_of(size_t event) { return 100 + event; }

  std::vector<Event> events_;
  Wishes wishes_;
  Bytes data_;
};

// The first block's bytes, header and entries.
std::span<const std::byte> first_map_block(std::span<const std::byte> map);

}  // namespace htmtrace::generator
