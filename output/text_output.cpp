// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/text_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/error.h"

namespace htmtrace {

TextOutput::TextOutput(int fd, bool owned, std::string name)
    : fd_(fd), owned_(owned), name_(std::move(name)), buffer_(new char[kBufferBytes]) {}

TextOutput TextOutput::standard_output() {
  return {STDOUT_FILENO, false, "standard output"};
}

TextOutput TextOutput::memory() {
  return {-1, false, "memory"};
}

TextOutput TextOutput::create(const std::filesystem::path& path, bool replace) {
  const int mode = O_WRONLY | O_CREAT | O_CLOEXEC | (replace ? 0 : O_EXCL);
  const int fd = ::open(path.c_str(), mode, 0666);
  if (fd < 0) {
    const int reason = errno;
    Error error("cannot create " + path.string(), reason);
    if (reason == EEXIST) throw std::move(error).hint("replace it with --force");
    throw error;
  }
  TextOutput output(fd, true, path.string());
  output.untouched_ = !replace;
  output.replaces_ = replace;
  return output;
}

TextOutput::TextOutput(TextOutput&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      owned_(std::exchange(other.owned_, false)),
      untouched_(other.untouched_),
      replaces_(other.replaces_),
      name_(std::move(other.name_)),
      reader_gone_(other.reader_gone_),
      capacity_(other.capacity_),
      buffer_(std::move(other.buffer_)),
      at_(std::exchange(other.at_, nullptr)),
      last_(std::exchange(other.last_, nullptr)) {}

TextOutput::~TextOutput() {
  if (!owned_ || fd_ < 0) return;
  ::close(fd_);
  // It failed before there was anything: what was made for it is in the way the next time.
  if (untouched_) ::unlink(name_.c_str());
}

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

// A device or a pipe has no length to cut.
void TextOutput::drop_old_text() {
  if (!std::exchange(replaces_, false)) return;
  if (::ftruncate(fd_, 0) != 0 && errno != EINVAL) throw Error("cannot replace " + name_, errno);
}

void TextOutput::write_out(std::string_view text) {
  if (!text.empty()) drop_old_text();
  while (!text.empty() && !reader_gone_) {
    const ssize_t written = ::write(fd_, text.data(), text.size());
    if (written >= 0) {
      untouched_ = false;
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EPIPE) {
      reader_gone_ = true;
    } else if (errno != EINTR) {
      throw Error("cannot write " + name_, errno);
    }
  }
}

void TextOutput::finish() {
  flush();
  if (!owned_ || fd_ < 0) return;
  drop_old_text();
  if (::close(std::exchange(fd_, -1)) != 0) throw Error("cannot write " + name_, errno);
}

}  // namespace htmtrace
