// SPDX-License-Identifier: GPL-2.0-or-later
// Parts of ELF files, and a trace of the code in them.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>

#include "tests/bombs/bomb.h"
#include "tests/encoder/power10.h"

namespace htmtrace::bombs {

inline constexpr uint64_t kCodeAddress = 0x10000000;

// A trace of user code in `lines` lines of 128 bytes.
inline void put_code_trace(unsigned lines) {
  File file("htm.bin.n0.p0.c0");
  file.be64(power10_record(0));
  for (unsigned line = 0; line < lines; line++) {
    const uint64_t address = 0x10000000 + 128 * uint64_t{line};
    put_line(file, address);
    put_instruction(file, address, kUser);
  }
}

inline Elf64_Ehdr elf_header(uint16_t sections, uint64_t sections_offset) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_EXEC;
  header.e_machine = EM_PPC64;
  header.e_version = EV_CURRENT;
  header.e_shoff = sections_offset;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = sections;
  return header;
}

inline Elf64_Shdr section(uint32_t type, uint64_t offset, uint64_t size_bytes) {
  Elf64_Shdr section{};
  section.sh_type = type;
  section.sh_offset = offset;
  section.sh_size = size_bytes;
  section.sh_addralign = 1;
  return section;
}

}  // namespace htmtrace::bombs
