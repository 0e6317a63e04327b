// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/file_mode.h"

#include <charconv>
#include <string>

#include "output/io/new_file.h"

namespace htmtrace {
namespace {

// The owner can always read and write; nobody can execute.
mode_t parse_mode(const std::string& text) {
  constexpr unsigned kOwner = 0600, kAll = 0666;
  constexpr int kOctal = 8;
  unsigned mode = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), mode, kOctal);
  if (failure == std::errc() && end == text.data() + text.size() && (mode & kOwner) == kOwner &&
      (mode & ~kAll) == 0)
    return mode;
  throw CLI::ValidationError("--mode", text + " is not an access mode such as 0640");
}

}  // namespace

void declare_file_mode(CLI::App& app) {
  app.add_option_function<std::string>(
         "--mode", [](const std::string& text) { set_file_mode(parse_mode(text)); },
         "Access mode of the new files [0600]")
      ->type_name("MODE");
}

}  // namespace htmtrace
