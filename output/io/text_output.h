// SPDX-License-Identifier: GPL-2.0-or-later
// Writes text in large pieces from one buffer to a file or to standard output. memory() keeps the
// text.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "output/io/new_file.h"
#include "output/io/reader_wait.h"

namespace htmtrace {

class TextOutput {
 public:
  static TextOutput standard_output();

  // Creates a file that appears when finish() succeeds (new_file.h). Throws Error.
  static TextOutput create(const std::filesystem::path& path, Existing existing);

  // Keeps all text until clear(); text() returns the text. finish() is not needed.
  static TextOutput memory();
  std::string_view text() const { return {buffer_.get(), used()}; }
  void clear() { at_ = buffer_.get(); }
  size_t capacity() const { return capacity_; }

  TextOutput(TextOutput&& other) noexcept;
  TextOutput& operator=(TextOutput&&) = delete;
  TextOutput(const TextOutput&) = delete;
  TextOutput& operator=(const TextOutput&) = delete;

  // The caller may put up to kRoom characters here, and passes their end to commit(). Throws Error
  // if the full buffer cannot be written.
  static constexpr size_t kRoom = 512;
  char* room() {
    if (at_ > last_) [[unlikely]]
      make_room();
    return at_;
  }
  void commit(char* end) { at_ = end; }
  // A caller that puts several texts into the same room must not start one after this address.
  char* last_room() const { return last_; }

  void put(std::string_view text);
  // Like put(), but writes large text without a copy.
  void put_large(std::string_view text);

  // Writes the buffered text. Throws Error.
  void flush();

  // Whether rewrite() is possible. False for standard output, pipes and devices.
  bool can_rewrite() const { return file_ && !file_->is_stream(); }
  // Replaces bytes of earlier output. Requires can_rewrite(). Throws Error.
  void rewrite(uint64_t offset, std::string_view text);

  // Flushes and closes the output, and gives a file its name. Throws Error, also when the file
  // system reports a late failure.
  void finish();

  // The reader has closed its end (a pipe into head). Further text is dropped without an error. Any
  // thread may call this.
  bool reader_gone() const { return reader_gone_; }

  // After the descriptor `give_up` becomes readable, waits at most `patience` at a time for room in
  // a pipe or terminal. Drops the remaining text without an error.
  void give_up_on(int give_up, std::chrono::milliseconds patience) {
    output_.end_on(give_up, patience);
  }
  uint64_t unwritten_bytes() const { return unwritten_bytes_; }
  // How long the current wait for room has lasted. Any thread may call this.
  std::chrono::nanoseconds waiting() const { return output_.waiting(); }

 private:
  static constexpr size_t kBufferBytes = 64 << 10;

  TextOutput(int fd, std::string name);
  size_t used() const { return static_cast<size_t>(at_ - buffer_.get()); }
  void make_room();
  void write_out(std::string_view text);

  int fd_ = -1;  // not used in memory()
  ReaderWait output_;
  std::optional<NewFile> file_;  // owns the descriptor
  std::string name_;
  std::atomic<bool> reader_gone_ = false;
  uint64_t unwritten_bytes_ = 0;
  size_t capacity_ = kBufferBytes;
  std::unique_ptr<char[]> buffer_;
  char* at_ = buffer_.get();                           // the end of the buffered text
  char* last_ = buffer_.get() + kBufferBytes - kRoom;  // too little room remains after this address
};

}  // namespace htmtrace
