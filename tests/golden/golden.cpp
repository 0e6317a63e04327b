// SPDX-License-Identifier: GPL-2.0-or-later
// golden [--rewrite] CASE...: assembles the words of each case, and compares them with the
// hexadecimal words beside them. Then decodes the words in pieces of several sizes, and compares
// the text with the case's text. --rewrite writes the actual results to the files. Read the
// difference before you commit the files.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/core_trace/decoder.h"
#include "output/io/input_file.h"
#include "output/io/text_output.h"
#include "output/print/text_printer.h"
#include "tests/encoder/power10.h"
#include "tests/golden/assembler.h"
#include "tests/golden/bus_assembler.h"
#include "tests/golden/bus_decoding.h"

namespace htmtrace::golden {
namespace {

namespace fs = std::filesystem;

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void append_word(std::vector<std::byte>& bytes, uint64_t word) {
  uint8_t stored[8];
  power10_store(stored, word);
  for (const uint8_t byte : stored) bytes.push_back(static_cast<std::byte>(byte));
}

// A case: heading lines, then sections that start with "--- NAME".
struct Case {
  bool is_bus() const { return kind != "trace"; }
  bool power8() const { return kind == "power8 bus trace"; }

  fs::path path;
  std::string heading;
  std::string kind = "trace";  // or "power8 bus trace", "power9 bus trace"
  std::vector<std::string> trace;
  std::vector<std::string> map;
  std::string expected;
};

Case read_case(const fs::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read it");
  Case read{.path = path, .heading = {}, .trace = {}, .map = {}, .expected = {}};
  std::string section;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("--- ")) {
      section = line.substr(4);
    } else if (section.empty()) {
      read.heading += line + "\n";
    } else if (section == "trace" || section == "power8 bus trace" ||
               section == "power9 bus trace") {
      read.kind = section;
      read.trace.push_back(line);
    } else if (section == "map") {
      read.map.push_back(line);
    } else if (section == "output") {
      read.expected += line + "\n";
    } else {
      throw std::runtime_error("unknown section " + section);
    }
  }
  return read;
}

// "DESCRIPTION | WORDS" to bytes. Fills in the words that the encoder made.
std::vector<std::byte> assemble_trace(Case& golden, bool rewrite) {
  std::vector<std::byte> bytes;
  for (std::string& line : golden.trace) {
    const size_t bar = line.find('|');
    const std::string description = trimmed(line.substr(0, bar));
    if (description.empty() || description.starts_with('#')) continue;
    if (description.starts_with("bytes ")) {
      const std::string hex = trimmed(description.substr(6));
      for (size_t i = 0; i + 1 < hex.size(); i += 2) {
        bytes.push_back(static_cast<std::byte>(std::stoul(hex.substr(i, 2), nullptr, 16)));
      }
      continue;
    }
    std::string made;
    for (const uint64_t word :
         golden.is_bus() ? assemble_bus(golden.power8(), description) : assemble(description)) {
      made += fmt::format(" {:016x}", word);
      append_word(bytes, word);
    }
    if (rewrite) {
      line = fmt::format("{:<44} |{}", description, made);
    } else if (bar == std::string::npos || trimmed(line.substr(bar + 1)) != trimmed(made)) {
      throw std::runtime_error(fmt::format("the encoder makes{} of: {}", made, line));
    }
  }
  return bytes;
}

// "block COUNT" and "entry REAL LOGICAL PARTITION SIZE", hexadecimal.
std::vector<std::byte> assemble_map(const std::vector<std::string>& lines) {
  std::vector<std::byte> bytes;
  for (const std::string& line : lines) {
    std::istringstream text(line);
    std::string kind;
    uint64_t value[4] = {};
    text >> kind >> std::hex >> value[0] >> value[1] >> value[2] >> value[3];
    if (kind == "block") {
      for (const uint64_t word : {uint64_t{0}, uint64_t{0}, value[0], uint64_t{0}}) {
        append_word(bytes, word);
      }
    } else if (kind == "entry") {
      for (const uint64_t word : {value[0], value[1], value[2] << 32, value[3]}) {
        append_word(bytes, word);
      }
    }
  }
  return bytes;
}

// The tool's printer, with a separate line for each defect.
class Sink {
 public:
  explicit Sink(TextOutput& output) : output_(output), printer_(output, {.stamps = true}) {}
  void instruction(const Instruction& instruction) { printer_.instruction(instruction); }
  void stamp(const Stamp& stamp) { printer_.stamp(stamp); }
  void walk(const Walk& walk) { printer_.walk(walk); }
  void defect(const Defect& defect) {
    output_.put(fmt::format("defect offset={} bytes={}: {}\n", defect.offset, defect.size_bytes,
                            defect_reason_name(defect.reason)));
  }

 private:
  TextOutput& output_;
  TextPrinter printer_;
};

std::string decode(std::span<const std::byte> trace, const TranslationMap& map, size_t piece) {
  const fs::path path = "golden-output.txt";
  TextOutput output = TextOutput::create(path, Existing::kReplace);
  Sink sink(output);
  CoreDecoder decoder(map, sink);
  decoder.follow_walks();
  for (size_t at = 0; at < trace.size(); at += piece) {
    decoder.feed(trace.subspan(at, std::min(piece, trace.size() - at)));
  }
  decoder.finish();
  output.finish();
  const CoreStatistics& s = decoder.statistics();
  if (s.bytes != trace.size() || s.accounted_bytes() != trace.size()) {
    throw std::runtime_error(
        fmt::format("{} of {} bytes are accounted for", s.accounted_bytes(), trace.size()));
  }
  const std::vector<std::byte> text = InputFile::open(path).read_all(1 << 20);
  std::string lines(reinterpret_cast<const char*>(text.data()), text.size());
  return lines + fmt::format("instructions={} losses={} defects={}\n", s.instruction_count(),
                             s.loss_stamps, s.defect_count());
}

void write_case(const Case& golden, const std::string& output) {
  std::ofstream file(golden.path);
  file << golden.heading << "--- " << golden.kind << "\n";
  for (const std::string& line : golden.trace) file << line << "\n";
  if (!golden.map.empty()) file << "--- map\n";
  for (const std::string& line : golden.map) file << line << "\n";
  file << "--- output\n" << output;
}

void show_difference(const std::string& expected, const std::string& got) {
  const std::vector<std::string> left = lines_of(expected);
  const std::vector<std::string> right = lines_of(got);
  for (size_t i = 0; i < std::max(left.size(), right.size()); i++) {
    const std::string a = i < left.size() ? left[i] : "(nothing)";
    const std::string b = i < right.size() ? right[i] : "(nothing)";
    if (a != b) fmt::print("  expected: {}\n  got:      {}\n", a, b);
  }
}

bool run_case(const fs::path& path, bool rewrite) {
  Case golden = read_case(path);
  const std::vector<std::byte> trace = assemble_trace(golden, rewrite);
  const TranslationMap map(assemble_map(golden.map), 0);
  const auto text_of = [&](size_t piece) {
    return golden.is_bus() ? decode_bus(golden.power8(), trace, map, piece)
                           : decode(trace, map, piece);
  };
  const std::string whole = text_of(std::max<size_t>(trace.size(), 1));
  if (rewrite) {
    write_case(golden, whole);
    return true;
  }
  bool good = whole == golden.expected;
  if (!good) show_difference(golden.expected, whole);
  // The decoder of bus traces accepts only whole records.
  const std::vector<size_t> pieces =
      golden.is_bus() ? std::vector<size_t>{16, 32, 80} : std::vector<size_t>{1, 7, 8, 13, 24, 64};
  for (const size_t piece : pieces) {
    if (text_of(piece) == whole) continue;
    fmt::print("  in pieces of {} bytes the text is different\n", piece);
    good = false;
  }
  return good;
}

}  // namespace
}  // namespace htmtrace::golden

int main(int argc, char** argv) {
  const bool rewrite = argc > 1 && std::string(argv[1]) == "--rewrite";
  int failed = 0;
  for (int i = rewrite ? 2 : 1; i < argc; i++) {
    bool good = false;
    try {
      good = htmtrace::golden::run_case(argv[i], rewrite);
    } catch (const std::exception& error) {
      fmt::print("  {}\n", error.what());
    }
    fmt::print("{} - {}\n", good ? "ok" : "not ok", argv[i]);
    failed += good ? 0 : 1;
  }
  if (argc < 2) fmt::print(stderr, "usage: golden [--rewrite] CASE...\n");
  return failed == 0 && argc >= 2 ? 0 : 1;
}
