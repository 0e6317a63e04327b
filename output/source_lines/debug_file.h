// SPDX-License-Identifier: GPL-2.0-or-later
// Finds and opens the file with the debug information of a program: the program itself, or a
// separate file. The gdb manual, "Debugging Information in Separate Files", describes their names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct Elf;

namespace htmtrace {

// Where separate debug files are.
struct DebugFolders {
  // Folders of debug files, in the order of the search. Each folder may have files by build ID
  // (.build-id/ab/cdef.debug; the caches of perf and of debuginfod have other names) and files by
  // the folder of the program.
  std::vector<std::filesystem::path> folders = {"/usr/lib/debug"};
};

// The files beside `program` that may be its debug files. A debug link of the program can name any
// file, so only these may become readable in the sandbox.
std::vector<std::filesystem::path> debug_files_beside(const std::filesystem::path& program);

// An open ELF file. For one thread.
class ElfFile {
 public:
  // Throws Error if it is not an ELF file, and std::system_error if it cannot be opened.
  explicit ElfFile(const std::filesystem::path& path);
  ~ElfFile();
  ElfFile(ElfFile&& other) noexcept;
  ElfFile& operator=(ElfFile&& other) noexcept;

  Elf* get() const { return elf_; }
  const std::filesystem::path& path() const { return path_; }
  uint64_t size_bytes() const { return size_bytes_; }

  // Whether it has .debug_info.
  bool has_debug_info() const;
  // The build ID in hexadecimal digits. Empty if the file has no build ID.
  std::string build_id() const;
  struct Link {
    std::string name;
    uint32_t crc32 = 0;
  };
  std::optional<Link> debug_link() const;
  bool is_relocatable() const;

 private:
  void close();

  std::filesystem::path path_;
  int fd_ = -1;
  Elf* elf_ = nullptr;
  uint64_t size_bytes_ = 0;
};

// Opens the program, or its debug file. Skips files of other programs: their build ID differs, or
// their checksum is not the checksum in the link. Throws Error if no file
// has debug information, and std::system_error if the program cannot be opened.
ElfFile open_debug_file(const std::filesystem::path& program, const DebugFolders& folders);

}  // namespace htmtrace
