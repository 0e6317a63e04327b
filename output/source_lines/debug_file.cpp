// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/source_lines/debug_file.h"

#include "core/base/error.h"

#ifdef HTMTRACE_HAVE_LIBDW

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/base/fd.h"

namespace htmtrace {
namespace {

namespace fs = std::filesystem;

// The polynomial of ITU-T V.42, whose checksum .gnu_debuglink has.
constexpr std::array<uint32_t, 256> kCrc32Table = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < table.size(); i++) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; bit++) value = value >> 1 ^ (value & 1 ? 0xedb88320 : 0);
    table.at(i) = value;
  }
  return table;
}();

// Returns nothing if the file cannot be read.
std::optional<uint32_t> crc32_of(const fs::path& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  std::vector<unsigned char> piece(size_t{1} << 20);
  uint32_t crc = ~uint32_t{0};
  while (true) {
    const ssize_t got = ::read(file.get(), piece.data(), piece.size());
    if (got < 0) return std::nullopt;
    if (got == 0) return ~crc;
    for (size_t i = 0; i < static_cast<size_t>(got); i++) {
      crc = kCrc32Table.at((crc ^ piece[i]) & 0xff) ^ crc >> 8;
    }
  }
}

bool is_regular(const fs::path& path) {
  std::error_code failure;
  return fs::is_regular_file(path, failure);
}

// The names by which debug packages, perf and debuginfod store a file.
std::vector<fs::path> by_build_id(const fs::path& folder, const std::string& id) {
  const std::string first = id.substr(0, 2), rest = id.substr(2);
  return {folder / ".build-id" / first / (rest + ".debug"),
          folder / ".build-id" / first / rest / "debug",
          folder / ".build-id" / first / rest / "elf", folder / id / "debuginfo"};
}

// Returns nothing if the file is not an ELF file with debug information.
std::optional<ElfFile> open_with_debug_info(const fs::path& path) {
  if (!is_regular(path)) return std::nullopt;
  try {
    ElfFile file(path);
    if (file.has_debug_info()) return file;
  } catch (const Error&) {
    // Not ELF: another file may be the debug file.
  } catch (const std::system_error&) {
    // Not readable.
  }
  return std::nullopt;
}

std::optional<ElfFile> find_by_build_id(const std::string& id, const DebugFolders& folders) {
  if (id.size() < 4) return std::nullopt;
  for (const fs::path& folder : folders.folders) {
    for (const fs::path& path : by_build_id(folder, id)) {
      std::optional<ElfFile> file = open_with_debug_info(path);
      if (file && file->build_id() == id) return file;
    }
  }
  return std::nullopt;
}

// Returns the file of the link. Sets `refused` to a file that belongs to another program.
std::optional<ElfFile> find_by_link(const ElfFile& program, const ElfFile::Link& link,
                                    const DebugFolders& folders, std::string& refused) {
  std::error_code failure;
  const fs::path whole = fs::weakly_canonical(program.path(), failure);
  const fs::path folder = whole.parent_path();
  std::vector<fs::path> paths = {folder / link.name, folder / ".debug" / link.name};
  for (const fs::path& other : folders.folders) {
    paths.push_back(other / folder.relative_path() / link.name);
    paths.push_back(other / link.name);
  }
  const std::string id = program.build_id();
  for (const fs::path& path : paths) {
    if (path == whole) continue;
    std::optional<ElfFile> file = open_with_debug_info(path);
    if (!file) continue;
    const std::string other = file->build_id();
    const bool same = !id.empty() && !other.empty() ? id == other : crc32_of(path) == link.crc32;
    if (same) return file;
    refused = path.string();
  }
  return std::nullopt;
}

}  // namespace

std::vector<fs::path> debug_files_beside(const fs::path& program) {
  std::error_code failure;
  const fs::path folder = fs::weakly_canonical(program, failure).parent_path();
  std::vector<fs::path> files = {folder / ".debug"};
  fs::directory_iterator entry(folder, failure);
  for (const fs::directory_iterator end; !failure && entry != end; entry.increment(failure)) {
    const fs::path kind = entry->path().extension();
    if (kind == ".debug" || kind == ".dbg") files.push_back(entry->path());
  }
  return files;
}

ElfFile::ElfFile(const fs::path& path) : path_(path) {
  if (elf_version(EV_CURRENT) == EV_NONE) throw Error(elf_errmsg(-1));
  fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0) {
    throw std::system_error(errno, std::generic_category(), "cannot open " + path.string());
  }
  struct stat facts {};
  if (::fstat(fd_, &facts) == 0 && facts.st_size > 0) {
    size_bytes_ = static_cast<uint64_t>(facts.st_size);
  }
  // The file is not mapped: an access would be fatal if another program truncated the file.
  elf_ = elf_begin(fd_, ELF_C_READ, nullptr);
  if (elf_ != nullptr && elf_kind(elf_) == ELF_K_ELF) return;
  const std::string reason = elf_ == nullptr ? elf_errmsg(-1) : "it is not an ELF file";
  close();
  throw Error("cannot use " + path.string() + ": " + reason);
}

ElfFile::~ElfFile() {
  close();
}

ElfFile::ElfFile(ElfFile&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      elf_(std::exchange(other.elf_, nullptr)),
      size_bytes_(other.size_bytes_) {}

ElfFile& ElfFile::operator=(ElfFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(elf_, other.elf_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

void ElfFile::close() {
  if (elf_ != nullptr) elf_end(elf_);
  if (fd_ >= 0) ::close(fd_);
}

bool ElfFile::has_debug_info() const {
  size_t names = 0;
  if (elf_getshdrstrndx(elf_, &names) != 0) return false;
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf_, section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
    const char* const name = elf_strptr(elf_, names, header.sh_name);
    if (name == nullptr) continue;
    const std::string_view text(name);
    if (text == ".debug_info" || text == ".zdebug_info") return true;
  }
  return false;
}

std::string ElfFile::build_id() const {
  const void* bytes = nullptr;
  const ssize_t count = dwelf_elf_gnu_build_id(elf_, &bytes);
  std::string text;
  for (ssize_t i = 0; i < count; i++) {
    text += fmt::format("{:02x}", static_cast<const unsigned char*>(bytes)[i]);
  }
  return text;
}

std::optional<ElfFile::Link> ElfFile::debug_link() const {
  Link link;
  const char* const name = dwelf_elf_gnu_debuglink(elf_, &link.crc32);
  if (name == nullptr || *name == '\0' || std::strchr(name, '/') != nullptr) return std::nullopt;
  link.name = name;
  return link;
}

bool ElfFile::is_relocatable() const {
  GElf_Ehdr header;
  return gelf_getehdr(elf_, &header) != nullptr && header.e_type == ET_REL;
}

ElfFile open_debug_file(const fs::path& program, const DebugFolders& folders) {
  ElfFile file(program);
  if (file.is_relocatable()) {
    throw Error("cannot find the source lines of " + program.string() + ": it is not linked");
  }
  if (file.has_debug_info()) return file;
  const std::string id = file.build_id();
  const std::optional<ElfFile::Link> link = file.debug_link();
  if (std::optional<ElfFile> found = find_by_build_id(id, folders)) return std::move(*found);
  std::string refused;
  if (link) {
    if (std::optional<ElfFile> found = find_by_link(file, *link, folders, refused)) {
      return std::move(*found);
    }
  }
  Error error("no source lines of " + program.string() + ": it has no debug information" +
              (refused.empty() ? "" : ", and " + refused + " belongs to another program"));
  if (!id.empty()) error = std::move(error).on("build ID: " + id);
  throw std::move(error).hint(
      "compile with -g, or install the debug files, or pass --debug-dir DIR");
}

}  // namespace htmtrace

#else

namespace htmtrace {

std::vector<std::filesystem::path> debug_files_beside(const std::filesystem::path&) {
  return {};
}

}  // namespace htmtrace

#endif
