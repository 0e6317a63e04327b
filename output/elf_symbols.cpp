// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/elf_symbols.h"

#include "core/error.h"

#ifdef HTMTRACE_HAVE_LIBELF

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace htmtrace {
namespace {

constexpr uint64_t kPageMask = ~uint64_t{0xffff};  // segments are placed in units of 64 KiB pages

class OpenElf {
 public:
  explicit OpenElf(const std::filesystem::path& path) : name_(path.string()) {
    if (elf_version(EV_CURRENT) == EV_NONE) throw failure();
    fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ < 0) throw Error("cannot open " + name_, errno);
    elf_ = elf_begin(fd_, ELF_C_READ, nullptr);
    if (elf_ == nullptr || elf_kind(elf_) != ELF_K_ELF) {
      close();
      throw Error("cannot use " + name_ + ": it is no ELF file");
    }
  }
  ~OpenElf() { close(); }
  OpenElf(const OpenElf&) = delete;
  OpenElf& operator=(const OpenElf&) = delete;

  Elf* get() const { return elf_; }
  Error failure() const { return Error("cannot use " + name_ + ": " + elf_errmsg(-1)); }

  // The section of this type that comes first; null when there is none.
  Elf_Scn* section(uint32_t type, GElf_Shdr& header) const {
    Elf_Scn* section = nullptr;
    while ((section = elf_nextscn(elf_, section)) != nullptr) {
      if (gelf_getshdr(section, &header) != nullptr && header.sh_type == type) return section;
    }
    return nullptr;
  }

  uint64_t first_segment() const {
    size_t count = 0;
    if (elf_getphdrnum(elf_, &count) != 0) throw failure();
    for (size_t i = 0; i < count; i++) {
      GElf_Phdr header;
      if (gelf_getphdr(elf_, static_cast<int>(i), &header) != nullptr && header.p_type == PT_LOAD) {
        return header.p_vaddr & kPageMask;
      }
    }
    return 0;
  }

 private:
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

size_t add_elf_symbols(const std::filesystem::path& path, std::optional<uint64_t> loaded_at,
                       SymbolTable& table) {
  const OpenElf elf(path);
  GElf_Shdr header;
  Elf_Scn* section = elf.section(SHT_SYMTAB, header);
  if (section == nullptr) section = elf.section(SHT_DYNSYM, header);
  if (section == nullptr) throw Error("cannot use " + path.string() + ": it has no symbols");
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) throw elf.failure();
  const uint64_t moved = loaded_at ? *loaded_at - elf.first_segment() : 0;
  size_t added = 0;
  for (size_t i = 0; i < header.sh_size / header.sh_entsize; i++) {
    GElf_Sym symbol;
    if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) break;
    const unsigned type = GELF_ST_TYPE(symbol.st_info);
    if ((type != STT_FUNC && type != STT_OBJECT) || symbol.st_shndx == SHN_UNDEF) continue;
    const char* name = elf_strptr(elf.get(), header.sh_link, symbol.st_name);
    if (name == nullptr || *name == '\0') continue;
    table.add({symbol.st_value + moved, symbol.st_size, name});
    added++;
  }
  return added;
}

}  // namespace htmtrace

#else

namespace htmtrace {

bool can_read_elf() {
  return false;
}

size_t add_elf_symbols(const std::filesystem::path& path, std::optional<uint64_t>, SymbolTable&) {
  throw Error("cannot read the symbols of " + path.string() +
              ": htmtrace was built without libelf");
}

}  // namespace htmtrace

#endif
