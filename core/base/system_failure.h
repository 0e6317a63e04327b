// SPDX-License-Identifier: GPL-2.0-or-later
// Failures that a library hides. It reports a failed read or allocation as damage of the file or as
// the end of a list; only errno states the reason.
#pragma once

#include <cerrno>
#include <filesystem>
#include <new>
#include <system_error>

#include "core/base/error.h"

namespace htmtrace {

// Throws std::bad_alloc or std::system_error. Neither is an Error, because code that tolerates
// damaged files must not hide them.
inline void throw_if_system_failed(const std::filesystem::path& file) {
  if (errno == ENOMEM) throw std::bad_alloc();
  if (errno == EIO || errno == EMFILE || errno == ENFILE) {
    throw std::system_error(errno, std::generic_category(), "cannot read " + file.string());
  }
}

// Calls read(), whose library reads the file. Throws like throw_if_system_failed().
template <class Read>
void check_system(const std::filesystem::path& file, const Read& read) {
  errno = 0;
  try {
    read();
  } catch (const Error&) {
    throw_if_system_failed(file);
    throw;
  }
  throw_if_system_failed(file);
}

}  // namespace htmtrace
