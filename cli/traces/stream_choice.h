// SPDX-License-Identifier: GPL-2.0-or-later
// The traces of a stream of `htmtrace record -o -`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/traces/choice.h"
#include "core/base/fd.h"

namespace htmtrace {

// What came in a pipe: the memory map follows the trace that needs it, and targets take turns,
// so it is kept in a file without a name while it is read. In TMPDIR, or /var/tmp.
class Spool {
 public:
  // Reads `input` to its end. Throws Error.
  void fill(InputFile& input);
  // Valid while this object exists.
  std::filesystem::path path() const;

 private:
  Fd file_;
};

// Adds those that pass the filter, recording after recording; `name` is for people. Throws Error
// if the stream has no such part, or the file cannot be read.
void add_stream(const std::filesystem::path& path, const std::string& name,
                const TargetFilter& filter, std::vector<ChosenTrace>& chosen);

}  // namespace htmtrace
