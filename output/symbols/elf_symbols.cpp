// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/symbols/elf_symbols.h"

#include "core/base/budget.h"
#include "core/base/error.h"

#ifdef HTMTRACE_HAVE_LIBELF

#include <fcntl.h>
#include <fmt/core.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace htmtrace {
namespace {

constexpr uint64_t kLeastPage = 4096;
constexpr uint64_t kPageMask = ~uint64_t{0xffff};  // segments are mapped in pages of 64 KiB

// Linux loads no program whose list of segments is larger than 64 KiB (fs/binfmt_elf.c,
// load_elf_phdrs).
constexpr size_t kMostSegments = (64 << 10) / sizeof(Elf64_Phdr);
// Linkers make fewer than ten loadable segments. The owner of a page is searched among them.
constexpr size_t kMostLoads = 64;
// The notes of a program have a few hundred bytes.
constexpr uint64_t kMostNoteBytes = 64 << 10;

// Labels of the GNU linker's scripts (ld --verbose), of the ELFv2 ABI (3.4.1: .TOC.), and mapping
// symbols.
bool is_linker_label(std::string_view name) {
  constexpr std::string_view kLabels[] = {".TOC.",
                                          "_GLOBAL_OFFSET_TABLE_",
                                          "__bss_start",
                                          "_edata",
                                          "edata",
                                          "_end",
                                          "end",
                                          "_etext",
                                          "etext",
                                          "__etext",
                                          "data_start",
                                          "__data_start",
                                          "__executable_start",
                                          "_PROCEDURE_LINKAGE_TABLE_",
                                          "_DYNAMIC",
                                          "__GNU_EH_FRAME_HDR",
                                          "__dso_handle",
                                          "_IO_stdin_used"};
  if (name.starts_with("$") || name.starts_with(".L")) return true;
  if (name.starts_with("__start_") || name.starts_with("__stop_")) return true;
  if (name.ends_with("_array_start") || name.ends_with("_array_end")) return true;
  if (name.starts_with("__rela_iplt_")) return true;
  return std::find(std::begin(kLabels), std::end(kLabels), name) != std::end(kLabels);
}

// The offset of the local entry from the global entry. ELFv2 ABI, 3.4.1: the three most significant
// bits of st_other encode it. 0 and 1 mean no offset, 7 is reserved, and other values mean 4 bytes
// shifted left by the value minus 2.
uint32_t local_entry_bytes(unsigned char other) {
  const unsigned bits = other >> 5;
  return bits < 2 || bits == 7 ? 0 : 1U << bits;
}

SymbolTable::Symbol symbol_of(const GElf_Sym& symbol, const char* name, const GElf_Shdr& place,
                              uint64_t moved) {
  const unsigned type = GELF_ST_TYPE(symbol.st_info);
  const unsigned bind = GELF_ST_BIND(symbol.st_info);
  const bool is_code = (place.sh_flags & SHF_EXECINSTR) != 0;
  const uint64_t room = place.sh_addr + place.sh_size - symbol.st_value;
  return {.address = symbol.st_value + moved,
          .size_bytes = std::min<uint64_t>(symbol.st_size, room),
          .name = name,
          .kind = type == STT_NOTYPE   ? SymbolTable::Kind::kUntyped
                  : type == STT_OBJECT ? SymbolTable::Kind::kObject
                                       : SymbolTable::Kind::kFunction,
          .binding = bind == STB_LOCAL  ? SymbolTable::Binding::kLocal
                     : bind == STB_WEAK ? SymbolTable::Binding::kWeak
                                        : SymbolTable::Binding::kGlobal,
          .section = is_code ? SymbolTable::Section::kCode : SymbolTable::Section::kData,
          .local_entry_bytes = is_code ? local_entry_bytes(symbol.st_other) : 0,
          .limit = place.sh_addr + place.sh_size + moved};
}

class OpenElf {
 public:
  explicit OpenElf(const std::filesystem::path& path) : name_(path.string()) {
    if (elf_version(EV_CURRENT) == EV_NONE) throw failure().about("cannot use " + name_);
    fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ < 0) throw Error("cannot open " + name_, errno);
    errno = 0;
    elf_ = elf_begin(fd_, ELF_C_READ, nullptr);
    if (elf_ != nullptr && elf_kind(elf_) == ELF_K_ELF) return;
    const Error error = elf_ == nullptr ? failure() : Error("it is not an ELF file");
    close();
    throw error.about("cannot use " + name_);
  }
  ~OpenElf() { close(); }
  OpenElf(const OpenElf&) = delete;
  OpenElf& operator=(const OpenElf&) = delete;

  Elf* get() const { return elf_; }
  // Returns the last error of the library; the caller adds the name of the file. The library reads
  // the file piece by piece and does not report the reason of a failed read. The constructor sets
  // errno to 0, so another value is this reason.
  static Error failure() {
    if (errno == ENOMEM) throw std::bad_alloc();
    return errno != 0 ? Error(std::strerror(errno)) : Error(elf_errmsg(-1));
  }

  // Call it when a part of the file seems to be missing.
  static void throw_if_unread() {
    if (errno != 0) throw failure();
  }

  // Returns the first section of this type, or null if no section has this type.
  Elf_Scn* section(uint32_t type, GElf_Shdr& header) const {
    Elf_Scn* section = nullptr;
    while ((section = elf_nextscn(elf_, section)) != nullptr) {
      if (gelf_getshdr(section, &header) != nullptr && header.sh_type == type) return section;
    }
    return nullptr;
  }

  // Returns whether the symbol is in memory, and sets `place` to its section. Some of the linker's
  // labels point beyond the end of their section.
  bool holds(const GElf_Sym& symbol, GElf_Shdr& place) const {
    const unsigned type = GELF_ST_TYPE(symbol.st_info);
    if (type != STT_FUNC && type != STT_OBJECT && type != STT_NOTYPE && type != STT_GNU_IFUNC) {
      return false;
    }
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE) return false;
    Elf_Scn* section = elf_getscn(elf_, symbol.st_shndx);
    if (section == nullptr || gelf_getshdr(section, &place) == nullptr) return false;
    if ((place.sh_flags & SHF_ALLOC) == 0 || (place.sh_flags & SHF_TLS) != 0) return false;
    return symbol.st_value - place.sh_addr < place.sh_size;
  }

  uint64_t size_bytes() const {
    struct stat facts {};
    if (::fstat(fd_, &facts) != 0) throw Error("cannot read " + name_, errno);
    return static_cast<uint64_t>(facts.st_size);
  }

  size_t segments() const {
    size_t count = 0;
    if (elf_getphdrnum(elf_, &count) != 0) throw failure();
    if (count > kMostSegments) {
      throw Error(fmt::format("it has more than {} segments", kMostSegments));
    }
    return count;
  }

  // The address of the first loadable segment.
  uint64_t first_segment() const {
    for (size_t i = 0; i < segments(); i++) {
      GElf_Phdr header;
      if (gelf_getphdr(elf_, static_cast<int>(i), &header) != nullptr && header.p_type == PT_LOAD) {
        return header.p_vaddr & kPageMask;
      }
    }
    return 0;
  }

  uint16_t type() const {
    GElf_Ehdr header;
    if (gelf_getehdr(elf_, &header) == nullptr) throw failure();
    return header.e_type;
  }

  // The distance from the addresses in the file to the addresses of a process that has this
  // mapping.
  uint64_t distance_to(const CodeMapping& mapping) const {
    for (size_t i = 0; i < segments(); i++) {
      GElf_Phdr header;
      if (gelf_getphdr(elf_, static_cast<int>(i), &header) == nullptr) continue;
      if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
      if (mapping.offset >= header.p_offset + header.p_filesz ||
          header.p_offset >= mapping.offset + mapping.bytes) {
        continue;
      }
      const uint64_t distance =
          mapping.address - mapping.offset - (header.p_vaddr - header.p_offset);
      if (type() == ET_EXEC ? distance == 0 : distance % kLeastPage == 0) return distance;
    }
    throw Error("none of its code fits the recorded mapping");
  }

  bool is_big_endian() const {
    GElf_Ehdr header;
    return gelf_getehdr(elf_, &header) != nullptr && header.e_ident[EI_DATA] == ELFDATA2MSB;
  }

  SymbolTable::Program program(const std::string& file, uint64_t moved,
                               MemoryBudget& budget) const {
    std::error_code unknown_folder;
    SymbolTable::Program program{
        .file = file,
        .source = std::filesystem::absolute(name_, unknown_folder).lexically_normal().string(),
        .begin = ~uint64_t{0},
        .loads = {},
        .texts = {}};
    GElf_Ehdr file_header;
    if (gelf_getehdr(elf_, &file_header) == nullptr) throw failure();
    program.is_main = file_header.e_type == ET_EXEC;
    for (size_t i = 0; i < segments(); i++) {
      GElf_Phdr header;
      if (gelf_getphdr(elf_, static_cast<int>(i), &header) == nullptr) continue;
      if (header.p_type == PT_INTERP) program.is_main = true;
      if (header.p_type == PT_NOTE && program.build_id.empty()) {
        program.build_id = build_id_in(header);
      }
      if (header.p_type != PT_LOAD) continue;
      const uint64_t begin = header.p_vaddr + moved;
      program.begin = std::min(program.begin, begin);
      program.end = std::max(program.end, begin + header.p_memsz);
      if (program.loads.size() == kMostLoads) {
        throw Error(fmt::format("it has more than {} loadable segments", kMostLoads));
      }
      program.loads.push_back(
          {.address = begin, .offset = header.p_offset, .size_bytes = header.p_filesz});
    }
    Elf_Scn* section = nullptr;
    while ((section = elf_nextscn(elf_, section)) != nullptr) {
      add_text(section, moved, is_big_endian(), budget, program);
    }
    return program;
  }

 private:
  // The build ID in the notes of the segment, or an empty text. elf(5), "Notes".
  std::string build_id_in(const GElf_Phdr& segment) const {
    constexpr char kOwner[] = "GNU";  // with the zero
    if (segment.p_filesz > kMostNoteBytes) return {};
    Elf_Data* const notes =
        elf_getdata_rawchunk(elf_, static_cast<int64_t>(segment.p_offset), segment.p_filesz,
                             segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
    if (notes == nullptr || notes->d_buf == nullptr) return {};
    const char* const bytes = static_cast<const char*>(notes->d_buf);
    GElf_Nhdr note;
    size_t name = 0, value = 0;
    for (size_t at = 0; (at = gelf_getnote(notes, at, &note, &name, &value)) != 0;) {
      if (note.n_type != NT_GNU_BUILD_ID || note.n_descsz > SymbolTable::kMostBuildIdBytes ||
          std::string_view(bytes + name, note.n_namesz) !=
              std::string_view(kOwner, sizeof(kOwner))) {
        continue;
      }
      return std::string(bytes + value, note.n_descsz);
    }
    return {};
  }

  // Sections may overlap, so that their sum is far larger than the file.
  static void add_text(Elf_Scn* section, uint64_t moved, bool big, MemoryBudget& budget,
                       SymbolTable::Program& program) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_PROGBITS ||
        (header.sh_flags & SHF_EXECINSTR) == 0) {
      return;
    }
    // The library holds the section, too.
    budget.take(grown_bytes<SymbolTable::Text>());
    budget.take(header.sh_size);
    budget.take(header.sh_size);
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return;
    SymbolTable::Text text{.address = header.sh_addr + moved, .words = {}};
    const auto* bytes = static_cast<const unsigned char*>(data->d_buf);
    text.words.reserve(data->d_size / 4);
    for (size_t at = 0; at + 4 <= data->d_size; at += 4) {
      uint32_t word = 0;
      for (size_t i = 0; i < 4; i++) word = word << 8 | bytes[at + (big ? i : 3 - i)];
      text.words.push_back(word);
    }
    program.texts.push_back(std::move(text));
  }

  void close() {
    if (elf_ != nullptr) elf_end(elf_);
    if (fd_ >= 0) ::close(fd_);
    elf_ = nullptr;
    fd_ = -1;
  }

  std::string name_;
  int fd_ = -1;
  Elf* elf_ = nullptr;
};

}  // namespace

bool can_read_elf() {
  return true;
}

namespace {

size_t add_symbols(const OpenElf& elf, const std::filesystem::path& path, uint64_t moved,
                   const RecordedProgram& recorded, SymbolTable& table) {
  GElf_Shdr header;
  Elf_Scn* section = elf.section(SHT_SYMTAB, header);
  if (section == nullptr) section = elf.section(SHT_DYNSYM, header);
  OpenElf::throw_if_unread();
  if (section == nullptr) throw Error("it has no symbols");
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) throw OpenElf::failure();
  SymbolTable::Program program = elf.program(path.filename().string(), moved, table.budget());
  SymbolTable::File file{
      .path = path.string(), .distance = moved, .begin = program.begin, .end = program.end};
  program.path = recorded.path;
  if (recorded.mapping != nullptr) program.inode = recorded.mapping->inode;
  // Programs that are not position-independent have the same addresses as many others.
  program.may_guess_data = !recorded.is_automatic || elf.type() != ET_EXEC;
  if (owned::is_user(program.begin)) {
    file.program = table.programs().size();
    table.begin_program(std::move(program));
  }
  size_t added = 0;
  for (size_t i = 0; i < header.sh_size / header.sh_entsize; i++) {
    GElf_Sym symbol;
    if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) break;
    GElf_Shdr place;
    if (!elf.holds(symbol, place)) continue;
    const char* const name = elf_strptr(elf.get(), header.sh_link, symbol.st_name);
    if (name == nullptr) OpenElf::throw_if_unread();
    if (name == nullptr || *name == '\0') continue;
    // Symbols may share names, so that all names together are far larger than the file.
    const std::string_view text(name);
    table.budget().take(SymbolTable::memory_bytes(text.size()));
    if (symbol.st_size == 0 && is_linker_label(text)) continue;
    table.add(symbol_of(symbol, name, place, moved));
    added++;
  }
  OpenElf::throw_if_unread();
  table.end_program();
  table.add_file(std::move(file));
  return added;
}

}  // namespace

size_t add_elf_symbols(const std::filesystem::path& path, std::optional<uint64_t> loaded_at,
                       SymbolTable& table, const RecordedProgram& recorded) {
  const OpenElf elf(path);
  table.budget().add_input(elf.size_bytes());
  const size_t earlier = table.programs().size();
  try {
    uint64_t moved = 0;
    if (loaded_at) moved = *loaded_at - elf.first_segment();
    // The user may name a file with other code, for example with debug symbols.
    const bool is_fixed = elf.type() == ET_EXEC && !recorded.is_automatic;
    if (recorded.mapping != nullptr && !is_fixed) moved = elf.distance_to(*recorded.mapping);
    OpenElf::throw_if_unread();
    return add_symbols(elf, path, moved, recorded, table);
  } catch (const Error& error) {
    // A part of the symbols would name the addresses of the missing ones.
    table.drop_programs(earlier);
    throw error.about("cannot use " + path.string());
  }
}

}  // namespace htmtrace

#else

namespace htmtrace {

bool can_read_elf() {
  return false;
}

size_t add_elf_symbols(const std::filesystem::path& path, std::optional<uint64_t>, SymbolTable&,
                       const RecordedProgram&) {
  throw Error("cannot read the symbols of " + path.string() +
              ": htmtrace was built without libelf");
}

}  // namespace htmtrace

#endif
