// SPDX-License-Identifier: GPL-2.0-or-later
// Confines a command that reads files of others to the files of its command line, so that a defect
// in a parser cannot be used against the user.
//
// Landlock confines the files: it knows paths, and needs no privilege. It is part of Debian's
// kernel since Debian 12, where it neither knows the network nor permissions of files (chmod and
// similar calls). Therefore a seccomp filter refuses system calls that no such command needs. A
// filter that allows only the needed calls would break with each new C library.
#pragma once

#include <filesystem>
#include <vector>

namespace htmtrace {

// The option that turns the sandbox off, and its help.
inline constexpr const char* kNoSandbox = "--no-sandbox";
inline constexpr const char* kNoSandboxHelp = "Do not confine htmtrace to the named files";

// The files that a command may use. Files that do not exist, empty paths and "-" are ignored.
struct Reach {
  std::vector<std::filesystem::path> files = {};    // to read
  std::vector<std::filesystem::path> folders = {};  // to read, with all files below
  std::vector<std::filesystem::path> listed = {};   // folders in which only the names are read
  // Files to create, write and replace. Landlock has no rule for a file that does not exist, so the
  // command may do so with all files of the folder.
  std::vector<std::filesystem::path> outputs = {};
  std::vector<std::filesystem::path> output_folders = {};  // to create, with all files below
  bool scratch = false;                                    // creates a ScratchFile
};

// What the kernel supports.
struct Confined {
  bool files = false;         // Landlock
  bool system_calls = false;  // seccomp filters
};

// Confines this process for good, as far as the kernel supports it. Open files stay usable. Call it
// before any thread starts.
Confined enter_sandbox(const Reach& reach);

}  // namespace htmtrace
