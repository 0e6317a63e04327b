// SPDX-License-Identifier: GPL-2.0-or-later
// Threads encode the blocks of a file, and write them in their order, so the file does not depend
// on the number of threads.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/start_thread.h"

namespace htmtrace {

// A `File` has
//   Block          the collected rows, with clear(); empty_block() makes one
//   Encoder        one for each thread, made from a const File&, with encode(const Block&)
//   write(const Block&, const Encoder&)   one call at a time, in the order of the blocks
template <class File>
class BlockQueue {
 public:
  using Block = typename File::Block;
  using Encoder = typename File::Encoder;

  // Encodes with up to `threads` threads, and keeps up to `blocks` blocks in memory. 0 threads: in
  // the caller's thread, also if no thread can start. `file` outlives this object. Throws Error.
  BlockQueue(File& file, unsigned threads, size_t blocks)
      : file_(file), encoder_(file), wanted_threads_(threads), wanted_blocks_(blocks) {}
  ~BlockQueue() {
    {
      const std::lock_guard lock(mutex_);
      begun_ = added_;  // the file is dropped, so the rest needs no work
    }
    stop_threads();
  }
  BlockQueue(const BlockQueue&) = delete;
  BlockQueue& operator=(const BlockQueue&) = delete;

  // Takes the rows, and leaves an empty block. If all blocks are in use, the caller's thread
  // encodes one of them. Throws Error if an earlier block or this one cannot be written.
  void add(Block& block) {
    // A file of one block needs no thread.
    if (added_ == 1 && blocks_.empty() && wanted_threads_ != 0) start_threads();
    if (threads_.empty()) {
      encoder_.encode(block);
      file_.write(block, encoder_);
      added_++;
    } else {
      help_until([this] { return added_ - written_ < blocks_.size(); });
      const std::lock_guard lock(mutex_);
      std::swap(blocks_[added_ % blocks_.size()], block);
      added_++;
    }
    changed_.notify_all();
    block.clear();
  }

  // Waits until all blocks are written. Call this once, at the end. Throws Error.
  void finish() {
    if (!threads_.empty()) help_until([this] { return written_ == added_; });
    stop_threads();
  }

 private:
  void start_threads() {
    begun_ = written_ = added_;
    blocks_.reserve(wanted_blocks_);
    while (blocks_.size() < wanted_blocks_) blocks_.push_back(file_.empty_block());
    threads_.reserve(wanted_threads_);
    for (unsigned i = 0; i < wanted_threads_; i++) {
      auto thread = start_thread([this] { work(); });
      if (!thread) break;
      threads_.push_back(std::move(*thread));
    }
  }

  void work() {
    std::unique_lock lock(mutex_);
    try {
      Encoder encoder(file_);
      while (true) {
        changed_.wait(lock, [this] { return failure_ || ended_ || begun_ != added_; });
        if (failure_ || begun_ == added_) return;
        encode_next(lock, encoder);
      }
    } catch (...) {
      fail(lock);
    }
  }

  // Encodes blocks until `is_enough` is true. Throws the failure of any thread.
  template <class IsEnough>
  void help_until(const IsEnough& is_enough) {
    std::unique_lock lock(mutex_);
    try {
      while (!failure_ && !is_enough()) {
        begun_ != added_ ? encode_next(lock, encoder_) : changed_.wait(lock);
      }
    } catch (...) {
      fail(lock);
    }
    if (failure_) std::rethrow_exception(failure_);
  }

  // Encodes the next block, and writes it when the earlier blocks are in the file.
  void encode_next(std::unique_lock<std::mutex>& lock, Encoder& encoder) {
    const uint64_t number = begun_++;
    const Block& block = blocks_[number % blocks_.size()];
    lock.unlock();
    encoder.encode(block);
    lock.lock();
    changed_.wait(lock, [&] { return failure_ || written_ == number; });
    if (failure_) return;
    lock.unlock();
    file_.write(block, encoder);
    lock.lock();
    written_++;
    changed_.notify_all();
  }

  void fail(std::unique_lock<std::mutex>& lock) {
    if (!lock.owns_lock()) lock.lock();
    failure_ = std::current_exception();
    changed_.notify_all();
  }

  void stop_threads() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  File& file_;
  Encoder encoder_;  // of the caller's thread
  unsigned wanted_threads_;
  size_t wanted_blocks_;
  std::vector<std::thread> threads_;

  // The blocks are numbered from 0. Number N is in blocks_[N % size], from begun_ on, until it is
  // written. written_ <= begun_ <= added_.
  std::vector<Block> blocks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t added_ = 0;    // blocks that the caller has added
  uint64_t begun_ = 0;    // blocks that a thread has taken
  uint64_t written_ = 0;  // blocks in the file
  bool ended_ = false;    // the threads end when no block is left
  std::exception_ptr failure_;
};

}  // namespace htmtrace
