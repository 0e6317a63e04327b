// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/coverage/code_files.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace htmtrace {

EffectiveAddr CodeFiles::File::named_address(uint64_t address) const {
  const uint64_t loaded = address + distance;
  if (program == SymbolTable::File::kNoProgram) return {loaded};
  return {owned::with(loaded, owned::of_program(program, true))};
}

CodeFiles::CodeFiles(const SymbolTable& symbols) {
  std::map<std::string, size_t> known;
  for (const SymbolTable::File& loaded : symbols.files()) {
    if (loaded.begin >= loaded.end) continue;
    const auto [place, added] = known.try_emplace(loaded.path, files_.size());
    const uint64_t begin = loaded.begin - loaded.distance, end = loaded.end - loaded.distance;
    if (added) {
      files_.push_back({.path = loaded.path,
                        .begin = begin,
                        .end = end,
                        .distance = loaded.distance,
                        .program = loaded.program});
    } else {
      File& file = files_[place->second];
      file.begin = std::min(file.begin, begin);
      file.end = std::max(file.end, end);
    }
  }
  uint64_t position = kFirstPosition;
  for (File& file : files_) {
    file.first = position;
    position += file.end - file.begin + kFirstPosition;
  }
  for (const SymbolTable::File& loaded : symbols.files()) {
    if (loaded.begin >= loaded.end) continue;
    const File& file = files_[known.at(loaded.path)];
    const auto add = [&](uint64_t begin) {
      loads_.push_back({.begin = begin,
                        .bytes = loaded.end - loaded.begin,
                        .first = file.position_of(loaded.begin - loaded.distance)});
    };
    if (loaded.program == SymbolTable::File::kNoProgram) {
      add(loaded.begin);
      continue;
    }
    for (const bool proven : {false, true}) {
      add(owned::with(loaded.begin, owned::of_program(loaded.program, proven)));
    }
  }
  std::ranges::stable_sort(loads_, {}, &Load::begin);
}

uint64_t CodeFiles::search(uint64_t address) const {
  const auto after = std::ranges::upper_bound(loads_, address, {}, &Load::begin);
  if (after == loads_.begin()) return 0;
  const Load& load = *std::prev(after);
  if (address - load.begin >= load.bytes) return 0;
  load_ = static_cast<size_t>(std::prev(after) - loads_.begin());
  return load.first + (address - load.begin);
}

}  // namespace htmtrace
