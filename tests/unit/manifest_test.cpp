// SPDX-License-Identifier: GPL-2.0-or-later
// The facts that the recorder writes to prove a complete recording, and how readers read them.
#include "output/manifest.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/crc32c.h"
#include "core/file_identity.h"
#include "output/manifest_reader.h"
#include "output/trace_file.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {

TEST_CASE("the manifest's reader finds the files and losses that its writer wrote") {
  Manifest manifest;
  manifest.state = Manifest::State::kRecording;
  manifest.targets.emplace_back();
  Manifest::Target& target = manifest.targets[0];
  target.target = {.node = 0, .chip = 1, .core = 12};
  target.trace_file = "htm.bin.n0.p1.c12.zst";
  target.trace_bytes = 4096;
  target.trace_stored_bytes = 512;
  target.trace_beginning = 0xdeadbeef;
  target.translation_file = "translation.n0.p1.c12";
  target.translation_bytes = 64;
  Ledger losses;
  losses.add({"trace memory", "it was full", LossUnit::kUnknown, 0});
  manifest.ledger.add_all("n0.p1.c12", losses);
  manifest.ledger.add({"recorder", "it stopped", LossUnit::kBytes, 1});

  const std::string text = manifest.to_json();
  const ManifestFacts facts = read_manifest(std::as_bytes(std::span(text)));
  CHECK(facts.unfinished);
  REQUIRE(facts.recorded.size() == 1);
  const RecordedTarget& recorded = facts.recorded[0];
  CHECK(recorded.trace.name == "htm.bin.n0.p1.c12.zst");
  CHECK(recorded.trace.bytes == 4096);
  CHECK(recorded.trace.stored_bytes == 512);
  CHECK(recorded.trace.beginning == 0xdeadbeef);
  CHECK(recorded.translation.name == "translation.n0.p1.c12");
  CHECK(recorded.translation.bytes == 64);
  REQUIRE(facts.losses.size() == 2);
  CHECK(facts.losses[0].target == "n0.p1.c12");
  CHECK(facts.losses[0].cause == "it was full");
  CHECK(facts.losses[1].target.empty());

  manifest.state = Manifest::State::kComplete;
  const std::string complete = manifest.to_json();
  CHECK_FALSE(read_manifest(std::as_bytes(std::span(complete))).unfinished);
}

TEST_CASE("the manifest's reader ignores invalid values") {
  for (const std::string text :
       {R"({"targets": [{"node": 0, "chip": 0, "core": 0, "type": "core", "trace": 5}]})",
        R"({"targets": [{"node": 0, "chip": 0, "core": 0, "type": "core", "trace": {"file": 1,
            "bytes": -1, "stored_bytes": 1.5}}], "losses": [1, {}], "state": []})"}) {
    const ManifestFacts facts = read_manifest(std::as_bytes(std::span(text)));
    REQUIRE(facts.recorded.size() == 1);
    CHECK(facts.recorded[0].trace.name.empty());
    CHECK_FALSE(facts.recorded[0].trace.bytes);
    CHECK_FALSE(facts.recorded[0].trace.stored_bytes);
    CHECK_FALSE(facts.unfinished);
  }
}

TEST_CASE("a recording that failed says why; text that is no manifest says nothing") {
  const std::string text = R"({"state": "failed", "errors": [7, "disk full", "more"]})";
  const ManifestFacts facts = read_manifest(std::as_bytes(std::span(text)));
  CHECK(facts.failed);
  CHECK(facts.error == "disk full");
  CHECK_FALSE(facts.unreadable);
  for (const std::string broken : {"", "{", "[]", "null"}) {
    CHECK(read_manifest(std::as_bytes(std::span(broken))).unreadable);
  }
}

TEST_CASE("a file counts as being written while its writer lives") {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "manifest.json";
  CHECK_FALSE(is_being_written(path));
  TraceSink sink = TraceSink::create(path, Existing::kRefuse);
  CHECK_FALSE(is_being_written(path));
  sink.mark_as_being_written();
  CHECK(is_being_written(path));
  CHECK(is_being_written(path));
  sink.finish();
  CHECK_FALSE(is_being_written(path));
}

TEST_CASE("the checksum of a trace's beginning does not depend on the sizes of writes") {
  const TemporaryFolder folder;
  std::vector<std::byte> trace(FileIdentity::kBeginningBytes + 1000);
  for (size_t i = 0; i < trace.size(); i++) trace[i] = static_cast<std::byte>(i * 7 >> 3);
  const uint32_t expected = crc32c(std::span(trace).first(FileIdentity::kBeginningBytes));
  for (const size_t piece : {trace.size(), size_t{999}}) {
    TraceFile file(TraceSink::create(folder.path() / std::to_string(piece), Existing::kRefuse));
    for (size_t at = 0; at < trace.size(); at += piece) {
      file.append(std::span(trace).subspan(at, std::min(piece, trace.size() - at)));
    }
    file.finish();
    CHECK(file.beginning() == expected);
  }
}

}  // namespace htmtrace
