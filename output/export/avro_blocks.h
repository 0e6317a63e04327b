// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the blocks of an Avro object container file (Apache Avro specification 1.11, "Object
// Container Files"). Threads compress the blocks, and write them in their order, so the file does
// not depend on the number of threads.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "output/export/avro_codec.h"
#include "output/export/avro_row.h"
#include "output/io/new_file.h"

namespace htmtrace {

class AvroBlocks {
 public:
  // Compresses with up to `threads` threads; 0: in the caller's thread, also if no thread can
  // start. Throws Error.
  AvroBlocks(NewFile file, std::string_view schema, AvroCodec codec, unsigned threads);
  ~AvroBlocks();
  AvroBlocks(const AvroBlocks&) = delete;
  AvroBlocks& operator=(const AvroBlocks&) = delete;

  // Takes the rows, and leaves an empty block. Throws Error if an earlier block or this one cannot
  // be written.
  void add(AvroRow& rows, uint64_t count);

  // Waits until all blocks are written. Returns the complete file, which is not published yet. Call
  // this once, at the end. Throws Error.
  NewFile finish();

 private:
  struct Block {
    AvroRow rows;
    uint64_t count = 0;
  };

  void write_header(std::string_view schema, AvroCodec codec);
  void write_block(uint64_t rows, std::span<const char> stored);
  void write(std::span<const char> bytes);
  void start_threads();
  void work();
  void stop_threads();

  NewFile file_;
  AvroCodec codec_;
  AvroPacker packer_;  // of the caller's thread
  unsigned wanted_threads_;
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
