// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/export/avro_blocks.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/error.h"
#include "core/base/start_thread.h"

namespace htmtrace {
namespace {

// "Object Container Files": each file begins with these bytes.
constexpr std::string_view kMagic{"Obj\x01", 4};
// The marker after each block, "htmtrace.avro.1\n" with the highest bit of each byte set. The
// specification asks for random bytes, so that a reader that starts within the file finds the next
// block. A constant gives equal files for equal traces. It cannot occur within uncompressed rows,
// where at most nine bytes with the highest bit follow one another.
constexpr std::array<char, 16> kSync = {'\xe8', '\xf4', '\xed', '\xf4', '\xf2', '\xe1',
                                        '\xe3', '\xe5', '\xae', '\xe1', '\xf6', '\xf2',
                                        '\xef', '\xae', '\xb1', '\x8a'};

// Two blocks for each thread: one that it compresses, and one that the decoder fills meanwhile.
constexpr size_t kBlocksPerThread = 2;

}  // namespace

AvroBlocks::AvroBlocks(NewFile file, std::string_view schema, AvroCodec codec, unsigned threads)
    : file_(std::move(file)),
      codec_(codec),
      packer_(codec),
      wanted_threads_(codec == AvroCodec::kNull ? 0 : threads) {
  write_header(schema, codec);
}

AvroBlocks::~AvroBlocks() {
  {
    const std::lock_guard lock(mutex_);
    begun_ = added_;  // the file is dropped, so the rest needs no work
  }
  stop_threads();
}

void AvroBlocks::write_header(std::string_view schema, AvroCodec codec) {
  AvroRow header;
  header.elements(2);
  header.text("avro.schema");
  header.text(schema);
  header.text("avro.codec");
  header.text(avro_codec_name(codec));
  header.no_more();
  write(kMagic);
  write(header.bytes());
  write(kSync);
}

void AvroBlocks::write_block(uint64_t rows, std::span<const char> stored) {
  AvroRow head;
  head.number(rows);
  head.number(stored.size());
  write(head.bytes());
  write(stored);
  write(kSync);
}

void AvroBlocks::write(std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_.fd(), bytes.data(), bytes.size());
    if (written >= 0) {
      bytes = bytes.subspan(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      throw Error("cannot write " + file_.path().string(), errno);
    }
  }
}

void AvroBlocks::add(AvroRow& rows, uint64_t count) {
  // A file of one block needs no thread.
  if (added_ == 1 && blocks_.empty() && wanted_threads_ != 0) start_threads();
  if (threads_.empty()) {
    write_block(count, packer_.pack(rows.bytes()));
    rows.clear();
    added_++;
    return;
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return failure_ || added_ - written_ < blocks_.size(); });
  if (failure_) std::rethrow_exception(failure_);
  Block& block = blocks_[added_ % blocks_.size()];
  std::swap(block.rows, rows);
  block.count = count;
  added_++;
  lock.unlock();
  changed_.notify_all();
  rows.clear();
}

void AvroBlocks::start_threads() {
  begun_ = written_ = added_;
  blocks_.resize(kBlocksPerThread * wanted_threads_ + 1);
  threads_.reserve(wanted_threads_);
  for (unsigned i = 0; i < wanted_threads_; i++) {
    auto thread = start_thread([this] { work(); });
    if (!thread) break;
    threads_.push_back(std::move(*thread));
  }
}

// A thread compresses the next block, and then waits until the earlier blocks are in the file.
void AvroBlocks::work() {
  std::unique_lock lock(mutex_);
  try {
    AvroPacker packer(codec_);
    while (true) {
      changed_.wait(lock, [this] { return failure_ || ended_ || begun_ != added_; });
      if (failure_ || begun_ == added_) return;
      const uint64_t number = begun_++;
      const Block& block = blocks_[number % blocks_.size()];
      lock.unlock();
      const std::span<const char> stored = packer.pack(block.rows.bytes());
      lock.lock();
      changed_.wait(lock, [&] { return failure_ || written_ == number; });
      if (failure_) return;
      lock.unlock();
      write_block(block.count, stored);
      lock.lock();
      written_++;
      changed_.notify_all();
    }
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    failure_ = std::current_exception();
    changed_.notify_all();
  }
}

void AvroBlocks::stop_threads() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

NewFile AvroBlocks::finish() {
  stop_threads();
  if (failure_) std::rethrow_exception(failure_);
  return std::move(file_);
}

}  // namespace htmtrace
