// SPDX-License-Identifier: GPL-2.0-or-later
// The source lines of one unit of a program: its part of .debug_line. DWARF 2 to 5, 6.2.
//
// libdw sorts the rows of all sequences of a unit by address. The sequences of functions that the
// linker has removed begin at address 0, and their rows would lie between the rows of real code.
// This reader keeps sequences apart, drops the removed ones, and keeps only the needed fields.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/budget.h"
#include "output/source_lines/byte_reader.h"

namespace htmtrace {

// The sections of a file. They must outlive all readers.
struct LineSections {
  std::span<const std::byte> line;      // .debug_line
  std::span<const std::byte> line_str;  // .debug_line_str
  std::span<const std::byte> str;       // .debug_str
  bool big_endian = false;
};

class LineProgram {
 public:
  enum class Keep : uint8_t {
    kChanges,  // the rows that apply to an address and change the line
    kAll,      // all rows, also those of statements without an instruction of their own
  };

  // Accepts any bytes. `is_code` states whether the linker has kept the code at an address.
  // `offset` is the offset of the program in .debug_line. Throws Error if the program is damaged,
  // if its rows would take too much memory, or if too many units have the same program. The rows of
  // all units are work, too: a unit can have many rows in few bytes.
  LineProgram(const LineSections& sections, uint64_t offset,
              const std::function<bool(uint64_t)>& is_code, MemoryBudget& budget, WorkBudget& work,
              Keep keep = Keep::kChanges);

  // A row applies from its address up to the next row.
  struct Row {
    uint64_t address = 0;
    uint32_t file = 0;
    uint32_t line = 0;    // 0: the compiler states no line
    uint16_t column = 0;  // 0: unknown; larger columns count as the largest number
    bool is_statement = true;
  };
  // The row of the address with the end of its range. Null outside the sequences.
  struct Found {
    const Row* row = nullptr;
    uint64_t end = 0;
  };
  Found find(uint64_t address) const;

  // The path of the file: absolute if the compiler's folder, `compilation`, is known. Empty if the
  // program has no file of this number. Longer paths than kMostNameBytes are cut.
  std::string path_of(uint32_t file, std::string_view compilation) const;

  size_t rows() const { return rows_.size(); }
  // Calls visit(row, end) for each row, in the order of addresses in each sequence. The row applies
  // up to `end`; a later row applies at its address if `end` is this address.
  template <class Visit>
  void visit(const Visit& visit) const {
    for (const Sequence& sequence : sequences_) {
      for (size_t i = sequence.first; i < sequence.last; i++) {
        const uint64_t end = i + 1 == sequence.last ? sequence.end : rows_[i + 1].address;
        visit(rows_[i], std::max(end, rows_[i].address));
      }
    }
  }

 private:
  struct Header;
  struct File {
    std::string_view name;  // up to its end in path_of(), or longer
    uint64_t folder = 0;
  };
  struct Sequence {
    uint64_t begin = 0;
    uint64_t end = 0;
    size_t first = 0;  // in rows_
    size_t last = 0;
  };

  void read_names(ByteReader& reader, Header& header);
  void read_tables(ByteReader& reader, const Header& header);
  std::vector<File> read_table(ByteReader& reader, const Header& header);
  std::string_view text_of(ByteReader& reader, uint64_t form, const Header& header) const;
  void run(ByteReader& reader, Header& header, const std::function<bool(uint64_t)>& is_code);
  void add_row(size_t first, const Row& row);
  void end_sequence(size_t first, uint64_t end, const std::function<bool(uint64_t)>& is_code);
  void add_file(const File& file);

  const LineSections& sections_;
  MemoryBudget& budget_;
  WorkBudget& work_;
  Keep keep_;
  bool begins_statements_ = true;  // rows are statements until an opcode states otherwise
  unsigned version_ = 0;
  std::vector<std::string_view> folders_;
  std::vector<File> files_;
  std::vector<Row> rows_;
  std::vector<Sequence> sequences_;  // sorted by their ends
};

}  // namespace htmtrace
