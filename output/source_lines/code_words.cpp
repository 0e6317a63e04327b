// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/source_lines/code_words.h"

#ifdef HTMTRACE_HAVE_LIBDW

#include <gelf.h>
#include <libelf.h>

#include "core/base/error.h"
#include "core/base/system_failure.h"
#include "output/source_lines/byte_reader.h"
#include "output/source_lines/debug_file.h"
#include "output/source_lines/entry_texts.h"

namespace htmtrace {
namespace {

// Power ISA 3.1, Book I, 1.6.3: the primary opcode of a prefix.
constexpr unsigned kPrefixOpcode = 1;

void visit_section(Elf_Scn* section, const GElf_Shdr& header, bool big_endian,
                   const std::function<void(uint64_t, uint32_t)>& visit) {
  ByteReader words(bytes_of(section), big_endian);
  uint64_t address = header.sh_addr;
  while (words.left() >= 4) {
    const auto word = static_cast<uint32_t>(words.number(4));
    visit(address, word);
    address += 4;
    if (word >> 26 != kPrefixOpcode || words.left() < 4) continue;
    words.skip(4);
    address += 4;
  }
}

void visit_file(const std::filesystem::path& program, WorkBudget& work,
                const std::function<void(uint64_t, uint32_t)>& visit) {
  const ElfFile file(program);
  GElf_Ehdr elf;
  if (gelf_getehdr(file.get(), &elf) == nullptr || elf.e_machine != EM_PPC64) return;
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(file.get(), section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_PROGBITS ||
        (header.sh_flags & SHF_EXECINSTR) == 0) {
      continue;
    }
    // Sections may overlap, so that their sum is far larger than the file.
    if (!work.spend(header.sh_size)) {
      throw Error("cannot read the code of " + program.string() + ": its sections overlap");
    }
    visit_section(section, header, elf.e_ident[EI_DATA] == ELFDATA2MSB, visit);
  }
}

}  // namespace

void visit_code(const std::filesystem::path& program, WorkBudget& work,
                const std::function<void(uint64_t, uint32_t)>& visit) {
  check_system(program, [&] { visit_file(program, work, visit); });
}

}  // namespace htmtrace

#else

namespace htmtrace {

void visit_code(const std::filesystem::path&, WorkBudget&,
                const std::function<void(uint64_t, uint32_t)>&) {}

}  // namespace htmtrace

#endif
