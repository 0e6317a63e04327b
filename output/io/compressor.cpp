// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/io/compressor.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "core/base/error.h"
#include "core/base/start_thread.h"

#ifdef HTMTRACE_HAVE_ZSTD
#include <zstd.h>

namespace htmtrace {
namespace {

// zstd's contrib/seekable_format/zstd_seekable_compression_format.md: "Skippable_Magic_Number" of
// the seek table, "Seekable_Magic_Number" at the end of its footer.
constexpr uint32_t kSeekTableMagic = 0x184D2A5E;
constexpr uint32_t kSeekFooterMagic = 0x8F92EAB1;
constexpr size_t kSeekFooterBytes = 9;
constexpr size_t kSeekEntryBytes = 8;

void put_le32(std::vector<std::byte>& bytes, uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) {
    bytes.push_back(static_cast<std::byte>(value >> shift & 0xff));
  }
}

}  // namespace

struct Compressor::Context {
  Context() : library(ZSTD_createCCtx()) {}
  ~Context() { ZSTD_freeCCtx(library); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ZSTD_CCtx* library;
};

bool can_compress() {
  return true;
}

int most_compression() {
  return ZSTD_maxCLevel();
}

Compressor::Compressor(TraceSink& file, int level)
    : file_(file),
      context_(std::make_unique<Context>()),
      packed_(ZSTD_compressBound(kFrameBytes)),
      frames_(kFrames) {
  if (context_->library == nullptr) throw Error("cannot compress: out of memory");
  ZSTD_CCtx_setParameter(context_->library, ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context_->library, ZSTD_c_checksumFlag, 1);
  for (Frame& frame : frames_) frame.bytes.resize(kFrameBytes);
  thread_ = start_thread([this] { work(); });
}

// Rolls a frame back that cannot be compressed or written completely.
void Compressor::write(std::span<const std::byte> plain) {
  if (file_.error()) {
    discarded_bytes_ += plain.size();
    return;
  }
  try {
    sizes_.emplace_back();
  } catch (const std::bad_alloc&) {
    file_.fail(ENOMEM);
    discarded_bytes_ += plain.size();
    return;
  }
  const size_t size =
      ZSTD_compress2(context_->library, packed_.data(), packed_.size(), plain.data(), plain.size());
  const uint64_t before = file_.written_bytes();
  if (ZSTD_isError(size) != 0) {
    file_.fail(ENOMEM);  // buffers of this size leave no other cause
  } else {
    file_.append(std::span(packed_).first(size));
  }
  if (file_.error()) {
    file_.take_back(before);
    discarded_bytes_ += plain.size();
    sizes_.pop_back();
    return;
  }
  sizes_.back() = {static_cast<uint32_t>(size), static_cast<uint32_t>(plain.size())};
  written_bytes_ += plain.size();
}

// Readers can use the file without the seek table, so a table that does not fit is no loss.
void Compressor::write_seek_table() {
  if (file_.error()) return;
  std::vector<std::byte> table;
  table.reserve(2 * sizeof(uint32_t) + sizes_.size() * kSeekEntryBytes + kSeekFooterBytes);
  put_le32(table, kSeekTableMagic);
  put_le32(table, static_cast<uint32_t>(sizes_.size() * kSeekEntryBytes + kSeekFooterBytes));
  for (const FrameSizes& frame : sizes_) {
    put_le32(table, frame.stored);
    put_le32(table, frame.plain);
  }
  put_le32(table, static_cast<uint32_t>(sizes_.size()));
  table.push_back(std::byte{0});  // descriptor: the entries have no checksums
  put_le32(table, kSeekFooterMagic);
  file_.append_if_it_fits(table);
}

}  // namespace htmtrace

#else

namespace htmtrace {

struct Compressor::Context {};

bool can_compress() {
  return false;
}

int most_compression() {
  return 1;
}

Compressor::Compressor(TraceSink& file, int) : file_(file) {
  throw Error("cannot compress: this htmtrace was built without libzstd");
}

void Compressor::write(std::span<const std::byte>) {}

void Compressor::write_seek_table() {}

}  // namespace htmtrace

#endif

namespace htmtrace {

Compressor::~Compressor() {
  {
    const std::lock_guard lock(mutex_);
    given_up_ = true;
  }
  stop();
}

void Compressor::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    // Only this thread changes filled_, and hand_over() has waited until the frame was free.
    Frame& frame = frames_[filled_ % kFrames];
    const size_t size = std::min(bytes.size(), kFrameBytes - frame.used);
    std::copy_n(bytes.begin(), size, frame.bytes.begin() + static_cast<ptrdiff_t>(frame.used));
    frame.used += size;
    bytes = bytes.subspan(size);
    if (frame.used == kFrameBytes) hand_over();
  }
}

void Compressor::hand_over() {
  if (!thread_) return write(frames_[filled_ % kFrames]);
  std::unique_lock lock(mutex_);
  filled_++;
  changed_.notify_all();
  changed_.wait(lock, [this] { return filled_ - done_ < kFrames; });
}

void Compressor::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return given_up_ || ended_ || done_ != filled_; });
    if (given_up_ || done_ == filled_) return;
    Frame& frame = frames_[done_ % kFrames];
    lock.unlock();
    write(frame);
    lock.lock();
    done_++;
    changed_.notify_all();
  }
}

void Compressor::write(Frame& frame) {
  write(std::span(frame.bytes).first(frame.used));
  frame.used = 0;
}

void Compressor::stop() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  if (thread_ && thread_->joinable()) thread_->join();
}

void Compressor::finish() {
  if (std::exchange(finished_, true)) return;
  Frame& last = frames_[filled_ % kFrames];
  if (last.used != 0) {
    if (thread_) {
      const std::lock_guard lock(mutex_);
      filled_++;
    } else {
      write(last);
    }
  }
  stop();
  write_seek_table();
}

}  // namespace htmtrace
