// SPDX-License-Identifier: GPL-2.0-or-later
// A recording as one stream, htmtrace-stream(5): consecutive frames of several targets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/file_extent.h"

namespace htmtrace {

struct StreamFrame {
  enum class Kind : uint16_t {
    kManifest = 1,     // a later manifest of a recording replaces the earlier manifest
    kTrace = 2,        // trace of a target
    kTranslation = 3,  // memory map of a target
    kEnd = 4,          // end of the whole stream
  };

  Kind kind = Kind::kEnd;
  uint16_t target = 0;     // index in the manifest's list
  uint32_t recording = 0;  // counted from 1
  uint64_t position =
      0;  // offset of the first byte in the part of the same kind, target and recording
  uint64_t size_bytes = 0;
};

constexpr size_t kStreamHeaderBytes = 32;
constexpr size_t kStreamMagicBytes = 4;

std::array<std::byte, kStreamHeaderBytes> stream_header(const StreamFrame& frame);

// Returns nothing if the bytes are not a frame's header.
std::optional<StreamFrame> parse_stream_header(std::span<const std::byte> bytes);

bool is_stream(std::span<const std::byte> begin);

// The extents of one recording in a stored stream.
struct StreamRecording {
  struct Part {
    std::vector<FileExtent> extents;
    uint64_t size_bytes = 0;
  };
  struct Target {
    uint16_t number = 0;  // index in the manifest's list
    Part trace, translation;
  };
  uint32_t number = 0;
  FileExtent manifest;          // size 0: the stream has no manifest
  std::vector<Target> targets;  // only targets with frames, in the order of their numbers
};

struct StreamContent {
  std::vector<StreamRecording> recordings;
  std::string trouble;  // the first defect; empty for a whole stream
};

// Accepts any bytes. Throws Error when the result would take too much memory.
StreamContent find_recordings(uint64_t size_bytes,
                              const std::function<size_t(uint64_t, std::span<std::byte>)>& read_at);

}  // namespace htmtrace
