// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/traces/program_files.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "cli/messages.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/base/plain_text.h"
#include "output/symbols/elf_symbols.h"

namespace htmtrace {
namespace {

std::string_view name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// The kernel's files in /proc and in tracefs are regular files whose open or read can have effects,
// but the kernel states no size for them.
bool has_recorded_size(const ProgramMaps::File& file) {
  struct stat facts {};
  return file.content && ::stat(file.path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
         facts.st_size > 0 && static_cast<uint64_t>(facts.st_size) == file.content->size_bytes;
}

// The bytes up to the field e_machine of the ELF header have the same layout in all classes (System
// V ABI, chapter 4). stat(2) comes first, because the open of a device can have effects.
bool is_power_program(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return false;
  const Fd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  std::array<unsigned char, 20> header{};
  if (!file || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode) ||
      ::read(file.get(), header.data(), header.size()) != static_cast<ssize_t>(header.size())) {
    return false;
  }
  const bool little = header[EI_DATA] == ELFDATA2LSB;
  return std::memcmp(header.data(), ELFMAG, SELFMAG) == 0 && header[EI_CLASS] == ELFCLASS64 &&
         header[little ? 18 : 19] == EM_PPC64 && header[little ? 19 : 18] == 0;
}

// The mappings of a file with different load addresses.
std::vector<const CodeMapping*> loads_of(const ProgramMaps::File& file) {
  std::vector<const CodeMapping*> loads;
  std::set<uint64_t> seen;
  for (const CodeMapping& mapping : file.mappings) {
    if (seen.insert(mapping.address - mapping.offset).second) loads.push_back(&mapping);
  }
  return loads;
}

// Limits the load addresses that get names. Each address of a file takes the memory of the whole
// file, and a script runs one program at hundreds of addresses.
class LoadRoom {
 public:
  // Returns false if there is no room for the names of the file at one more address.
  bool take(const std::string& path, const SymbolTable& table) {
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) return true;  // add_elf_symbols() states the error
    const bool again = seen_.contains({facts.st_dev, facts.st_ino});
    const uint64_t more_bytes = again ? static_cast<uint64_t>(facts.st_size) : 0;
    if (table.programs().size() >= SymbolTable::kMostPrograms ||
        more_bytes > kMostRepeatedBytes - repeated_bytes_) {
      left_++;
      return false;
    }
    seen_.insert({facts.st_dev, facts.st_ino});
    repeated_bytes_ += more_bytes;
    return true;
  }

  void warn() const {
    if (left_ == 0) return;
    print_warning(fmt::format(
        "{} of program files have no names: htmtrace names at most {}, and at most {} MiB of files "
        "that it has named at another address",
        counted(left_, "load address"), SymbolTable::kMostPrograms, kMostRepeatedBytes >> 20));
  }

 private:
  static constexpr uint64_t kMostRepeatedBytes = uint64_t{256} << 20;
  std::set<std::pair<dev_t, ino_t>> seen_;
  uint64_t repeated_bytes_ = 0;
  size_t left_ = 0;
};

// Returns null unless the recording has exactly one such file.
const ProgramMaps::File* recorded_file_like(const std::string& path, const ProgramMaps& maps) {
  std::error_code failure;
  const std::string whole = std::filesystem::weakly_canonical(path, failure).string();
  const auto same = [&](const ProgramMaps::File& file) { return file.path == whole; };
  const auto alike = [&](const ProgramMaps::File& file) {
    return name_of(file.path) == name_of(path);
  };
  const bool known = std::ranges::any_of(maps.files, same);
  const ProgramMaps::File* found = nullptr;
  for (const ProgramMaps::File& file : maps.files) {
    if (known ? !same(file) : !alike(file)) continue;
    if (found != nullptr) return nullptr;
    found = &file;
  }
  return found;
}

// Reads each file of this machine once, even if a recording lists it many times.
class Contents {
 public:
  std::optional<FileContent> of(const std::string& path) {
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) return std::nullopt;
    const auto [place, added] = known_.try_emplace({facts.st_dev, facts.st_ino});
    if (added) place->second = content_of(path);
    return place->second;
  }

 private:
  std::map<std::pair<dev_t, ino_t>, std::optional<FileContent>> known_;
};

// Returns why the file gives no names; empty if it does.
std::string mismatch_of(const ProgramMaps::File& file, Contents& contents) {
  constexpr const char* kDiffers = "it differs from the recorded file";
  if (!file.content) return "it was gone, changed during the recording, unreadable or too large";
  std::error_code failure;
  if (!std::filesystem::exists(file.path, failure)) return "it does not exist";
  if (::access(file.path.c_str(), R_OK) != 0) return "it is not readable";
  if (std::filesystem::is_regular_file(file.path, failure) && !has_recorded_size(file)) {
    return kDiffers;
  }
  if (!is_power_program(file.path)) return "it is not a program for POWER";
  return contents.of(file.path) == file.content ? "" : kDiffers;
}

void warn_of_files(const std::set<std::string>& reasons) {
  if (reasons.empty()) return;
  constexpr size_t kMostShown = 5;
  std::string text;
  size_t left = kMostShown;
  for (const std::string& reason : reasons) {
    if (left-- == 0) break;
    text += (text.empty() ? "" : "; ") + reason;
  }
  if (reasons.size() > kMostShown) text += fmt::format("; {} more", reasons.size() - kMostShown);
  print_warning("recorded program files give no names: " + text,
                "for a copy of a file, pass --elf FILE");
}

}  // namespace

std::vector<std::string> usable_files(const ProgramMaps& maps) {
  std::vector<std::string> files;
  for (const ProgramMaps::File& file : maps.files) {
    if (has_recorded_size(file) && is_power_program(file.path)) files.push_back(file.path);
  }
  return files;
}

void add_named_file(const std::string& path, const ProgramMaps& maps, SymbolTable& table) {
  const ProgramMaps::File* const file = recorded_file_like(path, maps);
  if (file == nullptr) {
    add_elf_symbols(path, std::nullopt, table);
    return;
  }
  LoadRoom room;
  for (const CodeMapping* mapping : loads_of(*file)) {
    if (!room.take(path, table)) continue;
    add_elf_symbols(path, std::nullopt, table, {.path = file->path, .mapping = mapping});
  }
  room.warn();
}

void add_recorded_files(const ProgramMaps& maps, const std::vector<std::string>& given,
                        SymbolTable& table) {
  struct Load {
    const ProgramMaps::File* file;
    const CodeMapping* mapping;
  };
  std::vector<Load> first, others;
  std::set<std::string> reasons;
  const auto refuse = [&](const ProgramMaps::File& file, const std::string& reason) {
    reasons.insert(fmt::format("{} ({})", without_controls(file.path), reason));
  };
  std::set<const ProgramMaps::File*> named;
  Contents contents;
  for (const std::string& path : given) named.insert(recorded_file_like(path, maps));
  for (const ProgramMaps::File& file : maps.files) {
    if (named.contains(&file)) continue;
    if (const std::string reason = mismatch_of(file, contents); !reason.empty()) {
      refuse(file, reason);
      continue;
    }
    const std::vector<const CodeMapping*> loads = loads_of(file);
    for (const CodeMapping* load : loads) {
      (load == loads.front() ? first : others).push_back({&file, load});
    }
  }
  // Each file comes first with one address.
  first.insert(first.end(), others.begin(), others.end());
  LoadRoom room;
  for (const Load& load : first) {
    if (!room.take(load.file->path, table)) continue;
    try {
      add_elf_symbols(load.file->path, std::nullopt, table,
                      {.path = load.file->path, .mapping = load.mapping, .is_automatic = true});
    } catch (const Error& error) {
      reasons.insert(error.what());  // names the file
    }
  }
  warn_of_files(reasons);
  room.warn();
}

}  // namespace htmtrace
