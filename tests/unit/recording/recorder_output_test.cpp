// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the recorder's files: sinks, ledger, manifest, properties of the machine.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/base/size_text.h"
#include "output/io/json_writer.h"
#include "output/io/progress.h"
#include "output/recording/earlier.h"
#include "output/recording/file_names.h"
#include "output/recording/files.h"
#include "output/recording/ledger.h"
#include "output/recording/manifest.h"
#include "tests/unit/file_size_limit.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

constexpr const char* kOwnManifest = "{\n  \"format\": \"htmtrace-manifest\"\n}\n";

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// Returns the output of a progress with its own stream.
std::string progress_of(Progress::Style style, const std::function<void(Progress&)>& show) {
  std::FILE* stream = std::tmpfile();
  REQUIRE(stream != nullptr);
  {
    Progress progress(stream, style);
    show(progress);
  }
  std::string text(static_cast<size_t>(std::ftell(stream)), ' ');
  std::rewind(stream);
  CHECK(std::fread(text.data(), 1, text.size(), stream) == text.size());
  std::fclose(stream);
  return text;
}

TEST_CASE("progress for programs: a line immediately for each phase, and at the end") {
  const auto show = [](Progress& progress) {
    progress.recording(std::chrono::milliseconds(1500));
    progress.recording(std::nullopt);  // less than a second later
    progress.draining(4096, 0, 0);
    progress.draining(8192, 8192, 1);
    progress.ended("bytes", 8192, 1, 1, 0);
  };
  const std::string text = progress_of(Progress::Style::kJson, show);
  CHECK(text.starts_with("{\"phase\": \"recording\", \"elapsed_s\": 0.0"));
  CHECK(text.substr(text.find("\"left_s\"")) ==
        "\"left_s\": 1.500}\n"
        "{\"phase\": \"saving\", \"bytes\": 4096, \"total_bytes\": null, \"bytes_per_s\": 0, "
        "\"losses\": 0}\n"
        "{\"phase\": \"ended\", \"bytes\": 8192, \"recordings\": 1, \"incomplete\": 1, "
        "\"failed\": 0}\n");
  CHECK(progress_of(Progress::Style::kTerminal, show).empty());  // the stream is not a terminal
  CHECK(progress_of(Progress::Style::kNone, show).empty());
}

}  // namespace

TEST_CASE("a sink replaces a file only on request") {
  const TemporaryFolder folder;
  folder.write("trace", "precious");
  CHECK(message_of([&] { TraceSink::create(folder.path() / "trace", Existing::kRefuse); }) ==
        "cannot create " + (folder.path() / "trace").string() + ": File exists");
  CHECK(folder.read("trace") == "precious");
  TraceSink sink = TraceSink::create(folder.path() / "trace", Existing::kReplace);
  sink.append(bytes_of("new"));
  sink.finish();
  CHECK(folder.read("trace") == "new");
}

TEST_CASE("a full disk keeps the written bytes and counts the rest") {
  const TemporaryFolder folder;
  TraceSink sink = TraceSink::create(folder.path() / "trace", Existing::kRefuse);
  sink.begin();
  {
    const FileSizeLimit limit(10000);
    sink.append(bytes_of(std::string(8000, 'a')));
    CHECK_FALSE(sink.error());
    sink.append(bytes_of(std::string(8000, 'b')));
    sink.append(bytes_of(std::string(500, 'c')));
    sink.finish();
  }
  REQUIRE(sink.error());
  CHECK(*sink.error() == EFBIG);
  CHECK(sink.written_bytes() == 10000);
  CHECK(sink.discarded_bytes() == 6500);
  CHECK(folder.read("trace") == std::string(8000, 'a') + std::string(2000, 'b'));
}

TEST_CASE("a sink whose recording has not begun leaves no partial file") {
  const TemporaryFolder folder;
  TraceSink sink = TraceSink::create(folder.path() / "trace", Existing::kRefuse);
  {
    const FileSizeLimit limit(1000);
    sink.append(bytes_of(std::string(8000, 'a')));
    sink.finish();
  }
  REQUIRE(sink.error());
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a file that was removed while it was written is an error") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trace";
  TraceSink sink = TraceSink::create(path, Existing::kRefuse);
  sink.begin();
  sink.append(bytes_of("before"));
  std::filesystem::remove(path);
  sink.append(bytes_of("after"));
  CHECK_FALSE(sink.error());
  sink.finish();
  REQUIRE(sink.error());
  CHECK(sink.cause() == "the file was removed while it was written");
}

TEST_CASE("reserved space does not change the size of the file") {
  const TemporaryFolder folder;
  TraceSink sink = TraceSink::create(folder.path() / "map", Existing::kRefuse);
  sink.reserve(1 << 20);
  sink.rewrite(bytes_of("a long first version"));
  sink.rewrite(bytes_of("short"));
  sink.finish();
  CHECK(folder.read("map") == "short");
}

TEST_CASE("a file that cannot be written again keeps its content") {
  const TemporaryFolder folder;
  TraceSink sink = TraceSink::create(folder.path() / "manifest", Existing::kRefuse);
  sink.begin();
  sink.rewrite(bytes_of("first"));
  {
    const FileSizeLimit limit(0);
    sink.rewrite(bytes_of("second"));
  }
  sink.finish();
  CHECK(sink.error());
  CHECK(folder.read("manifest") == "first");
}

TEST_CASE("reserved space for a long trace is released") {
  const TemporaryFolder folder;
  TraceSink sink = TraceSink::create(folder.path() / "trace", Existing::kRefuse);
  const std::string piece(5 << 20, 'x');
  for (int count = 0; count < 4; count++) sink.append(bytes_of(piece));
  sink.finish();
  CHECK_FALSE(sink.error());
  CHECK(sink.written_bytes() == 4 * piece.size());
  struct stat status {};
  REQUIRE(::stat(sink.path().c_str(), &status) == 0);
  CHECK(static_cast<uint64_t>(status.st_size) == 4 * piece.size());
  CHECK(static_cast<uint64_t>(status.st_blocks) * 512 < 4 * piece.size() + (1 << 20));
}

TEST_CASE("a recording's files are created together or not at all") {
  const TemporaryFolder folder;
  const std::vector<TraceTarget> targets = {{.node = 0, .chip = 1, .core = 2},
                                            {.node = 0, .chip = 1, .core = 3}};
  const auto here = folder.path() / "new" / "folder";
  check_session_folder(here, targets, Existing::kRefuse);
  CHECK_FALSE(std::filesystem::exists(here));

  SessionFiles files = create_session_files(here, targets, Existing::kRefuse);
  REQUIRE(files.targets.size() == 2);
  CHECK(std::filesystem::is_empty(here));
  files.manifest.rewrite(bytes_of(kOwnManifest));
  files.begin();
  CHECK(files.targets[0].trace.name() == "htm.bin.n0.p1.c2");
  CHECK(files.targets[0].translation.name() == "translation.n0.p1.c2");
  CHECK(files.targets[1].trace.name() == "htm.bin.n0.p1.c3");
  CHECK(files.manifest.name() == "manifest.json");
  CHECK(message_of([&] { check_session_folder(here, targets, Existing::kRefuse); }) ==
        "cannot create " + (here / "htm.bin.n0.p1.c2").string() + ": File exists");
  check_session_folder(here, targets, Existing::kReplace);
  files.discard();
  CHECK(std::filesystem::is_empty(here));

  folder.write("new/folder/htm.bin.n0.p1.c3", "older");
  CHECK(message_of([&] { create_session_files(here, targets, Existing::kRefuse); }) != "no error");
  CHECK(folder.read("new/folder/htm.bin.n0.p1.c3") == "older");
  CHECK(std::distance(std::filesystem::directory_iterator(here), {}) == 1);
}

TEST_CASE("a manifest of another program is not replaced") {
  const TemporaryFolder folder;
  folder.write("manifest.json", "{\"name\": \"a program\"}");
  CHECK(message_of([&] {
          check_session_folder(folder.path(), {{.node = 0, .chip = 1, .core = 2}},
                               Existing::kReplace);
        }) == "cannot replace " + (folder.path() / "manifest.json").string());
}

TEST_CASE("an earlier recording is replaced as a whole") {
  const TemporaryFolder folder;
  for (const char* name :
       {"htm.bin.n0.p9.c2", "htm.bin.n0.p9.c2.t2", "translation.n0.p9.c2", "manifest.json",
        "htm.bin.notes", "htm.bin.n0.p1", "translation.n0.p1.c", "htm.bin.n0.p9.c2.txt", "notes"}) {
    folder.write(name, kOwnManifest);
  }
  const std::vector<TraceTarget> targets = {{.node = 0, .chip = 1, .core = 2}};
  check_session_folder(folder.path(), targets, Existing::kReplace);
  SessionFiles files = create_session_files(folder.path(), targets, Existing::kReplace);
  CHECK(folder.read("manifest.json") == kOwnManifest);
  files.begin();
  remove_earlier(folder.path(), files.names());
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    names.insert(entry.path().filename());
  }
  CHECK(names == std::set<std::string>{"htm.bin.n0.p1.c2", "translation.n0.p1.c2", "manifest.json",
                                       "htm.bin.notes", "htm.bin.n0.p1", "translation.n0.p1.c",
                                       "htm.bin.n0.p9.c2.txt", "notes"});
}

TEST_CASE("several earlier recordings are replaced, and other files are kept") {
  const TemporaryFolder folder;
  for (const char* name :
       {"0001/htm.bin.n0.p9.c2", "0001/translation.n0.p9.c2", "0001/manifest.json",
        "0002/manifest.json", "0002/notes", "0004/htm.bin.n0.p9.c2", "12345/manifest.json",
        "001/manifest.json", "0003x/manifest.json", "manifest.json", "htm.bin.n0.p1.c2", "notes"}) {
    folder.write(name, kOwnManifest);
  }
  // Names of recordings, but none of htmtrace's.
  folder.write("20240607", "a file");
  folder.write("20240608/manifest.json", "{\"name\": \"a program\"}");
  folder.write("other/htm.bin.n0.p9.c2", "of another folder");
  std::filesystem::create_directory_symlink("other", folder.path() / "0005");
  std::filesystem::create_symlink("other/htm.bin.n0.p9.c2", folder.path() / "htm.bin.n0.p3.c2");
  remove_earlier(folder.path(), {}, 4);
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    if (entry.is_regular_file()) {
      names.insert(entry.path().lexically_relative(folder.path()).string());
    }
  }
  CHECK(names == std::set<std::string>{"0002/notes", "0004/htm.bin.n0.p9.c2", "001/manifest.json",
                                       "0003x/manifest.json", "20240607", "20240608/manifest.json",
                                       "htm.bin.n0.p3.c2", "notes", "other/htm.bin.n0.p9.c2"});
  CHECK(std::filesystem::is_symlink(folder.path() / "0005"));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "0001"));
  CHECK(numbered_name(1) == "0001");
  CHECK(numbered_name(12345) == "12345");
}

TEST_CASE("losses of one target and cause are added up") {
  Ledger ledger;
  CHECK(ledger.summary() == "nothing lost");
  ledger.add({"AUX ring", "cut", LossUnit::kBytes, 10});
  ledger.add({"data ring", "full", LossUnit::kRecords, 2});
  ledger.add({"AUX ring", "cut", LossUnit::kBytes, 5});
  ledger.add({"event", "gone", LossUnit::kUnknown, 0});
  REQUIRE(ledger.entries().size() == 3);
  CHECK(ledger.entries()[0].loss.amount == 15);
  CHECK(ledger.entries()[0].occurrences == 2);
  CHECK(
      ledger.summary() ==
      "lost: 15 bytes (AUX ring: cut), 2 records (data ring: full), unknown amount (event: gone)");

  Ledger all;
  Ledger of_target;
  of_target.add({"trace", "gap", LossUnit::kBytes, 7});
  all.add_all("n0.p1.c2", of_target);
  all.add_all("n0.p1.c3", of_target);
  all.add({"trace", "gap", LossUnit::kBytes, 1});
  CHECK(all.summary() ==
        "lost: 7 bytes (n0.p1.c2 trace: gap), 7 bytes (n0.p1.c3 trace: gap), 1 byte (trace: gap)");
}

TEST_CASE("JSON text is valid for any strings") {
  JsonWriter json;
  json.begin_object();
  json.text("quote\"", "tab\t back\\slash \x01");
  json.text("euro", "\xe2\x82\xac");
  json.text("bad", "a\xff\xe2\x82z\xc0\x80\xed\xa0\x80");
  json.begin_array("empty");
  json.end_array();
  json.begin_array("list");
  json.number({}, uint64_t{18446744073709551615U});
  json.number({}, int64_t{-5});
  json.number({}, std::optional<uint64_t>());
  json.end_array();
  json.boolean("yes", true);
  json.end_object();
  CHECK(json.take() ==
        "{\n"
        "  \"quote\\\"\": \"tab\\u0009 back\\\\slash \\u0001\",\n"
        "  \"euro\": \"\xe2\x82\xac\",\n"
        "  \"bad\": \"a\\ufffd\\ufffd\\ufffdz\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\",\n"
        "  \"empty\": [],\n"
        "  \"list\": [\n    18446744073709551615,\n    -5,\n    null\n  ],\n"
        "  \"yes\": true\n"
        "}\n");
}

TEST_CASE("JSON can be written in one line, and in parts") {
  const auto write = [](JsonWriter::Layout layout) {
    JsonWriter json(layout);
    json.begin_object();
    json.number("a", 1);
    json.begin_array("b");
    json.formatted({}, "1.50");
    std::string text = json.take_part();
    json.new_line();
    json.null({});
    json.new_line();
    json.end_array();
    json.end_object();
    return text + json.take();
  };
  CHECK(write(JsonWriter::Layout::kCompact) == "{\"a\":1,\"b\":[1.50,\nnull\n]}\n");
  CHECK(write(JsonWriter::Layout::kSpaced) == "{\"a\": 1, \"b\": [1.50, \nnull\n]}\n");
}

TEST_CASE("the manifest names the partition, the target, the losses") {
  Manifest manifest;
  manifest.state = Manifest::State::kIncomplete;
  manifest.host.partition_id = 3;
  manifest.host.pvr = 0x00800200;
  manifest.targets.emplace_back();
  manifest.targets[0].target = {.node = 0, .chip = 1, .core = 12};
  manifest.targets[0].trace_file = "htm.bin.n0.p1.c12";
  manifest.targets[0].trace_proof = Proof::kViolated;
  Ledger losses;
  losses.add({"trace", "gap", LossUnit::kUnknown, 0});
  manifest.ledger.add_all("n0.p1.c12", losses);
  const std::string text = manifest.to_json();
  for (const char* piece :
       {"\"state\": \"incomplete\"", "\"partition_id\": 3", "\"core\": 12", "\"type\": \"core\"",
        "\"file\": \"htm.bin.n0.p1.c12\"", "\"completeness\": \"violated\"", "\"amount\": null",
        "\"target\": \"n0.p1.c12\"", "\"timebase_hz\": null", "\"processor\": \"POWER10\"",
        "\"pvr\": 8389120", "\"workload\": null", "\"started\": null"}) {
    CAPTURE(piece);
    CHECK(text.find(piece) != std::string::npos);
  }
}

TEST_CASE("sizes are shown in readable units") {
  CHECK(rounded_size(0) == "0 bytes");
  CHECK(rounded_size(1023) == "1023 bytes");
  CHECK(rounded_size(1536) == "1.5 KiB");
  CHECK(rounded_size(uint64_t{3} << 40) == "3.0 TiB");
  CHECK(exact_size(128) == "128 bytes");
  CHECK(exact_size(1536) == "1536 bytes");
  CHECK(exact_size(64 << 10) == "64 KiB");
  CHECK(exact_size(uint64_t{3} << 30) == "3072 MiB");
}

}  // namespace htmtrace
