// SPDX-License-Identifier: GPL-2.0-or-later
// Reads qtrace files for tests. This reader shares no code with the writer, supports every field
// that other readers support, and rejects the files that they reject.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

namespace htmtrace {

class QtraceReader {
 public:
  struct Record {
    uint64_t ea = 0;
    uint32_t word = 0;
    std::optional<uint64_t> real;  // by the last page in the trace
    std::optional<uint64_t> data_ea;
    std::optional<uint64_t> data_real;
    std::optional<unsigned> termination;
    bool jumps = false;
    bool first = false;  // the record after a header
  };

  explicit QtraceReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::vector<Record> read() {
    std::vector<Record> records;
    bool behind_header = false;
    while (at_ < bytes_.size()) {
      const auto word = static_cast<uint32_t>(number(4));
      const bool suffix = !records.empty() && !behind_header && records.back().word >> 26 == 1;
      if (word == 0 && !suffix) {
        header();
        behind_header = true;
        continue;
      }
      if (headers_ == 0) throw std::runtime_error("does not start with a header");
      records.push_back(record(word));
      records.back().first = behind_header;
      behind_header = false;
    }
    return records;
  }

  unsigned headers() const { return headers_; }

 private:
  struct Flags {
    unsigned one = 0, two = 0, three = 0;
  };

  uint64_t number(unsigned bytes) {
    if (bytes_.size() - at_ < bytes) throw std::runtime_error("ends inside a record");
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
      value = value << 8 | std::to_integer<uint64_t>(bytes_[at_++]);
    return value;
  }
  unsigned small(unsigned bytes) { return static_cast<unsigned>(number(bytes)); }

  void header() {
    if (number(2) != 1) throw std::runtime_error("flags of a header");
    const unsigned two = small(2);
    if ((two & ~3U) != 0 || (two & 2) == 0) throw std::runtime_error("flags2 of a header");
    const unsigned three = (two & 1) != 0 ? small(2) : 0;
    const unsigned flags = small(2);
    if ((flags & ~0xf852U) != 0) throw std::runtime_error("flags of the header's fields");
    if ((flags & 0x8000) != 0) number(4);
    version_ = (flags & 0x4000) != 0 ? small(4) : 0;
    if ((flags & 0x2000) != 0) next_ = number(8);
    if ((flags & 0x1000) != 0) number(7);
    page_.reset();
    if ((flags & 0x0800) != 0) {
      if ((two & 1) != 0) radix(three >> 10 & 3, three >> 8 & 3);
      page_ = number(4);
    }
    shift_ = (flags & 0x0040) != 0 ? small(1) : 16;
    if ((flags & 0x0010) != 0) number(1);
    if ((three & 0x0080) != 0) number(8);
    if ((three & 0x0040) != 0) number(8);
    if ((three & 0x0020) != 0) number(4);
    if ((flags & 0x0002) != 0) {
      for (unsigned left = small(2); left != 0; left--) number(1);
    }
    headers_++;
  }

  void radix(unsigned host, unsigned guest) {
    if (host != 0) return;
    if (guest != 0) {
      for (int i = 0; i < 4; i++) number(8);
      return;
    }
    const unsigned levels = small(1);
    const unsigned walks = small(1);
    if (levels > 4 || walks > 5 || walks == 0) throw std::runtime_error("size of a radix block");
    for (unsigned i = 0; i < walks * levels + (walks - 1) + walks; i++) number(8);
  }

  void registers() {
    constexpr std::array<unsigned, 5> kEntryBytes = {1 + 8, 1 + 8, 2 + 16, 2 + 16, 2 + 8};
    std::array<unsigned, 10> counts{};
    for (unsigned i = 0; i < counts.size(); i++) {
      if (i % 5 == 3 && version_ < 0x07000000) continue;
      counts.at(i) = small(1);
    }
    for (unsigned i = 0; i < counts.size(); i++) {
      for (unsigned left = counts.at(i) * kEntryBytes.at(i % 5); left != 0; left--) number(1);
    }
  }

  Record record(uint32_t word) {
    Record record;
    record.ea = next_;
    record.word = word;
    record.real = real_of(next_);
    Flags flags{.one = small(2)};
    if ((flags.one & 1) != 0) flags.two = small(2);
    if ((flags.two & 1) != 0) flags.three = small(2);
    if ((flags.one & 0x0006) != 0 || (flags.two & ~0x532dU) != 0) {
      throw std::runtime_error("a flag that is not known");
    }
    if ((flags.one & 0x4000) != 0) number(1);
    if ((flags.one & 0x2000) != 0) {
      number(1);
      record.termination = small(1);
    }
    if ((flags.one & 0x1000) != 0) number(1);
    if ((flags.one & 0x0800) != 0) record.data_ea = number(8);
    if ((flags.one & 0x0400) != 0) number(7);
    std::optional<uint64_t> data_page;
    if ((flags.one & 0x0200) != 0) {
      if ((flags.two & 1) != 0) radix(flags.three >> 14 & 3, flags.three >> 12 & 3);
      data_page = number(4);
    }
    next_ += 4;
    record.jumps = (flags.one & 0x8000) != 0;
    if ((flags.one & 0x0040) != 0) next_ = number(8);
    if ((flags.one & 0x0020) != 0) number(7);
    page_of_next(flags);
    if ((flags.one & 0x0008) != 0) registers();
    if ((flags.two & 0x4000) != 0) page_ = number(4);
    if ((flags.two & 0x1000) != 0) number(1);
    if ((flags.two & 0x0020) != 0) shift_ = small(1);
    if ((flags.two & 0x0200) != 0) shift_ = small(1);
    const unsigned data_shift = (flags.two & 0x0100) != 0 ? small(1) : 16;
    if ((flags.two & 0x0008) != 0) number(1);
    if ((flags.two & 0x0004) != 0) number(1);
    if (data_page) record.data_real = real(*data_page, data_shift, record.data_ea.value());
    check(record, flags);
    return record;
  }

  void page_of_next(const Flags& flags) {
    if ((flags.one & 0x0010) == 0) return;
    if ((flags.two & 1) != 0) radix(flags.three >> 10 & 3, flags.three >> 8 & 3);
    page_ = number(4);
  }

  // Checks the properties that a reader requires to follow the branches.
  static void check(const Record& record, const Flags& flags) {
    if (((flags.one & 0x8000) != 0) != ((flags.one & 0x0040) != 0)) {
      throw std::runtime_error("a change of the address without the address, or the reverse");
    }
    if (record.jumps && !record.termination)
      throw std::runtime_error("jumps, and does not say why");
    if (!record.termination) return;
    switch (*record.termination) {
      case 0x08:
        if (!record.jumps) throw std::runtime_error("branches always, and continues after it");
        return;
      case 0x80:
      case 0x40:
        return;
      case 0x10:
        if (!record.jumps) throw std::runtime_error("an exception that leads nowhere");
        return;
      default:
        throw std::runtime_error("a termination code that is not known");
    }
  }

  static uint64_t real(uint64_t page, unsigned shift, uint64_t ea) {
    return page << shift | (ea & ((uint64_t{1} << shift) - 1));
  }
  std::optional<uint64_t> real_of(uint64_t ea) const {
    return page_ ? std::optional(real(*page_, shift_, ea)) : std::nullopt;
  }

  std::span<const std::byte> bytes_;
  size_t at_ = 0;
  unsigned headers_ = 0;
  uint64_t version_ = 0;
  uint64_t next_ = 0;
  std::optional<uint64_t> page_;
  unsigned shift_ = 16;
};

}  // namespace htmtrace
