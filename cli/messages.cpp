// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/messages.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <system_error>

#include "core/base/plain_text.h"

namespace htmtrace {

// fmt::print() throws if it cannot write.
void print_text(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void print_lines(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    print_text(without_controls(text.substr(0, end)) + "\n");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void print_error(const Error& error) {
  print_note(error.what());
  for (const std::string& subject : error.subjects()) {
    print_text(fmt::format("  {}\n", without_controls(subject)));
  }
  for (const std::string& hint : error.hints()) {
    print_text(fmt::format("  hint: {}\n", without_controls(hint)));
  }
}

void print_out_of_memory() {
  print_text("htmtrace: out of memory\n");
}

void print_failure() {
  try {
    throw;
  } catch (const Error& error) {
    print_error(error);
  } catch (const std::bad_alloc&) {
    print_out_of_memory();
  } catch (const std::filesystem::filesystem_error& error) {
    print_error(
        Error("cannot access " + (error.path1().empty() ? "a folder" : error.path1().string()),
              error.code().value()));
  } catch (const std::system_error& error) {
    print_error(Error(error.what()));
  } catch (const std::exception& error) {
    print_text(fmt::format("htmtrace: internal error: {}\n", error.what()));
  }
}

void print_note(const std::string& text) {
  print_text(fmt::format("htmtrace: {}\n", without_controls(text)));
}

void print_warning(const std::string& text, const std::string& hint) {
  print_note("warning: " + text);
  if (!hint.empty()) print_text(fmt::format("  hint: {}\n", without_controls(hint)));
}

void warn_of_fewer_threads(const std::string& consequence) {
  print_warning("cannot start all threads: " + consequence,
                "raise the limit of processes (ulimit -u), or that of the cgroup (pids.max)");
}

}  // namespace htmtrace
