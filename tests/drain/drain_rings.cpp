// SPDX-License-Identifier: GPL-2.0-or-later
// drain_rings FOLDER MEBIBYTES PIECE_KIB - measures the cost of saving MEBIBYTES from eight rings
// of 4 MiB to files. A driver puts PIECE_KIB into a ring with each read. The rings are plain memory
// and the driver costs nothing, so the result covers only the drain, the sink and the file system.
//
// Prints processor seconds per 10^9 bytes: for the drain, and for a loop that only writes the same
// pieces to a file.
#include <fcntl.h>
#include <fmt/core.h>
#include <linux/perf_event.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "output/io/trace_sink.h"
#include "ringbuf/htm_drain.h"
#include "tests/unit/plain_ring.h"

namespace htmtrace {
namespace {

constexpr size_t kRings = 8;
constexpr size_t kAuxBytes = 4 << 20;
constexpr uint64_t kTraceBegin = 1;  // kinds of announcement (kmod/ABI)
constexpr uint64_t kTraceEnd = 2;
constexpr uint64_t kMapEnd = 4;

// A driver without cost: it only moves the head.
class IdleDriver {
 public:
  IdleDriver(uint64_t bytes, size_t piece_bytes)
      : ring_(1 << 16, kAuxBytes), left_(bytes), piece_bytes_(piece_bytes) {
    ring_.put_aux(std::string(kAuxBytes, 'x'));
    ring_.page().aux_tail = ring_.page().aux_head;
    announce(kTraceBegin, 2 * bytes);
  }

  PlainRing& ring() { return ring_; }

  EventValue read() {
    EventValue value;
    value.running_ns = ++reads_;
    const uint64_t room = kAuxBytes - 1 - (ring_.page().aux_head - ring_.page().aux_tail);
    const uint64_t piece = std::min<uint64_t>({left_, piece_bytes_, room & ~uint64_t{4095}});
    if (piece != 0) {
      const std::string body = native_words({ring_.page().aux_head, piece, 0});
      if (!ring_.put_record(PERF_RECORD_AUX, body))
        throw std::runtime_error("the data ring is full");
      ring_.page().aux_head += piece;
      left_ -= piece;
      value.value = piece / 128;
      delivered_ += piece;
    } else if (left_ != 0) {
      value.value = 1;
    } else if (!ended_) {
      ended_ = true;
      announce(kTraceEnd, delivered_);
      announce(kMapEnd, 0);
    }
    return value;
  }

 private:
  void announce(uint64_t kind, uint64_t value) {
    ring_.put_record(PERF_RECORD_AUX_OUTPUT_HW_ID, native_words({kind << 56 | value}));
  }

  PlainRing ring_;
  uint64_t left_;
  size_t piece_bytes_;
  uint64_t delivered_ = 0;
  uint64_t reads_ = 0;
  bool ended_ = false;
};

void drain_one(const std::filesystem::path& path, uint64_t bytes, size_t piece_bytes) {
  IdleDriver driver(bytes, piece_bytes);
  TraceSink sink = TraceSink::create(path, Existing::kReplace);
  HtmDrain drain([&] { return std::optional(driver.read()); }, driver.ring().data(),
                 driver.ring().aux(),
                 {.trace = [&](auto piece) { sink.append(piece); },
                  .map = [](auto) {},
                  .loss = [](const Loss& loss) { throw std::runtime_error(loss.cause); }},
                 {.wraps = false, .lost_records = 0});
  while (drain.step() != HtmDrain::Step::kDone) continue;
  drain.finish();
  sink.finish();
  if (sink.written_bytes() != bytes) throw std::runtime_error("not all was written");
}

void write_one(const std::filesystem::path& path, uint64_t bytes, size_t piece_bytes) {
  const std::vector<std::byte> ring(kAuxBytes, std::byte{'x'});
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  for (uint64_t done = 0; done < bytes;) {
    const size_t piece = std::min<uint64_t>(piece_bytes, bytes - done);
    const ssize_t got =
        ::pwrite(file, ring.data() + done % kAuxBytes, piece, static_cast<off_t>(done));
    if (got <= 0) throw std::runtime_error("cannot write");
    done += static_cast<uint64_t>(got);
  }
  ::close(file);
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void measure(const char* name, const std::filesystem::path& folder, uint64_t bytes,
             const std::function<void(const std::filesystem::path&)>& save_one) {
  const auto begin = std::chrono::steady_clock::now();
  const double cpu = cpu_seconds();
  std::vector<std::thread> threads;
  for (size_t ring = 0; ring < kRings; ring++) {
    threads.emplace_back([&, ring] { save_one(folder / fmt::format("ring{}", ring)); });
  }
  for (std::thread& thread : threads) thread.join();
  const double used = cpu_seconds() - cpu;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  const double billions = static_cast<double>(bytes * kRings) / 1e9;
  fmt::print("{}: {:.3f} CPU-seconds per GB, {:.2f} s for {:.2f} GB\n", name, used / billions,
             passed.count(), billions);
  for (size_t ring = 0; ring < kRings; ring++) {
    std::filesystem::remove(folder / fmt::format("ring{}", ring));
  }
}

}  // namespace
}  // namespace htmtrace

int main(int argc, char** argv) {
  using namespace htmtrace;
  if (argc != 4) {
    fmt::print(stderr, "usage: drain_rings FOLDER MEBIBYTES PIECE_KIB\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  const uint64_t bytes = std::strtoull(argv[2], nullptr, 10) * (uint64_t{1} << 20) / kRings;
  const size_t piece_bytes = std::strtoull(argv[3], nullptr, 10) << 10;
  measure("bare write", folder, bytes,
          [&](const std::filesystem::path& path) { write_one(path, bytes, piece_bytes); });
  measure("drain", folder, bytes,
          [&](const std::filesystem::path& path) { drain_one(path, bytes, piece_bytes); });
  return 0;
}
