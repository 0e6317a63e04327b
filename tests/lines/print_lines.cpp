// SPDX-License-Identifier: GPL-2.0-or-later
// print_lines FILE: prints the frames of the addresses of standard input, one hexadecimal address
// in each line, as llvm-symbolizer --output-style=LLVM --no-demangle does: a line with the function
// and a line with FILE:LINE for each frame, and an empty line.
#include <fmt/core.h>

#include <charconv>
#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "output/source_lines/debug_info.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: print_lines FILE [DEBUG_FOLDER...]\n");
    return 2;
  }
  try {
    htmtrace::DebugFolders folders;
    for (int i = 2; i < argc; i++) folders.folders.emplace_back(argv[i]);
    htmtrace::DebugBudgets budgets;
    htmtrace::DebugInfo info(argv[1], folders, budgets);
    std::vector<htmtrace::SourceFrame> frames;
    std::string line, output;
    while (std::getline(std::cin, line)) {
      std::string_view digits = line;
      if (digits.starts_with("0x")) digits.remove_prefix(2);
      uint64_t address = 0;
      std::from_chars(digits.data(), digits.data() + digits.size(), address, 16);
      info.find(address, frames);
      if (frames.empty()) frames.emplace_back();
      for (const htmtrace::SourceFrame& frame : frames) {
        output += frame.function.empty() ? "??" : frame.function;
        output += fmt::format("\n{}:{}\n", frame.file.empty() ? "??" : frame.file, frame.line);
      }
      output += '\n';
      if (output.size() > size_t{1} << 20) {
        std::fwrite(output.data(), 1, output.size(), stdout);
        output.clear();
      }
    }
    std::fwrite(output.data(), 1, output.size(), stdout);
    if (info.damage().units != 0) {
      fmt::print(stderr, "print_lines: {} damaged parts: {}\n", info.damage().units,
                 info.damage().first);
      return 3;
    }
    return std::fflush(stdout) == 0 ? 0 : 1;
  } catch (const htmtrace::Error& error) {
    fmt::print(stderr, "print_lines: {}\n", error.what());
    return 1;
  }
}
