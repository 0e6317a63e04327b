// SPDX-License-Identifier: GPL-2.0-or-later
// A recording in one stream, htmtrace-stream(5): frames of several targets, one behind the other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/file_extent.h"

namespace htmtrace {

struct StreamFrame {
  enum class Kind : uint16_t {
    kManifest = 1,     // the later one of a recording replaces the earlier
    kTrace = 2,        // of a target
    kTranslation = 3,  // of a target
    kEnd = 4,          // of the whole stream
  };

  Kind kind = Kind::kEnd;
  uint16_t target = 0;     // its place in the manifest's list
  uint32_t recording = 0;  // from 1
  uint64_t position = 0;   // of the first byte among those of the same kind, target and recording
  uint64_t size_bytes = 0;
};

constexpr size_t kStreamHeaderBytes = 32;
constexpr size_t kStreamMagicBytes = 4;

std::array<std::byte, kStreamHeaderBytes> stream_header(const StreamFrame& frame);

// Nothing when it is no frame's header.
std::optional<StreamFrame> parse_stream_header(std::span<const std::byte> bytes);

bool is_stream(std::span<const std::byte> begin);

// What a stream that was stored holds of one recording.
struct StreamRecording {
  struct Target {
    std::vector<FileExtent> trace;
    std::vector<FileExtent> translation;
  };
  uint32_t number = 0;
  FileExtent manifest;          // size 0: none came
  std::vector<Target> targets;  // as many as came, in the order of the manifest
};

struct StreamContent {
  std::vector<StreamRecording> recordings;
  std::string trouble;  // why it is not whole; empty: it is
};

// Any bytes will do.
StreamContent find_recordings(uint64_t size_bytes,
                              const std::function<size_t(uint64_t, std::span<std::byte>)>& read_at);

}  // namespace htmtrace
