// SPDX-License-Identifier: GPL-2.0-or-later
// Streams, folders of recordings, memory maps, indexes and compressed files.
#include <algorithm>
#include <filesystem>
#include <string>

#include "core/base/crc32c.h"
#include "core/selection/index.h"
#include "core/selection/stream_frames.h"
#include "output/io/compressor.h"
#include "output/io/input_file.h"
#include "tests/bombs/bomb.h"
#include "tests/encoder/power10.h"

namespace htmtrace::bombs {
namespace {

using Kind = StreamFrame::Kind;

constexpr const char* kTraceName = "htm.bin.n0.p0.c0";
constexpr size_t kPieceBytes = 1 << 20;

void put_frame(File& file, const StreamFrame& frame, std::string_view content = {}) {
  file.put(stream_header(frame));
  file.put(content);
}

// Each frame begins a recording, with the highest target.
void stream_of_targets(unsigned) {
  File file("stream");
  for (uint32_t i = 1; i <= 30'000; i++) {
    put_frame(file, {.kind = Kind::kTrace, .target = 4095, .recording = i});
  }
}

// 12.8 MB of frames of one target.
void stream_of_frames(unsigned) {
  File file("stream");
  for (int i = 0; i < 400'000; i++) put_frame(file, {.kind = Kind::kTrace, .recording = 1});
}

void stream_of_recordings(unsigned) {
  File file("stream");
  for (uint32_t i = 1; i <= 400'000; i++) {
    put_frame(file, {.kind = Kind::kManifest, .recording = i});
  }
}

// One manifest of 2 MB belongs to 4096 targets.
void stream_of_one_manifest(unsigned) {
  File file("stream");
  std::string manifest = R"({"state": "complete", "targets": [], "host": [0)";
  while (manifest.size() < 2'000'000) manifest += ", 12345";
  manifest += "]}";
  put_frame(file, {.kind = Kind::kManifest, .recording = 1, .size_bytes = manifest.size()},
            manifest);
  for (uint16_t i = 0; i < 4096; i++) {
    put_frame(file, {.kind = Kind::kTrace, .target = i, .recording = 1});
  }
}

void put_instructions(File& file) {
  constexpr uint64_t kAddress = 0xc000000000001000;
  put_line(file, kAddress);
  for (uint64_t i = 0; i < 16; i++) put_instruction(file, kAddress + 4 * i, kSystem);
}

void put_trace() {
  File file(kTraceName);
  file.be64(power10_record(0));
  put_instructions(file);
}

void manifest_of_brackets(unsigned) {
  put_trace();
  File file("manifest.json");
  const std::string piece(kPieceBytes, '[');
  for (int i = 0; i < 64; i++) file.put(piece);
}

// Each list takes far more memory than its three characters.
void manifest_of_lists(unsigned scale) {
  put_trace();
  File file("manifest.json");
  file.put(R"({"state": "complete", "targets": [)");
  for (unsigned i = 0; i < 600'000 * scale; i++) file.put("[],");
  file.put("[]]}");
}

void manifest_of_targets(unsigned) {
  put_trace();
  File file("manifest.json");
  file.put(R"({"state": "complete", "targets": [)");
  for (int i = 0; i < 200'000; i++) file.put(R"({"node":0,"chip":0,"core":0,"type":"core"},)");
  file.put(R"({"node": 0, "chip": 0, "core": 0, "type": "core"}]})");
}

// Calls write(append) for the content of a compressed file.
template <class Write>
void put_packed(const std::string& name, const Write& write) {
  TraceSink sink = TraceSink::create(name, Existing::kRefuse);
  Compressor compressor(sink, 3);
  write([&](std::span<const std::byte> bytes) { compressor.append(bytes); });
  compressor.finish();
  sink.finish();
}

// 1 GB of zeros.
void packed_map(unsigned) {
  put_trace();
  const std::vector<std::byte> zeros(kPieceBytes);
  put_packed("translation.n0.p0.c0.zst", [&](const auto& append) {
    for (int i = 0; i < 1000; i++) append(zeros);
  });
}

void put_block(File& file, uint64_t entries, uint64_t first) {
  for (const uint64_t word : {uint64_t{0}, uint64_t{0}, entries, uint64_t{0}}) file.be64(word);
  constexpr unsigned kBlockShift = 20;
  for (uint64_t i = first; i < first + entries; i++) {
    file.be64(i << (kBlockShift + 1));
    file.be64(i << kBlockShift);
    // The partition is the upper half of its word: each block of memory has another owner.
    file.be64(i % 4096 << 32);
    file.be64(uint64_t{1} << kBlockShift);
  }
}

// As many blocks of memory as a file of 16 MiB can list.
void map_of_blocks(unsigned scale) {
  put_trace();
  File file("translation.n0.p0.c0");
  for (uint64_t first = 0; first < uint64_t{500'000} * scale; first += 4000) {
    put_block(file, 4000, first);
  }
}

FileIdentity identity_of_trace() {
  return InputFile::open(kTraceName).identity().value();
}

void index_of_restarts(unsigned scale) {
  put_trace();
  CoreIndex index;
  index.file = identity_of_trace();
  index.instructions = 16;
  for (uint64_t i = 0; i < uint64_t{300'000} * scale; i++) {
    index.restarts.push_back({.offset = 8 * (i + 1), .place = {.instructions = i, .ticks = i}});
  }
  File(("htm.bin.n0.p0.c0.index")).put(pack(index));
}

// A compressed trace of one repeated line of instructions.
void put_packed_trace(unsigned lines) {
  put_trace();
  const std::vector<std::byte> beginning = InputFile::open(kTraceName).read_all(kPieceBytes);
  std::filesystem::remove(kTraceName);
  const auto line = std::span(beginning).subspan(sizeof(uint64_t));
  put_packed(std::string(kTraceName) + ".zst", [&](const auto& append) {
    append(beginning);
    for (unsigned i = 1; i < lines; i++) append(line);
  });
}

// Many threads must not hold the whole text of the trace. At full size, its JSON has 6 GB.
void packed_trace(unsigned scale) {
  put_packed_trace(200'000 * scale);
}

constexpr double kSecondsForText = 10;

// Each line of text has a name of 100 kB.
void packed_trace_with_names(unsigned) {
  put_packed_trace(2'000);
  File("names").put("c000000000000000 T " + std::string(100'000, 'n') + "\n");
}

}  // namespace

std::vector<Bomb> recording_bombs() {
  using enum Outcome;
  return {
      {"stream-targets", kEither, stream_of_targets, {"decode", "-q", "stream"}},
      {"stream-frames", kEither, stream_of_frames, {"decode", "-q", "stream"}},
      {"stream-recordings", kEither, stream_of_recordings, {"decode", "-q", "stream"}},
      {"stream-manifest", kEither, stream_of_one_manifest, {"decode", "-q", "stream"}},
      {"manifest-brackets", kEither, manifest_of_brackets, {"decode", "-q", "."}},
      {"manifest-lists", kEither, manifest_of_lists, {"decode", "-q", "."}},
      {"manifest-targets", kEither, manifest_of_targets, {"decode", "-q", "."}},
      {"map-packed",
       kEither,
       packed_map,
       {"decode", "-q", "--translation", "translation.n0.p0.c0.zst", kTraceName}},
      {"map-blocks", kRead, map_of_blocks, {"decode", "-q", "--partition", "1", "."}},
      {"index-restarts", kEither, index_of_restarts, {"decode", "-q", "--last", "3", "."}},
      {"threads",
       kRead,
       packed_trace,
       {"decode", "-q", "--format", "json", "--threads", "256", "."},
       kSecondsForText},
      {"threads-names",
       kRead,
       packed_trace_with_names,
       {"decode", "-q", "--symbols", "--kallsyms", "names", "--limit", "18446744073709551615",
        "--threads", "256", "."}},
      {"threads-text",
       kRead,
       packed_trace,
       {"decode", "-q", "--threads", "256", "."},
       kSecondsForText},
  };
}

}  // namespace htmtrace::bombs
