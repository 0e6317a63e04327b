// SPDX-License-Identifier: GPL-2.0-or-later
// drain_dispatch_rings RINGS MIB bare|write|copy|take|pack: the rings of RINGS CPUs' vpa_dtl
// events in plain memory, filled as the kernel's driver does it and emptied until so much has come
// from them.
//   bare   copies the bytes to a buffer and gives the space back; meanwhile the processor gets
//          those of the next ring, as far as that makes it quicker
//   write  writes them to a file in memory, too
//   copy   empties the rings as `htmtrace dtl` does it: the driver's records are read, the bytes
//          copied, looked through for the driver's slots, for entries that were overwritten or are
//          out of order, counted, and given to somebody who only counts them again
//   take   does with them what a recording's threads do before they pack them: entries in the
//          processor's byte order, their reasons counted, collected for each CPU
//   pack   packs them as well
// Prints the CPU seconds that emptying takes for each GB, the best of several parts; filling is not
// measured. Status 1 when an entry was lost. For benchmarks.
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/dispatch_log/blocks.h"
#include "core/dispatch_log/intake.h"
#include "ringbuf/dtl_drain.h"
#include "ringbuf/rings.h"
#include "tests/generator/plausible_dispatches.h"

using namespace htmtrace;

namespace {

constexpr size_t kDataBytes = 16 << 10;
constexpr size_t kAuxBytes = 64 << 10;
constexpr size_t kSlots = (kAuxBytes - 32) / kDtlEntryBytes;
// More of a ring ahead does not make the bare loop quicker; fewer bytes make it slower.
constexpr size_t kPrefetchedBytes = 4 << 10, kLineBytes = 64;
// A delivery, and how many there are between two looks at a ring.
constexpr size_t kAtOnce = 50, kDeliveries = 4;
constexpr uint64_t kTicksPerSecond = 512'000'000;
// So often the rings are filled and emptied in each part: with this a CPU has two blocks to pack,
// and almost nothing is left of a third.
constexpr int kLooks = 41;
static_assert(kLooks * kAtOnce * kDeliveries - 2 * kMostDtlEntries < 10);

enum class Work : uint8_t { kBare, kWrite, kCopy, kTake, kPack };

// What the drains give to all consumers.
struct Taken {
  uint64_t count = 0;
  std::vector<DtlEntry> entries;  // just now
};

// What becomes of a CPU's entries.
class Consumer {
 public:
  explicit Consumer(Work work) : work_(work) {}

  void take(std::span<const std::byte> bytes, std::vector<DtlEntry>& entries) {
    intake_.take(bytes, entries);
    for (std::span<const DtlEntry> left = entries; !left.empty();) {
      const size_t room = kMostDtlEntries - pending_.size();
      const auto now = left.first(std::min(room, left.size()));
      pending_.insert(pending_.end(), now.begin(), now.end());
      left = left.subspan(now.size());
      if (pending_.size() == kMostDtlEntries) finish_block();
    }
  }

 private:
  void finish_block() {
    if (work_ == Work::kPack) {
      packed_.clear();
      blocks_.add(pending_, kTicksPerSecond, packed_);
    }
    pending_.clear();
  }

  Work work_;
  DtlIntake intake_;
  DtlCpuBlocks blocks_{0};
  std::vector<std::byte> packed_;
  std::vector<DtlEntry> pending_;
};

class Ring {
 public:
  Ring(unsigned seed, Work work, Taken& taken)
      : dispatches_(seed),
        consumer_(work),
        drain_(DataRing(&page_, data_), AuxRing(&page_, aux_), kAuxBytes,
               {.entries =
                    [this, work, &taken](auto bytes) {
                      taken.count += bytes.size() / kDtlEntryBytes;
                      if (work != Work::kCopy) consumer_.take(bytes, taken.entries);
                    },
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
  DtlDrain& drain() { return drain_; }

  // For one that is copied out next, or after that.
  void prefetch_counters() const { __builtin_prefetch(&page_.data_head, 1); }
  void prefetch_bytes() const {
    const uint64_t end = std::min<uint64_t>(page_.aux_tail + kPrefetchedBytes, page_.aux_head);
    for (uint64_t at = page_.aux_tail; at < end; at += kLineBytes) {
      __builtin_prefetch(aux_.data() + at % kAuxBytes);
    }
  }

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
    uint64_t begin = page_.aux_head;
    std::byte entry[kDtlEntryBytes];
    for (size_t i = 0; i < kAtOnce; i++) {
      if (page_.aux_head % kAuxBytes == kSlots * kDtlEntryBytes) {
        // A delivery ends at the end of the area.
        page_.aux_head += kAuxBytes - kSlots * kDtlEntryBytes;
        put_aux_record(begin);
        begin = page_.aux_head;
      }
      store_dtl_entry(entry, dispatches_.next());
      put_slot(entry);
    }
    put_aux_record(begin);
  }

  // Announces the bytes from `begin` to the head.
  void put_aux_record(uint64_t begin) {
    // PERF_RECORD_AUX: offset, size, flags; thread, time, CPU, identifier.
    const uint64_t body[] = {begin, page_.aux_head - begin, 0, 0, 1, 0, 1};
    perf_event_header header{};
    header.type = PERF_RECORD_AUX;
    header.size = sizeof(header) + sizeof(body);
    put_data(&header, sizeof(header));
    put_data(body, sizeof(body));
  }

  void put_slot(const std::byte* slot) {
    std::memcpy(aux_.data() + page_.aux_head % kAuxBytes, slot, kDtlEntryBytes);
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
  Consumer consumer_;
  DtlDrain drain_;
};

double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::optional<Work> work_of(std::string_view name) {
  constexpr std::string_view kNames[] = {"bare", "write", "copy", "take", "pack"};
  const auto* found = std::ranges::find(kNames, name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<Work>(found - std::begin(kNames));
}

class Rings {
 public:
  Rings(unsigned long count, Work work) : work_(work), buffer_(kAuxBytes) {
    for (unsigned i = 0; i < count; i++) {
      rings_.push_back(std::make_unique<Ring>(i, work, taken_));
      drains_.push_back(&rings_.back()->drain());
    }
    if (work == Work::kWrite) file_ = ::memfd_create("rings", 0);
  }

  uint64_t fill() {
    uint64_t entries = 0;
    for (const auto& ring : rings_) entries += ring->fill();
    return entries;
  }

  void empty() {
    if (work_ >= Work::kCopy) return look_at_all(drains_, buffer_);
    for (size_t i = 0; i < rings_.size(); i++) {
      if (i + 2 < rings_.size()) rings_[i + 2]->prefetch_counters();
      if (i + 1 < rings_.size()) rings_[i + 1]->prefetch_bytes();
      copied_ += rings_[i]->copy_out(buffer_, file_);
    }
  }

  // Each ring has one slot with the clock, and padding.
  uint64_t lost(uint64_t written) const {
    if (work_ >= Work::kCopy) return written - taken_.count;
    return written - std::min(written, copied_ / kDtlEntryBytes);
  }

 private:
  Work work_;
  std::vector<std::byte> buffer_;
  Taken taken_;
  std::vector<std::unique_ptr<Ring>> rings_;
  std::vector<DtlDrain*> drains_;
  int file_ = -1;
  uint64_t copied_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const unsigned long count = argc == 4 ? std::strtoul(argv[1], nullptr, 10) : 0;
  const unsigned long mib = argc == 4 ? std::strtoul(argv[2], nullptr, 10) : 0;
  const auto work = work_of(argc == 4 ? argv[3] : "");
  if (count == 0 || mib == 0 || !work) {
    std::fputs("usage: drain_dispatch_rings RINGS MIB bare|write|copy|take|pack\n", stderr);
    return 2;
  }
  Rings rings(count, *work);
  uint64_t written = 0;
  double best = 0;
  while (written * kDtlEntryBytes < mib << 20) {
    // Another program on this processor makes a part of it slower, and no part quicker.
    uint64_t part = 0;
    double seconds = 0;
    for (int look = 0; look < kLooks; look++) {
      part += rings.fill();
      const double begin = cpu_seconds();
      rings.empty();
      seconds += cpu_seconds() - begin;
    }
    written += part;
    const double each = seconds / (static_cast<double>(part * kDtlEntryBytes) * 1e-9);
    if (best == 0 || each < best) best = each;
  }
  const uint64_t lost = rings.lost(written);
  std::printf("%lu rings, %.2f GB, %.3f CPU seconds for each GB, %lu entries lost\n", count,
              static_cast<double>(written * kDtlEntryBytes) * 1e-9, best,
              static_cast<unsigned long>(lost));
  return lost == 0 ? 0 : 1;
}
