// SPDX-License-Identifier: GPL-2.0-or-later
// The reader of a stream finds the frames that the writer wrote.
#include "core/selection/stream_frames.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <future>
#include <string>

#include "output/recording/stream.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

std::span<const std::byte> span_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

StreamContent content_of(const std::string& stored) {
  return find_recordings(stored.size(), [&](uint64_t offset, std::span<std::byte> buffer) {
    const size_t size = std::min<size_t>(buffer.size(), stored.size() - offset);
    std::copy_n(span_of(stored).begin() + static_cast<ptrdiff_t>(offset), size, buffer.begin());
    return size;
  });
}

std::string joined(const std::string& stored, const std::vector<FileExtent>& extents) {
  std::string text;
  for (const FileExtent& extent : extents) text += stored.substr(extent.offset, extent.size_bytes);
  return text;
}

}  // namespace

TEST_CASE("the frames of several targets and recordings are found in a stream") {
  using Kind = StreamFrame::Kind;
  const TemporaryFolder folder;
  const auto path = folder.path() / "stream";
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  REQUIRE(file >= 0);
  TraceStream stream(file);
  for (uint32_t recording = 1; recording <= 2; recording++) {
    StreamPart manifest{.stream = stream, .kind = Kind::kManifest, .recording = recording};
    StreamPart first{.stream = stream, .kind = Kind::kTrace, .recording = recording};
    StreamPart second{.stream = stream, .kind = Kind::kTrace, .target = 1, .recording = recording};
    StreamPart map{
        .stream = stream, .kind = Kind::kTranslation, .target = 1, .recording = recording};
    manifest.rewrite(span_of("begin"));
    first.append(span_of("one "));
    second.append(span_of("three "));
    first.append(span_of("two"));
    map.append(span_of("map"));
    second.append(span_of("four"));
    manifest.rewrite(span_of("the end"));
    CHECK(second.written_bytes == 10);
    CHECK(second.discarded_bytes == 0);
  }
  stream.put({}, {});
  CHECK_FALSE(stream.error());
  ::close(file);

  const std::string stored = folder.read("stream");
  const StreamContent content = content_of(stored);
  CHECK(content.trouble.empty());
  REQUIRE(content.recordings.size() == 2);
  for (const StreamRecording& recording : content.recordings) {
    CHECK(joined(stored, {recording.manifest}) == "the end");
    REQUIRE(recording.targets.size() == 2);
    CHECK(joined(stored, recording.targets[0].trace.extents) == "one two");
    CHECK(joined(stored, recording.targets[1].trace.extents) == "three four");
    CHECK(joined(stored, recording.targets[1].translation.extents) == "map");
  }

  // A cut at any position is reported, and adds no frames.
  for (size_t size = 0; size < stored.size(); size++) {
    const StreamContent cut = content_of(stored.substr(0, size));
    CHECK_FALSE(cut.trouble.empty());
    for (const StreamRecording& recording : cut.recordings) {
      if (recording.targets.empty()) continue;
      CHECK(std::string("one two").starts_with(joined(stored, recording.targets[0].trace.extents)));
    }
  }
  // A damaged header ends the stream.
  std::string damaged = stored;
  damaged.at(kStreamHeaderBytes + 5) ^= 1;
  CHECK(content_of(damaged).trouble == "the stream is damaged at byte 37");
}

TEST_CASE("a closed reader of a stream is an error, and unread bytes are counted") {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  ::close(ends[0]);
  const auto old = ::signal(SIGPIPE, SIG_IGN);
  TraceStream stream(ends[1]);
  StreamPart part{.stream = stream, .kind = StreamFrame::Kind::kTrace, .recording = 1};
  part.append(span_of("lost"));
  part.append(span_of("too"));
  ::signal(SIGPIPE, old);
  ::close(ends[1]);
  CHECK(stream.error() == EPIPE);
  CHECK(part.written_bytes == 0);
  CHECK(part.discarded_bytes == 7);
}

TEST_CASE("a stalled reader of a stream is given up, and unread bytes are counted") {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const std::string bytes(1 << 20, 'x');  // more than a pipe holds
  TraceStream stream(ends[1]);
  StreamPart part{.stream = stream, .kind = StreamFrame::Kind::kTrace, .recording = 1};
  auto written = std::async(std::launch::async, [&] { part.append(span_of(bytes)); });
  CHECK(written.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready);
  stream.give_up();
  written.get();
  part.append(span_of("later"));
  CHECK(stream.error() == TraceStream::kReaderStalled);
  CHECK(part.written_bytes > 0);
  CHECK(part.written_bytes + part.discarded_bytes == bytes.size() + 5);
  std::string all(1 << 20, 0);
  const ssize_t got = ::read(ends[0], all.data(), all.size());
  CHECK(got == static_cast<ssize_t>(kStreamHeaderBytes + part.written_bytes));
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace htmtrace
