// SPDX-License-Identifier: GPL-2.0-or-later
// A temporary file without a name, in the folder TMPDIR. Without TMPDIR, the file is in /var/tmp,
// which is rarely in memory, or in /tmp. The kernel removes the file when the command ends.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/base/fd.h"

namespace htmtrace {

class ScratchFile {
 public:
  // Throws Error.
  ScratchFile();

  // The folders in which the constructor tries to create the file.
  static std::vector<std::string> folders();

  // Throws Error.
  void append(std::span<const std::byte> bytes);

  // The path opens the file while this object exists.
  std::filesystem::path path() const;

 private:
  Fd fd_;
  std::string folder_;
};

}  // namespace htmtrace
