// SPDX-License-Identifier: GPL-2.0-or-later
// A core whose instructions become samples of a perf.data file, and a reader of this file that uses
// the reader of perf.data files.
#pragma once

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/perf_data/records.h"
#include "output/export/perf_samples.h"
#include "output/io/input_file.h"
#include "output/print/selecting_sink.h"
#include "tests/unit/instruction_run.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {

inline constexpr uint64_t kSampledKernel = 0xc000000000010000, kSampledProgram = 0x10000000;
inline constexpr uint32_t kStoreWord = 0x90010010;    // stw r0,16(r1)
inline constexpr uint32_t kReserveWord = 0x7c000028;  // lwarx r0,0,r0
inline constexpr uint32_t kSaveWord = 0xf8010010;     // std r0,16(r1)

struct ReadSample {
  uint64_t ip = 0, task = 0, time = 0, address = 0, period = 0, source = 0;
  unsigned mode = 0;
  std::vector<uint64_t> chain;
  std::vector<uint64_t> branches;  // from, to and flags
};

// All records but COMM records, as text: "sample", "mmap PATH BEGIN-END", "lost 5".
struct ReadFile {
  std::vector<ReadSample> samples;
  std::vector<std::string> records;
  perf_data::Header header;
  uint64_t bytes = 0;
};

inline std::string text_until_zero(std::span<const std::byte> bytes) {
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  return std::string(text, strnlen(text, bytes.size()));
}

inline ReadSample read_sample(const perf_data::Record& record, uint64_t sample_type) {
  perf_data::Fields fields(record.body, false);
  ReadSample sample{.ip = fields.u64(),
                    .task = fields.u64(),
                    .time = fields.u64(),
                    .address = fields.u64(),
                    .period = fields.u64(),
                    .mode = record.misc & 7U,
                    .chain = {},
                    .branches = {}};
  if ((sample_type & 1 << 5) != 0) {
    for (uint64_t left = fields.u64(); left != 0; left--) sample.chain.push_back(fields.u64());
  }
  if ((sample_type & 1 << 11) != 0) {
    for (uint64_t left = 3 * fields.u64(); left != 0; left--) {
      sample.branches.push_back(fields.u64());
    }
  }
  sample.source = fields.u64();
  CHECK(fields.good());
  CHECK(fields.left() == 0);
  return sample;
}

inline ReadFile read_file(const std::filesystem::path& path) {
  const std::vector<std::byte> bytes = InputFile::open(path).read_all(1 << 26);
  const ReadAt read = [&](uint64_t offset, std::span<std::byte> buffer) {
    const size_t got = std::min<size_t>(buffer.size(), bytes.size() - offset);
    std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(offset), got, buffer.begin());
    return got;
  };
  ReadFile file{.samples = {}, .records = {}, .header = perf_data::read_header(bytes.size(), read)};
  file.bytes = bytes.size();
  REQUIRE(file.header.events.size() == 1);
  perf_data::RecordReader records(file.header.data, false, read);
  while (const auto record = records.next()) {
    perf_data::Fields fields(record->body, false);
    if (record->type == perf_data::kRecordSample) {
      file.samples.push_back(read_sample(*record, file.header.events[0].sample_type));
      file.records.emplace_back("sample");
    } else if (record->type == perf_data::kRecordLost) {
      fields.skip(8);
      file.records.push_back(fmt::format("lost {}", fields.u64()));
    } else if (record->type == 10 || record->type == 1) {
      fields.skip(8);
      const uint64_t begin = fields.u64(), end = begin + fields.u64();
      file.records.push_back(fmt::format(
          "mmap {} {:x}-{:x}", text_until_zero(record->body.subspan(record->type == 10 ? 64 : 32)),
          begin, end));
    }
  }
  CHECK(records.left() == 0);
  return file;
}

// A core whose instructions become samples.
class SampledCore {
 public:
  explicit SampledCore(const PerfSampling& sampling, const Selection& selection = {},
                       SymbolTable symbols = finished({}), PerfMaps maps = {})
      : selection_(selection),
        symbols_(std::move(symbols)),
        maps_(std::move(maps)),
        output_(TextOutput::create(folder_.path() / "perf.data", Existing::kRefuse)),
        samples_(output_, sampling, symbols_, maps_, true),
        sink_(selection_, samples_) {}

  static SymbolTable finished(SymbolTable symbols) {
    symbols.finish();
    return symbols;
  }

  // Runs these instructions from `ea` on, or after the last instruction.
  void at(uint64_t ea, std::initializer_list<uint32_t> opcodes) {
    ea_ = ea;
    run(opcodes);
  }
  void run(std::initializer_list<uint32_t> opcodes) {
    for (const uint32_t opcode : opcodes) {
      Instruction instruction = one(ea_, opcode);
      instruction.modes = {.bits = ea_ >> 60 == 0xc ? uint16_t{0} : Modes::kPr,
                           .known = Modes::kAll};
      if (opcode == kStoreWord || opcode == kReserveWord) instruction.add_data({0x7fff0010});
      if (opcode == kSaveWord) instruction.add_data({stack + 16});
      sink_.instruction(instruction);
      ea_ += 4;
    }
  }
  void call_to(uint64_t target) {
    run({call(ea_, target)});
    ea_ = target;
  }
  uint64_t stack = 0;  // for kSaveWord
  void process(const Process& process) { samples_.process(process); }
  SelectingSink<PerfSamples>& sink() { return sink_; }
  PerfSampleCounts counts() const { return samples_.counts(); }

  ReadFile read() {
    sink_.finish();
    samples_.finish("1");
    output_.finish();
    return read_file(folder_.path() / "perf.data");
  }

 private:
  TemporaryFolder folder_;
  Selection selection_;
  SymbolTable symbols_;
  PerfMaps maps_;
  TextOutput output_;
  PerfSamples samples_;
  SelectingSink<PerfSamples> sink_;
  uint64_t ea_ = kSampledProgram;
};

}  // namespace htmtrace
