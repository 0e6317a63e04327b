// SPDX-License-Identifier: GPL-2.0-or-later
// Text to a file or to standard output, in big pieces out of one buffer; or to memory.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace htmtrace {

class TextOutput {
 public:
  static TextOutput standard_output();

  // Creates `path`. Throws Error, also when it exists and `replace` is false. A new file of which
  // nothing was written and that is not finished is removed again; what is replaced stays until the
  // first is written, or nothing finished.
  static TextOutput create(const std::filesystem::path& path, bool replace);

  // Keeps everything until clear(); text() is what there is. There is nothing to finish().
  static TextOutput memory();
  std::string_view text() const { return {buffer_.get(), used()}; }
  void clear() { at_ = buffer_.get(); }

  TextOutput(TextOutput&& other) noexcept;
  TextOutput& operator=(TextOutput&&) = delete;
  TextOutput(const TextOutput&) = delete;
  TextOutput& operator=(const TextOutput&) = delete;
  ~TextOutput();

  // Where up to kRoom characters may be put; commit() says how far that was done. Throws Error when
  // the buffer had to be written and could not be.
  static constexpr size_t kRoom = 512;
  char* room() {
    if (at_ > last_) [[unlikely]]
      make_room();
    return at_;
  }
  void commit(char* end) { at_ = end; }
  // For one who puts several times into the same room: no further than this, until the next room().
  char* last_room() const { return last_; }

  void put(std::string_view text);
  // The same without a copy, for what is large.
  void put_large(std::string_view text);

  // Writes what is buffered. Throws Error.
  void flush();

  // Flushes and closes. Throws Error, also when the file system reports a late failure.
  void finish();

  // Whoever read the text has gone (a pipe into head). Nothing more is written, and it is no error.
  bool reader_gone() const { return reader_gone_; }

  // From the moment when the descriptor `give_up` can be read, room in a pipe or a terminal is
  // waited for no longer than `patience` at a time. What is then left is not written, which is no
  // error.
  void give_up_on(int give_up, std::chrono::milliseconds patience);
  uint64_t unwritten_bytes() const { return unwritten_bytes_; }
  // For how long room is being waited for. May be asked from any thread.
  std::chrono::nanoseconds waiting() const;

 private:
  static constexpr size_t kBufferBytes = 64 << 10;

  TextOutput(int fd, bool owned, std::string name);
  size_t used() const { return static_cast<size_t>(at_ - buffer_.get()); }
  void make_room();
  void drop_old_text();
  void write_out(std::string_view text);
  ssize_t write_some(std::string_view text);
  bool wait_for_room();

  int fd_ = -1;  // of memory

  bool owned_ = false;
  bool untouched_ = false;  // a new file, into which nothing was written
  bool replaces_ = false;   // a file whose old text is still in it
  std::string name_;
  bool reader_gone_ = false;
  int give_up_ = -1;
  std::chrono::milliseconds patience_{0};
  bool given_up_ = false;
  uint64_t unwritten_bytes_ = 0;
  std::atomic<std::chrono::steady_clock::rep> waiting_since_ = 0;  // 0: not now
  size_t capacity_ = kBufferBytes;
  std::unique_ptr<char[]> buffer_;
  char* at_ = buffer_.get();                           // the end of what is in it
  char* last_ = buffer_.get() + kBufferBytes - kRoom;  // behind this there is not room enough
};

}  // namespace htmtrace
