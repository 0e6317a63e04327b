// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/source_lines/line_program.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "output/source_lines/shared_texts.h"

namespace htmtrace {
namespace {

// DWARF 5, 7.22, figures 7.25 to 7.27.
enum StandardOpcode : uint8_t {
  kCopy = 1,
  kAdvancePc,
  kAdvanceLine,
  kSetFile,
  kSetColumn,
  kNegateStatement,
  kBasicBlock,
  kConstAddPc,
  kFixedAdvancePc,
};
enum ExtendedOpcode : uint8_t { kEndSequence = 1, kSetAddress, kDefineFile };
enum Content : uint64_t { kPath = 1, kFolderIndex = 2 };
// DWARF 5, 7.5.6, figure 7.5: the forms that the tables of file names may have.
enum Form : uint64_t {
  kBlock2 = 0x03,
  kBlock4 = 0x04,
  kData2 = 0x05,
  kData4 = 0x06,
  kData8 = 0x07,
  kString = 0x08,
  kBlock = 0x09,
  kBlock1 = 0x0a,
  kData1 = 0x0b,
  kStrp = 0x0e,
  kUdata = 0x0f,
  kData16 = 0x1e,
  kLineStrp = 0x1f,
};

// A unit of 64 bits begins with this length (DWARF 5, 7.4).
constexpr uint64_t kLong = 0xffffffff;
constexpr uint64_t kLeastReserved = 0xfffffff0;

// The bytes of the text, which may extend beyond its end: many files may have the same long text.
std::string_view text_at(std::span<const std::byte> section, uint64_t offset) {
  if (offset >= section.size()) throw Error("a file name is outside of its section");
  const auto bytes = section.subspan(offset);
  return {reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), kMostNameBytes)};
}

std::string_view ended(std::string_view text) {
  return text.substr(0, text.find('\0'));
}

// Skips the value, or returns it if it is a number.
uint64_t number_of(ByteReader& reader, uint64_t form, unsigned offset_bytes) {
  switch (form) {
    case kData1:
      return reader.number(1);
    case kData2:
      return reader.number(2);
    case kData4:
      return reader.number(4);
    case kData8:
      return reader.number(8);
    case kUdata:
      return reader.uleb();
    case kData16:  // MD5
      reader.skip(16);
      return 0;
    case kBlock:
      reader.skip(reader.uleb());
      return 0;
    case kBlock1:
      reader.skip(reader.number(1));
      return 0;
    case kBlock2:
      reader.skip(reader.number(2));
      return 0;
    case kBlock4:
      reader.skip(reader.number(4));
      return 0;
    case kString:
      reader.text();
      return 0;
    case kStrp:
    case kLineStrp:
      return reader.number(offset_bytes);
    default:
      throw Error(fmt::format("a table of files has the unknown form {:#x}", form));
  }
}

void append(std::string& path, std::string_view part) {
  if (part.empty()) return;
  if (!path.empty() && !path.ends_with('/')) path += '/';
  path += part;
}

}  // namespace

struct LineProgram::Header {
  unsigned offset_bytes = 4;
  unsigned address_bytes = 8;
  uint64_t least_step = 1;
  int64_t line_base = 0;
  uint64_t line_range = 1;
  uint8_t opcode_base = 1;
  std::vector<uint8_t> operands;  // of each standard opcode, from 1
};

LineProgram::LineProgram(const LineSections& sections, uint64_t offset,
                         const std::function<bool(uint64_t)>& is_code, MemoryBudget& budget,
                         WorkBudget& work, Keep keep)
    : sections_(sections), budget_(budget), work_(work), keep_(keep) {
  ByteReader section(sections.line, sections.big_endian);
  section.skip(offset);
  Header header;
  uint64_t bytes = section.number(4);
  if (bytes == kLong) {
    header.offset_bytes = 8;
    bytes = section.number(8);
  } else if (bytes >= kLeastReserved) {
    throw Error("it has an unknown length");
  }
  ByteReader unit = section.part(bytes);
  if (!work_.spend(bytes)) throw Error("too many units have it");
  version_ = static_cast<unsigned>(unit.number(2));
  if (version_ < 2 || version_ > 5) throw Error(fmt::format("it has version {}", version_));
  if (version_ >= 5) {
    header.address_bytes = unit.byte();
    unit.skip(1);  // the size of segment selectors
  }
  if (header.address_bytes != 8 && header.address_bytes != 4) {
    throw Error(fmt::format("its addresses have {} bytes", header.address_bytes));
  }
  ByteReader names = unit.part(unit.number(header.offset_bytes));
  read_names(names, header);
  run(unit, header, is_code);
}

void LineProgram::read_names(ByteReader& reader, Header& header) {
  header.least_step = reader.byte();
  if (version_ >= 4) reader.skip(1);  // operations of an instruction: no processor of ours has them
  begins_statements_ = reader.byte() != 0;
  const uint8_t base = reader.byte();
  header.line_base = base < 128 ? base : int64_t{base} - 256;  // a signed byte
  header.line_range = reader.byte();
  header.opcode_base = reader.byte();
  if (header.line_range == 0 || header.opcode_base == 0) throw Error("its header is damaged");
  for (unsigned i = 1; i < header.opcode_base; i++) header.operands.push_back(reader.byte());
  if (version_ >= 5) return read_tables(reader, header);
  while (true) {
    const std::string_view folder = reader.text();
    if (folder.empty()) break;
    budget_.take(grown_bytes<std::string_view>());
    folders_.push_back(folder);
  }
  while (true) {
    File file{.name = reader.text()};
    if (file.name.empty()) break;
    file.folder = reader.uleb();
    reader.uleb();  // time
    reader.uleb();  // size
    add_file(file);
  }
}

void LineProgram::add_file(const File& file) {
  budget_.take(grown_bytes<File>());
  files_.push_back(file);
}

void LineProgram::read_tables(ByteReader& reader, const Header& header) {
  for (const File& folder : read_table(reader, header)) folders_.push_back(folder.name);
  files_ = read_table(reader, header);
}

std::vector<LineProgram::File> LineProgram::read_table(ByteReader& reader, const Header& header) {
  std::vector<std::pair<uint64_t, uint64_t>> formats;  // content and form
  for (unsigned left = reader.byte(); left > 0; left--) {
    const uint64_t content = reader.uleb();
    formats.emplace_back(content, reader.uleb());
  }
  const uint64_t count = reader.uleb();
  // Each form takes at least one byte, unless it is a block without content.
  if (count > reader.left() || (count != 0 && formats.empty())) {
    throw Error("a table of files is longer than its header");
  }
  std::vector<File> files;
  for (uint64_t i = 0; i < count; i++) {
    File file;
    for (const auto& [content, form] : formats) {
      if (content == kPath) {
        file.name = text_of(reader, form, header);
      } else {
        const uint64_t value = number_of(reader, form, header.offset_bytes);
        if (content == kFolderIndex) file.folder = value;
      }
    }
    budget_.take(grown_bytes<File>() + grown_bytes<std::string_view>());
    files.push_back(file);
  }
  return files;
}

std::string_view LineProgram::text_of(ByteReader& reader, uint64_t form,
                                      const Header& header) const {
  if (form == kString) return reader.text();
  if (form == kLineStrp) return text_at(sections_.line_str, reader.number(header.offset_bytes));
  if (form == kStrp) return text_at(sections_.str, reader.number(header.offset_bytes));
  throw Error(fmt::format("a file name has the unknown form {:#x}", form));
}

void LineProgram::run(ByteReader& reader, Header& header,
                      const std::function<bool(uint64_t)>& is_code) {
  size_t first = rows_.size();
  const Row begin{.address = 0, .file = 1, .line = 1, .is_statement = begins_statements_};
  Row row = begin;
  const auto advance = [&](uint64_t steps) { row.address += steps * header.least_step; };
  while (!reader.at_end()) {
    const uint8_t opcode = reader.byte();
    if (opcode >= header.opcode_base) {
      const unsigned special = opcode - header.opcode_base;
      advance(special / header.line_range);
      row.line += static_cast<uint32_t>(header.line_base +
                                        static_cast<int64_t>(special % header.line_range));
      add_row(first, row);
      continue;
    }
    switch (opcode) {
      case 0: {
        ByteReader extended = reader.part(reader.uleb());
        if (extended.at_end()) break;
        switch (extended.byte()) {
          case kEndSequence:
            end_sequence(first, row.address, is_code);
            first = rows_.size();
            row = begin;
            break;
          case kSetAddress:
            if (extended.left() == 8 || extended.left() == 4) {
              row.address = extended.number(static_cast<unsigned>(extended.left()));
            } else {
              throw Error("an address has an unknown size");
            }
            break;
          case kDefineFile: {
            File file{.name = extended.text()};
            file.folder = extended.uleb();
            add_file(file);
            break;
          }
          default:
            break;
        }
        break;
      }
      case kCopy:
        add_row(first, row);
        break;
      case kAdvancePc:
        advance(reader.uleb());
        break;
      case kAdvanceLine:
        row.line += static_cast<uint32_t>(reader.sleb());
        break;
      case kSetFile:
        row.file = static_cast<uint32_t>(std::min<uint64_t>(reader.uleb(), ~uint32_t{0}));
        break;
      case kSetColumn:
        row.column = static_cast<uint16_t>(std::min<uint64_t>(reader.uleb(), 0xffff));
        break;
      case kNegateStatement:
        row.is_statement = !row.is_statement;
        break;
      case kConstAddPc:
        advance((0xffU - header.opcode_base) / header.line_range);
        break;
      case kFixedAdvancePc:
        row.address += reader.number(2);
        break;
      default:  // an opcode without effect here, or of a later version
        for (unsigned left = header.operands[opcode - 1U]; left > 0; left--) reader.uleb();
        break;
    }
  }
  rows_.resize(first);  // rows without an end
  rows_.shrink_to_fit();
  std::ranges::stable_sort(sequences_, {}, &Sequence::end);
}

// If several rows have one address, the last row applies. A row that equals its predecessor changes
// nothing.
void LineProgram::add_row(size_t first, const Row& row) {
  if (keep_ == Keep::kChanges && rows_.size() > first) {
    Row& last = rows_.back();
    if (last.address == row.address) {
      last = row;
      return;
    }
    if (last.file == row.file && last.line == row.line) return;
  }
  budget_.take(grown_bytes<Row>());
  if (!work_.spend(sizeof(Row))) throw Error("the tables of all units have too many rows");
  rows_.push_back(row);
}

void LineProgram::end_sequence(size_t first, uint64_t end,
                               const std::function<bool(uint64_t)>& is_code) {
  if (rows_.size() == first) return;
  const uint64_t begin = rows_[first].address;
  if (begin >= end || !is_code(begin)) {
    rows_.resize(first);
    return;
  }
  // The standard requires rows in the order of their addresses.
  const auto from = rows_.begin() + static_cast<std::ptrdiff_t>(first);
  std::ranges::stable_sort(from, rows_.end(), {}, &Row::address);
  budget_.take(grown_bytes<Sequence>());
  sequences_.push_back({.begin = begin, .end = end, .first = first, .last = rows_.size()});
}

LineProgram::Found LineProgram::find(uint64_t address) const {
  const auto sequence = std::ranges::upper_bound(sequences_, address, {}, &Sequence::end);
  if (sequence == sequences_.end() || address < sequence->begin) return {};
  const auto first = rows_.begin() + static_cast<std::ptrdiff_t>(sequence->first);
  const auto last = rows_.begin() + static_cast<std::ptrdiff_t>(sequence->last);
  const auto after = std::ranges::upper_bound(first, last, address, {}, &Row::address);
  if (after == first) return {};
  return {.row = &*(after - 1), .end = after == last ? sequence->end : after->address};
}

std::string LineProgram::path_of(uint32_t file, std::string_view compilation) const {
  if (version_ < 5 && file-- == 0) return {};
  if (file >= files_.size()) return {};
  const File& found = files_[file];
  const std::string_view name = ended(found.name);
  if (name.empty() || name.starts_with('/')) return std::string(name.substr(0, kMostNameBytes));
  std::string_view folder;
  // Up to version 4, 0 is the folder of the compilation, which the table lacks.
  const uint64_t index = found.folder - (version_ < 5 ? 1 : 0);
  if (index < folders_.size()) folder = ended(folders_[index]).substr(0, kMostNameBytes);
  std::string path;
  if (!folder.starts_with('/')) append(path, compilation);
  append(path, folder);
  append(path, name.substr(0, kMostNameBytes));
  path.resize(std::min(path.size(), kMostNameBytes));
  return path;
}

}  // namespace htmtrace
