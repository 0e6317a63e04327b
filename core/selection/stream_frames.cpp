// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/selection/stream_frames.h"

#include <fmt/core.h>

#include <algorithm>

namespace htmtrace {
namespace {

// man/htmtrace-stream.5: "HTMF".
constexpr uint32_t kMagic = 0x464d5448;
// Exceeds the number of targets of any machine; a higher number indicates damage.
constexpr uint16_t kMostTargets = 4096;

void store_le(std::span<std::byte> bytes, uint64_t value) {
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(value & 0xff);
    value >>= 8;
  }
}

uint64_t load_le(std::span<const std::byte> bytes) {
  uint64_t value = 0;
  for (size_t index = bytes.size(); index-- != 0;) {
    value = value << 8 | std::to_integer<uint64_t>(bytes[index]);
  }
  return value;
}

uint64_t bytes_of(const std::vector<FileExtent>& extents) {
  uint64_t sum = 0;
  for (const FileExtent& extent : extents) sum += extent.size_bytes;
  return sum;
}

// Returns false if earlier bytes of the frame's part are missing.
bool take(const StreamFrame& frame, const FileExtent& where, StreamContent& content) {
  const auto same = [&](const StreamRecording& known) { return known.number == frame.recording; };
  auto found = std::ranges::find_if(content.recordings, same);
  if (found == content.recordings.end()) {
    content.recordings.push_back({.number = frame.recording, .manifest = {}, .targets = {}});
    found = content.recordings.end() - 1;
  }
  if (frame.kind == StreamFrame::Kind::kManifest) {
    found->manifest = where;
    return true;
  }
  if (found->targets.size() <= frame.target) found->targets.resize(size_t{frame.target} + 1);
  StreamRecording::Target& target = found->targets[frame.target];
  auto& extents = frame.kind == StreamFrame::Kind::kTrace ? target.trace : target.translation;
  if (frame.position != bytes_of(extents)) return false;
  extents.push_back(where);
  return true;
}

}  // namespace

std::array<std::byte, kStreamHeaderBytes> stream_header(const StreamFrame& frame) {
  std::array<std::byte, kStreamHeaderBytes> bytes{};
  const std::span all(bytes);
  store_le(all.subspan(0, 4), kMagic);
  store_le(all.subspan(4, 2), static_cast<uint16_t>(frame.kind));
  store_le(all.subspan(6, 2), frame.target);
  store_le(all.subspan(8, 4), frame.recording);
  store_le(all.subspan(16, 8), frame.position);
  store_le(all.subspan(24, 8), frame.size_bytes);
  return bytes;
}

std::optional<StreamFrame> parse_stream_header(std::span<const std::byte> bytes) {
  if (bytes.size() < kStreamHeaderBytes || !is_stream(bytes)) return std::nullopt;
  StreamFrame frame;
  const uint64_t kind = load_le(bytes.subspan(4, 2));
  if (kind < 1 || kind > 4) return std::nullopt;
  frame.kind = static_cast<StreamFrame::Kind>(kind);
  frame.target = static_cast<uint16_t>(load_le(bytes.subspan(6, 2)));
  frame.recording = static_cast<uint32_t>(load_le(bytes.subspan(8, 4)));
  frame.position = load_le(bytes.subspan(16, 8));
  frame.size_bytes = load_le(bytes.subspan(24, 8));
  if (frame.target >= kMostTargets) return std::nullopt;
  return frame;
}

bool is_stream(std::span<const std::byte> begin) {
  return begin.size() >= kStreamMagicBytes && load_le(begin.first(kStreamMagicBytes)) == kMagic;
}

StreamContent find_recordings(
    uint64_t size_bytes, const std::function<size_t(uint64_t, std::span<std::byte>)>& read_at) {
  StreamContent content;
  uint64_t offset = 0;
  while (offset != size_bytes) {
    std::array<std::byte, kStreamHeaderBytes> bytes{};
    const size_t got = read_at(offset, bytes);
    if (got != bytes.size()) break;
    const auto frame = parse_stream_header(bytes);
    if (!frame) {
      content.trouble = fmt::format("the stream is damaged at byte {}", offset);
      return content;
    }
    if (frame->kind == StreamFrame::Kind::kEnd) return content;
    offset += kStreamHeaderBytes;
    const uint64_t there = std::min(frame->size_bytes, size_bytes - offset);
    if (!take(*frame, {offset, there}, content)) {
      content.trouble = fmt::format("bytes are missing in the stream before byte {}", offset);
      return content;
    }
    offset += there;
  }
  content.trouble =
      fmt::format("the stream is cut at byte {}: the end frame is missing", size_bytes);
  return content;
}

}  // namespace htmtrace
