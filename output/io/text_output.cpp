// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/io/text_output.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>

#include "core/base/error.h"

namespace htmtrace {

TextOutput::TextOutput(int fd, std::string name)
    : fd_(fd), output_(fd), name_(std::move(name)), buffer_(new char[kBufferBytes]) {}

TextOutput TextOutput::standard_output() {
  return {STDOUT_FILENO, "standard output"};
}

TextOutput TextOutput::memory() {
  return {-1, "memory"};
}

TextOutput TextOutput::create(const std::filesystem::path& path, Existing existing) {
  NewFile file = NewFile::create(path, existing);
  TextOutput output(file.fd(), path.string());
  output.file_.emplace(std::move(file));
  return output;
}

TextOutput::TextOutput(TextOutput&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      output_(std::move(other.output_)),
      file_(std::move(other.file_)),
      name_(std::move(other.name_)),
      reader_gone_(other.reader_gone()),
      unwritten_bytes_(other.unwritten_bytes_),
      capacity_(other.capacity_),
      buffer_(std::move(other.buffer_)),
      at_(std::exchange(other.at_, nullptr)),
      last_(std::exchange(other.last_, nullptr)) {}

void TextOutput::put(std::string_view text) {
  while (!text.empty()) {
    const size_t piece = std::min(text.size(), kRoom);
    commit(std::copy_n(text.data(), piece, room()));
    text.remove_prefix(piece);
  }
}

void TextOutput::put_large(std::string_view text) {
  flush();
  write_out(text);
}

void TextOutput::make_room() {
  if (fd_ >= 0) return flush();
  std::unique_ptr<char[]> larger(new char[2 * capacity_]);
  at_ = std::copy_n(buffer_.get(), used(), larger.get());
  buffer_ = std::move(larger);
  capacity_ *= 2;
  last_ = buffer_.get() + capacity_ - kRoom;
}

void TextOutput::flush() {
  if (fd_ < 0) return;
  const std::string_view all = text();
  clear();
  write_out(all);
}

void TextOutput::write_out(std::string_view text) {
  while (!text.empty() && !reader_gone_ && !output_.given_up()) {
    const ssize_t written = output_.write(std::as_bytes(std::span(text)));
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EPIPE) {
      reader_gone_ = true;
    } else if (errno != EINTR) {
      throw Error("cannot write " + name_, errno);
    }
  }
  if (output_.given_up()) unwritten_bytes_ += text.size();
}

void TextOutput::rewrite(uint64_t offset, std::string_view text) {
  flush();
  while (!text.empty()) {
    const ssize_t written = ::pwrite(fd_, text.data(), text.size(), static_cast<off_t>(offset));
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
      offset += static_cast<uint64_t>(written);
    } else if (errno != EINTR) {
      throw Error("cannot write " + name_, errno);
    }
  }
}

void TextOutput::finish() {
  flush();
  if (!file_) return;
  fd_ = -1;
  if (const int reason = file_->finish(); reason != 0) throw Error("cannot write " + name_, reason);
}

}  // namespace htmtrace
