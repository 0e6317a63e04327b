// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/machine/compare/line_reader.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace htmtrace::compare {

LineReader::LineReader(const char* path) : path_(path), buffer_(size_t{1} << 20) {
  file_ = std::strcmp(path, "-") == 0 ? stdin : std::fopen(path, "r");
  if (file_ == nullptr) {
    throw std::runtime_error(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  }
}

LineReader::~LineReader() {
  if (file_ != stdin) std::fclose(file_);
}

bool LineReader::fill() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (end_ == buffer_.size()) {
    throw std::runtime_error(fmt::format("{} line {}: too long", path_, number_ + 1));
  }
  const size_t got = std::fread(buffer_.data() + end_, 1, buffer_.size() - end_, file_);
  if (got == 0 && std::ferror(file_) != 0) {
    throw std::runtime_error(fmt::format("cannot read {}: {}", path_, std::strerror(errno)));
  }
  end_ += got;
  return got != 0;
}

bool LineReader::next(std::string_view* line) {
  size_t searched = begin_;
  for (;;) {
    const void* found = std::memchr(buffer_.data() + searched, '\n', end_ - searched);
    if (found != nullptr) {
      const auto length = static_cast<size_t>(static_cast<const char*>(found) - buffer_.data());
      *line = {buffer_.data() + begin_, length - begin_};
      begin_ = length + 1;
      number_++;
      return true;
    }
    const size_t kept = end_ - begin_;
    if (!fill()) {
      if (begin_ == end_) return false;
      *line = {buffer_.data() + begin_, end_ - begin_};
      begin_ = end_;
      number_++;
      return true;
    }
    searched = begin_ + kept;
  }
}

}  // namespace htmtrace::compare
