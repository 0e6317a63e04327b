// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/selection/stream_frames.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/base/budget.h"

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

class Finder {
 public:
  explicit Finder(uint64_t stored_bytes) : budget_(stored_bytes) {}

  // Returns false if earlier bytes of the frame's part are missing.
  bool take(const StreamFrame& frame, const FileExtent& where) {
    StreamRecording& recording = recording_of(frame.recording);
    if (frame.kind == StreamFrame::Kind::kManifest) {
      recording.manifest = where;
      return true;
    }
    StreamRecording::Target& target = target_of(recording, frame.target);
    auto& part = frame.kind == StreamFrame::Kind::kTrace ? target.trace : target.translation;
    if (frame.position != part.size_bytes) return false;
    budget_.take(grown_bytes<FileExtent>());
    part.extents.push_back(where);
    part.size_bytes += where.size_bytes;
    return true;
  }

  std::vector<StreamRecording> finish() {
    for (StreamRecording& recording : recordings_) {
      std::ranges::sort(recording.targets, {}, &StreamRecording::Target::number);
    }
    return std::move(recordings_);
  }

 private:
  // The caller makes a trace of each target, with names, times and messages.
  static constexpr uint64_t kTargetBytes = 2048;
  static constexpr uint64_t kRecordingBytes = 512;

  StreamRecording& recording_of(uint32_t number) {
    const auto [place, added] = places_.try_emplace(number, recordings_.size());
    if (added) {
      budget_.take(kRecordingBytes);
      recordings_.push_back({.number = number, .manifest = {}, .targets = {}});
      targets_.emplace_back();
    }
    return recordings_[place->second];
  }

  StreamRecording::Target& target_of(StreamRecording& recording, uint16_t number) {
    std::unordered_map<uint16_t, size_t>& places = targets_[&recording - recordings_.data()];
    const auto [place, added] = places.try_emplace(number, recording.targets.size());
    if (added) {
      budget_.take(kTargetBytes);
      recording.targets.push_back({.number = number, .trace = {}, .translation = {}});
    }
    return recording.targets[place->second];
  }

  MemoryBudget budget_;
  std::vector<StreamRecording> recordings_;
  // Indexes, by the number of a recording, and of a target of each recording.
  std::unordered_map<uint32_t, size_t> places_;
  std::vector<std::unordered_map<uint16_t, size_t>> targets_;
};

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
  Finder finder(size_bytes);
  const auto content = [&finder](std::string trouble) {
    return StreamContent{.recordings = finder.finish(), .trouble = std::move(trouble)};
  };
  uint64_t offset = 0;
  while (offset != size_bytes) {
    std::array<std::byte, kStreamHeaderBytes> bytes{};
    const size_t got = read_at(offset, bytes);
    if (got != bytes.size()) break;
    const auto frame = parse_stream_header(bytes);
    if (!frame) return content(fmt::format("the stream is damaged at byte {}", offset));
    if (frame->kind == StreamFrame::Kind::kEnd) return content({});
    offset += kStreamHeaderBytes;
    const uint64_t there = std::min(frame->size_bytes, size_bytes - offset);
    if (!finder.take(*frame, {offset, there})) {
      return content(fmt::format("bytes are missing in the stream before byte {}", offset));
    }
    offset += there;
  }
  return content(fmt::format("the stream is cut at byte {}: the end frame is missing", size_bytes));
}

}  // namespace htmtrace
