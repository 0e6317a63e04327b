// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/export/row_parts.h"

#include <fmt/core.h>

#include <cerrno>
#include <system_error>

#include "core/base/error.h"

namespace htmtrace {

std::filesystem::path make_room_for_part(std::filesystem::path folder, const RowPartsWishes& wishes,
                                         uint64_t window, uint64_t file,
                                         std::string_view extension) {
  if (wishes.ticks) folder /= fmt::format("ticks={}", window * *wishes.ticks);
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) throw Error("cannot create the folder " + folder.string(), failure.value());
  std::filesystem::path path = folder / fmt::format("part-{:05}.{}", file, extension);
  if (wishes.replace) {
    std::filesystem::remove(path, failure);
  } else if (std::filesystem::exists(path, failure)) {
    throw Error("cannot create " + path.string(), EEXIST).hint("replace it with --force");
  }
  return path;
}

}  // namespace htmtrace
