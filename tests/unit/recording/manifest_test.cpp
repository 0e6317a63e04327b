// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the facts in the manifest that prove a complete recording, and their reader.
#include "output/recording/manifest.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/base/crc32c.h"
#include "core/base/file_identity.h"
#include "output/recording/manifest_reader.h"
#include "output/recording/trace_file.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {

TEST_CASE("the manifest's reader finds the files and losses that its writer wrote") {
  Manifest manifest;
  manifest.state = Manifest::State::kRecording;
  manifest.host.kernel_build_id = std::string("\x00\x9f\xff", 3);
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
  CHECK(facts.kernel_build_id == manifest.host.kernel_build_id);
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

TEST_CASE("the manifest's reader reports invalid values") {
  const auto invalid = [](const std::string& text) {
    return read_manifest(std::as_bytes(std::span(text))).invalid;
  };
  CHECK(invalid(R"({"state": "complete", "targets": [], "losses": [], "errors": null})").empty());
  CHECK(invalid(R"({"state": null, "targets": null, "later": {}})").empty());
  CHECK(invalid(R"({"state": "finished"})") == R"(its state "finished" is not known)");
  CHECK(invalid(R"({"state": ""})") == R"(its state "" is not known)");
  CHECK(invalid(R"({"state": 1})") == "its state is not text");
  CHECK(invalid(R"({"version": 2})") == "its version is not 1");
  CHECK(invalid(R"({"format": "other"})") == "its format is not htmtrace-manifest");
  CHECK(invalid(R"({"targets": {}})") == "its targets are not a list");
  CHECK(invalid(R"({"targets": [1]})") == "its target 1 has no valid node, chip, core and type");
  CHECK(invalid(R"({"losses": 0})") == "its losses are not a list");
  CHECK(invalid(R"({"losses": [7]})") == "its loss 1 is not an object");
  CHECK(invalid(R"({"losses": [{"target": 1, "cause": "it was full"}]})") ==
        "its loss 1 has a target that is not text");
  CHECK(invalid(R"({"errors": "disk full"})") == "its errors are not a list");
  CHECK(invalid(R"({"host": {"kernel_build_id": "00aF", "pvr": null}})").empty());
  for (const char* const id : {R"("")", R"("0")", R"("0g")", R"("-1")", "7"}) {
    CHECK(invalid(fmt::format(R"({{"host": {{"kernel_build_id": {}}}}})", id)) ==
          "its host has a kernel_build_id that is not a build ID in hexadecimal");
  }
}

TEST_CASE("the manifest's reader reports invalid members of a target's files") {
  const auto invalid = [](const std::string& trace, const std::string& translation) {
    const std::string text = R"({"targets": [{"node": 0, "chip": 0, "core": 0, "type": "core",
        "trace": )" + trace + R"(, "translation": )" +
                             translation + "}]}";
    const ManifestFacts facts = read_manifest(std::as_bytes(std::span(text)));
    CHECK(facts.invalid.empty());
    REQUIRE(facts.recorded.size() == 1);
    return facts.recorded[0].trace.invalid + facts.recorded[0].translation.invalid;
  };
  CHECK(invalid("null", "null").empty());
  CHECK(invalid(R"({"file": "a", "bytes": 1, "stored_bytes": null})", "{}").empty());
  CHECK(invalid("5", "null") == "trace is not an object");
  CHECK(invalid(R"({"file": 5})", "null") == "trace.file is not text");
  CHECK(invalid(R"({"bytes": "4096"})", "null") == "trace.bytes is not a size");
  CHECK(invalid(R"({"bytes": -1})", "null") == "trace.bytes is not a size");
  CHECK(invalid(R"({"stored_bytes": 1.5})", "null") == "trace.stored_bytes is not a size");
  CHECK(invalid(R"({"beginning_crc32c": "x"})", "null") ==
        "trace.beginning_crc32c is not a number");
  CHECK(invalid("{}", R"({"bytes": []})") == "translation.bytes is not a size");
}

TEST_CASE("a failed recording states its reason, and other text is not read as a manifest") {
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
  sink.begin();
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
