// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/traces/bytes.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "core/core_trace/words.h"
#include "core/core_trace/wrap_finder.h"

namespace htmtrace {
namespace {

std::optional<uint64_t> find_wrap(InputFile& input) {
  // Not a vector, which would write all bytes first: a stream can have many small traces.
  const std::unique_ptr<std::byte[]> memory(new std::byte[InputFile::kPieceBytes]);
  const std::span<std::byte> piece(memory.get(), InputFile::kPieceBytes);
  WrapFinder finder;
  size_t loose = 0;  // bytes of an incomplete word
  uint64_t size = 0;
  for (;;) {
    const size_t got = input.read(piece.subspan(loose));
    if (got == 0) break;
    const size_t there = loose + got;
    const size_t whole = there - there % words::kWordBytes;
    finder.take(piece.first(whole));
    if (finder.settled()) break;
    size += got;
    loose = there - whole;
    std::copy_n(piece.begin() + static_cast<ptrdiff_t>(whole), loose, piece.begin());
  }
  // Ignore a wrap in these cases. The end of a wrapped file lies inside the trace: a partial word
  // there would shift the following words, and an unreadable end would leave a gap.
  if (size % words::kWordBytes != 0 || !input.trouble().empty()) return std::nullopt;
  return finder.oldest();
}

}  // namespace

TraceBytes::TraceBytes(InputFile& input, bool file_order) : input_(input) {
  if (file_order || !input.regular()) return;
  wrapped_at_ = find_wrap(input);
  input_.go_to(wrapped_at_.value_or(0));
}

TraceBytes::TraceBytes(InputFile& input, CoreStart start)
    : input_(input), restart_(start.restart), pages_(std::move(start.pages)) {
  if (start.oldest != 0) wrapped_at_ = start.oldest;
  const uint64_t before_oldest = input.size_bytes().value_or(0) - start.oldest;
  second_part_ = start.restart.offset >= before_oldest;
  if (second_part_) {
    const uint64_t at = start.restart.offset - before_oldest;
    left_ = start.oldest - at;
    input_.go_to(at);
  } else {
    input_.go_to(start.oldest + start.restart.offset);
  }
}

size_t TraceBytes::read(std::span<std::byte> buffer) {
  const size_t got = read_next(buffer);
  ended_ = got == 0;
  return got;
}

size_t TraceBytes::read_next(std::span<std::byte> buffer) {
  if (!second_part_) {
    const size_t got = input_.read(buffer);
    if (got != 0 || !wrapped_at_) return got;
    second_part_ = true;
    left_ = *wrapped_at_;
    input_.go_to(0);
  }
  const size_t got = input_.read(buffer.first(std::min<uint64_t>(buffer.size(), left_)));
  left_ -= got;
  return got;
}

}  // namespace htmtrace
