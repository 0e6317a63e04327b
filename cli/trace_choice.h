// SPDX-License-Identifier: GPL-2.0-or-later
// Which traces a command line means.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace htmtrace {

// Numbers given with --node, --chip and --core; those not given match everything.
struct TargetFilter {
  std::optional<uint32_t> node;
  std::optional<uint32_t> chip;
  std::optional<uint32_t> core;
};

struct ChosenTrace {
  struct Place {
    uint32_t node = 0;
    uint32_t chip = 0;
    uint32_t core = 0;
    auto operator<=>(const Place&) const = default;
  };
  std::filesystem::path path;  // "-": standard input
  std::optional<Place> place;  // when the file is named as `record` names it

  bool is_standard_input() const { return path == "-"; }
  // "node=0,chip=1,core=12 file=DIR/htm.bin.n0.p1.c12"
  std::string describe() const;
  // "n0.p1.c12", or the path of a file that is named otherwise.
  std::string short_name() const;
  // The file beside it that `record` writes the memory map to.
  std::optional<std::filesystem::path> translation_path() const;
  std::optional<std::filesystem::path> manifest_path() const;
};

// A folder stands for the traces in it that pass the filter, by node, chip and core. Throws Error
// when a path does not exist, or a folder has no such trace.
std::vector<ChosenTrace> choose_traces(const std::vector<std::string>& paths,
                                       const TargetFilter& filter);

}  // namespace htmtrace
