// SPDX-License-Identifier: GPL-2.0-or-later
// A wrapped trace, dumped from the first byte of its buffer, must decode like the trace in order.
#include "core/core_trace/wrap_finder.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "cli/traces/bytes.h"
#include "tests/encoder/power10.h"
#include "tests/generator/generated_trace.h"
#include "tests/unit/decoded_text.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

using Words = std::vector<uint64_t>;

Words random_words(unsigned instructions) {
  Words words;
  generator::Power10Program program(21, {});
  for (unsigned i = 0; i < instructions; i++) program.next(words, false);
  return words;
}

std::optional<uint64_t> oldest_of(const Words& words) {
  const std::vector<std::byte> bytes = generator::bytes_of(words);
  WrapFinder whole, pieces;
  whole.take(bytes);
  for (size_t at = 0; at < bytes.size(); at += 24) {
    pieces.take(std::span(bytes).subspan(at, std::min<size_t>(24, bytes.size() - at)));
  }
  CHECK(whole.oldest() == pieces.oldest());
  return whole.oldest();
}

// Returns the last `size` words of the trace, at their positions in a buffer of this size.
Words in_a_ring(const Words& written, size_t size) {
  Words ring(size);
  for (size_t i = 0; i < written.size(); i++) ring.at(i % size) = written.at(i);
  return ring;
}

}  // namespace

TEST_CASE("a wrapped dump is read from its oldest word") {
  Words written = {power10_record(0)};
  const Words program = random_words(3000);
  written.insert(written.end(), program.begin(), program.end());
  written.push_back(power10_complete(77));
  const TemporaryFolder folder;
  for (const size_t size : {written.size() / 2, written.size() - 1, size_t{1000}}) {
    const Words ring = in_a_ring(written, size);
    const uint64_t begin = written.size() % size;
    if (begin == 0) continue;
    CHECK(oldest_of(ring) == begin * 8);
    const std::vector<std::byte> dump = generator::bytes_of(ring);
    folder.write("trace", {reinterpret_cast<const char*>(dump.data()), dump.size()});
    InputFile input = InputFile::open(folder.path() / "trace");
    TraceBytes bytes(input, false);
    CHECK(bytes.wrapped_at() == begin * 8);
    std::vector<std::byte> read(dump.size() + 100);
    size_t used = 0;
    while (const size_t got = bytes.read(std::span(read).subspan(used).first(100))) used += got;
    read.resize(used);
    const Words newest(written.end() - static_cast<ptrdiff_t>(size), written.end());
    CHECK(read == generator::bytes_of(newest));
    InputFile again = InputFile::open(folder.path() / "trace");
    TraceBytes as_it_is(again, true);
    CHECK_FALSE(as_it_is.wrapped_at());
    std::vector<std::byte> first(8);
    CHECK(as_it_is.read(first) == 8);
    CHECK(std::equal(first.begin(), first.end(), dump.begin()));
  }
}

TEST_CASE("dumps that did not wrap keep their order") {
  Words words = {power10_record(0)};
  const Words program = random_words(100);
  words.insert(words.end(), program.begin(), program.end());
  words.push_back(power10_complete(1));
  CHECK_FALSE(oldest_of(words));
  // The buffer may hold an older trace after the end. The begin shows that this trace is complete.
  words.insert(words.end(), program.begin(), program.end());
  CHECK_FALSE(oldest_of(words));
  // No RECORD at the begin, and nothing after the end.
  Words cut(program);
  cut.insert(cut.end(), {power10_complete(1), 0, 0, 0});
  CHECK_FALSE(oldest_of(cut));
  // Stopped and restarted in the middle.
  cut.push_back(power10_record(1));
  cut.insert(cut.end(), program.begin(), program.end());
  CHECK_FALSE(oldest_of(cut));
  CHECK_FALSE(oldest_of({}));
  // With a 16-byte entry at the begin.
  Words entry = {0x3ffe000000000000};
  entry.insert(entry.end(), words.begin(), words.end());
  CHECK_FALSE(oldest_of(entry));
  // Two positions could be the begin.
  Words two(program);
  for (int i = 0; i < 2; i++) {
    two.push_back(power10_complete(1));
    two.insert(two.end(), program.begin(), program.end());
  }
  CHECK_FALSE(oldest_of(two));
}

}  // namespace htmtrace
