// SPDX-License-Identifier: GPL-2.0-or-later
// drain_dispatch_rings RINGS MIB bare|write|copy|pack: the rings of so many CPUs' vpa_dtl events in
// plain memory, filled as the kernel's driver does it and emptied until so much has come from them.
// With `bare` the bytes are copied to a buffer and the space given back, which is the least that
// anybody must do; with `write` they are written to a file in memory, too. With `copy` they are
// emptied as `htmtrace dtl` does it, whose copy is looked through and counted; with `pack` the
// entries are packed as for a recording. Prints the CPU seconds that emptying takes for each GB,
// the best of several parts; status 1 when an entry was lost. For benchmarks.
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string_view>
#include <vector>

#include "core/dtl_blocks.h"
#include "ringbuf/dtl_drain.h"
#include "ringbuf/rings.h"
#include "tests/generator/plausible_dispatches.h"

using namespace htmtrace;

namespace {

constexpr size_t kDataBytes = 16 << 10;
constexpr size_t kAuxBytes = 64 << 10;
constexpr size_t kSlots = (kAuxBytes - 32) / kDtlEntryBytes;
// A delivery, and how many there are between two looks at a ring.
constexpr size_t kAtOnce = 50, kDeliveries = 4;
constexpr uint64_t kTicksPerSecond = 512'000'000;
constexpr uint64_t kPieceBytes = 100'000'000;

// What both emptying and its result need.
class Consumer {
 public:
  explicit Consumer(bool packs) : packs_(packs) {}

  void take(std::span<const std::byte> bytes) {
    taken_ += bytes.size() / kDtlEntryBytes;
    if (packs_) pack(bytes);
  }

  uint64_t taken() const { return taken_; }

 private:
  void pack(std::span<const std::byte> bytes) {
    for (size_t at = 0; at < bytes.size(); at += kDtlEntryBytes) {
      entries_.push_back(load_dtl_entry(bytes.data() + at));
      if (entries_.size() < kMostDtlEntries) continue;
      packed_.clear();
      blocks_.add(entries_, kTicksPerSecond, packed_);
      entries_.clear();
    }
  }

  bool packs_;
  uint64_t taken_ = 0;
  DtlCpuBlocks blocks_{0};
  std::vector<std::byte> packed_;
  std::vector<DtlEntry> entries_;
};

class Ring {
 public:
  Ring(unsigned seed, Consumer& consumer)
      : dispatches_(seed),
        drain_(DataRing(&page_, data_), AuxRing(&page_, aux_), kAuxBytes,
               {.entries = [&consumer](auto bytes) { consumer.take(bytes); },
                .loss = [](const Loss&) {},
                .boot_timebase = [](uint64_t) { return uint64_t{0}; }}) {
    std::vector<std::byte> clock(kDtlEntryBytes);
    std::memcpy(clock.data() + sizeof(kTicksPerSecond), &kTicksPerSecond, sizeof(kTicksPerSecond));
    put_slot(clock.data());
  }

  uint64_t fill() {
    for (size_t i = 0; i < kDeliveries; i++) deliver();
    return kDeliveries * kAtOnce;
  }
  void look(std::vector<std::byte>& room) { drain_.look(room); }

  // The least that must be done; to a file as well unless that is negative. Returns the bytes.
  size_t copy_out(std::span<std::byte> to, int file) {
    AuxRing ring(&page_, aux_);
    const AuxBytes bytes = ring.peek();
    std::memcpy(to.data(), bytes.first.data(), bytes.first.size());
    if (!bytes.second.empty()) {
      std::memcpy(to.data() + bytes.first.size(), bytes.second.data(), bytes.second.size());
    }
    if (file >= 0 && ::pwrite(file, to.data(), bytes.size(), 0) < 0) std::exit(1);
    ring.release(bytes);
    page_.data_tail = page_.data_head;
    return bytes.size();
  }

 private:
  void deliver() {
    const uint64_t begin = page_.aux_head;
    std::byte entry[kDtlEntryBytes];
    for (size_t i = 0; i < kAtOnce; i++) {
      store_dtl_entry(entry, dispatches_.next());
      put_slot(entry);
    }
    // PERF_RECORD_AUX: offset, size, flags; thread, time, CPU, identifier.
    const uint64_t body[] = {begin, kAtOnce * kDtlEntryBytes, 0, 0, 1, 0, 1};
    perf_event_header header{};
    header.type = PERF_RECORD_AUX;
    header.size = sizeof(header) + sizeof(body);
    put_data(&header, sizeof(header));
    put_data(body, sizeof(body));
  }

  void put_slot(const std::byte* slot) {
    size_t place = page_.aux_head % kAuxBytes;
    if (place == kSlots * kDtlEntryBytes) {
      page_.aux_head += kAuxBytes - place;
      place = 0;
    }
    std::memcpy(aux_.data() + place, slot, kDtlEntryBytes);
    page_.aux_head += kDtlEntryBytes;
  }

  // Multiples of eight bytes, so that words do not wrap.
  void put_data(const void* from, size_t bytes) {
    for (size_t at = 0; at < bytes; at += 8, page_.data_head += 8) {
      std::memcpy(data_.data() + page_.data_head % kDataBytes, static_cast<const char*>(from) + at,
                  8);
    }
  }

  perf_event_mmap_page page_{};
  std::vector<std::byte> data_ = std::vector<std::byte>(kDataBytes);
  std::vector<std::byte> aux_ = std::vector<std::byte>(kAuxBytes);
  generator::PlausibleDispatches dispatches_;
  DtlDrain drain_;
};

double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned long count = argc == 4 ? std::strtoul(argv[1], nullptr, 10) : 0;
  const unsigned long mib = argc == 4 ? std::strtoul(argv[2], nullptr, 10) : 0;
  const std::string_view what = argc == 4 ? argv[3] : "";
  if (count == 0 || mib == 0 ||
      (what != "bare" && what != "write" && what != "copy" && what != "pack")) {
    std::fputs("usage: drain_dispatch_rings RINGS MIB bare|write|copy|pack\n", stderr);
    return 2;
  }
  const bool drains = what == "copy" || what == "pack";
  const int file = what == "write" ? ::memfd_create("rings", 0) : -1;
  std::vector<std::byte> buffer(kAuxBytes);
  Consumer consumer(what == "pack");
  std::vector<std::unique_ptr<Ring>> rings;
  for (unsigned i = 0; i < count; i++) rings.push_back(std::make_unique<Ring>(i, consumer));
  uint64_t written = 0, copied = 0;
  double best = 0;
  while (written * kDtlEntryBytes < mib << 20) {
    // Another program on this processor makes a part of it slower, and no part quicker.
    uint64_t part = 0;
    double seconds = 0;
    while (part * kDtlEntryBytes < kPieceBytes) {
      for (const auto& ring : rings) part += ring->fill();
      const double begin = cpu_seconds();
      for (const auto& ring : rings) {
        if (drains) {
          ring->look(buffer);
        } else {
          copied += ring->copy_out(buffer, file);
        }
      }
      seconds += cpu_seconds() - begin;
    }
    written += part;
    const double each = seconds / (static_cast<double>(part * kDtlEntryBytes) * 1e-9);
    if (best == 0 || each < best) best = each;
  }
  // Each ring has one slot with the clock, and padding.
  const uint64_t taken = drains ? consumer.taken() : std::min(written, copied / kDtlEntryBytes);
  std::printf("%lu rings, %.2f GB, %.3f CPU seconds for each GB, %lu entries lost\n", count,
              static_cast<double>(written * kDtlEntryBytes) * 1e-9, best,
              static_cast<unsigned long>(written - taken));
  return written == taken ? 0 : 1;
}
