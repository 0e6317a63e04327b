// SPDX-License-Identifier: GPL-2.0-or-later
// The traces that a command line selects.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/file_extent.h"
#include "core/base/target.h"
#include "output/io/input_file.h"
#include "output/io/scratch_file.h"

namespace htmtrace {

// The numbers of --node, --chip and --core. A missing number matches all traces.
struct TargetFilter {
  std::optional<uint32_t> node;
  std::optional<uint32_t> chip;
  std::optional<uint32_t> core;
};

// How the files of a recording differ from what its manifest states.
struct Discrepancy {
  std::string text;  // a sentence for people
  std::string hint;
  bool of_map = false;  // concerns the memory map, which the command line may replace
};

struct ChosenTrace {
  struct Place {
    uint32_t node = 0;
    uint32_t chip = 0;
    uint32_t core = 0;
    auto operator<=>(const Place&) const = default;
  };
  std::filesystem::path path;        // "-": standard input
  std::optional<Place> place;        // if the file name or the content states the target
  std::optional<HtmType> type = {};  // empty: any type
  // For a perf.data file or a stream: the extents of this trace, its memory map and the manifest.
  bool inside = false;
  std::vector<FileExtent> extents = {};
  std::vector<FileExtent> map_extents = {};
  std::vector<FileExtent> manifest_extents = {};
  std::string shown_as = {};              // for messages; empty: the path
  std::vector<std::byte> begun = {};      // bytes already read from standard input
  std::vector<std::string> missing = {};  // known losses, for people
  std::vector<Discrepancy> discrepancies = {};
  // What the manifest says about this trace; compare_with_manifest() sets it.
  struct OfManifest {
    std::optional<uint32_t> partition_id = {};
    std::optional<uint32_t> pvr = {};  // the version register of the processor that was traced
    std::string kernel_build_id = {};  // its bytes; empty: unknown
    std::optional<HtmType> type = {};
    std::string problem = {};  // why the manifest is unusable; empty: usable, or no manifest found
  };
  OfManifest of_manifest = {};
  // The recorded size of the content, if only reading the content shows its actual size.
  std::optional<uint64_t> expected_bytes = {};

  std::string name() const { return shown_as.empty() ? path.string() : shown_as; }
  bool is_standard_input() const { return path == "-"; }
  // "node=0,chip=1,core=12 file=DIR/htm.bin.n0.p1.c12"
  std::string describe() const;
  // Returns "n0.p1.c12", or the path of a file with another name.
  std::string short_name() const;
  // The memory map that `record` wrote beside the trace.
  std::optional<std::filesystem::path> translation_path() const;
  std::optional<std::filesystem::path> manifest_path() const;

  // Throws Error.
  InputFile open() const;
};

bool matches(const TargetFilter& filter, const ChosenTrace::Place& place);

// A folder, a perf.data file or a stream stands for all its traces that pass the filter by node,
// chip and core. A folder that holds no traces and one numbered recording stands for this
// recording. `spool` keeps a stream from standard input, because the memory map follows the trace
// that needs it, and the targets are interleaved. `spool` must outlive all use of the traces.
// Compares each trace with its manifest (cli/traces/recording_check.h). Throws Error when a path
// has no such trace, or cannot be read.
std::vector<ChosenTrace> choose_traces(const std::vector<std::string>& paths,
                                       const TargetFilter& filter,
                                       std::optional<ScratchFile>& spool);

}  // namespace htmtrace
