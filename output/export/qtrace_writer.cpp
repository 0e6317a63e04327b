// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/export/qtrace_writer.h"

#include "core/base/big_endian.h"
#include "output/report/count_lines.h"

namespace htmtrace {

// The instruction is the first one of the trace, of the part, or after a gap. The header for the
// first instruction of a part depends on the preceding part, so follow() writes it.
void QtraceWriter::begin(uint64_t ea, Page page) {
  if (!inside_) return put_header(ea, page);
  inside_ = false;
  first_ = {ea, page};
  first_there_ = true;
  page_ = page;
}

void QtraceWriter::put_header(uint64_t ea, Page page) {
  constexpr uint16_t kFileHeader = 0x0002;  // in the second word of flags
  constexpr uint16_t kHasVersion = 0x4000;
  constexpr uint16_t kHasIar = 0x2000;
  constexpr uint16_t kHasIarPage = 0x0800;
  constexpr uint16_t kHasIarPageSize = 0x0040;
  constexpr uint32_t kVersion = 0x07010000;
  const bool has_page = page.known() != 0;
  auto* at = reinterpret_cast<std::byte*>(output_.room());
  store_be32(at, 0);
  store_be16(at + 4, qtrace::kMoreFlags);
  store_be16(at + 6, kFileHeader);
  store_be16(at + 8, kHasVersion | kHasIar | (has_page ? kHasIarPage | kHasIarPageSize : 0));
  store_be32(at + 10, kVersion);
  store_be64(at + 14, ea);
  at += 22;
  if (has_page) {
    store_be32(at, page.number());
    at[4] = std::byte{page.shift()};
    at += 5;
  }
  output_.commit(reinterpret_cast<char*>(at));
  page_ = page;
  counts_.headers++;
}

// A prefixed instruction has two records. As in qtrace-tools, the first record holds the data.
char* QtraceWriter::put_prefix(char* to) {
  counts_.records++;
  return qtrace::put(to, {.word = held_.prefix,
                          .data = held_.has_data ? 1U : 0U,
                          .data_ea = held_.data_ea,
                          .data_page = held_.data_page,
                          .page = {}});
}

std::string describe(const QtraceCounts& counts) {
  CountLines lines;
  lines.always("qtrace: records", counts.records);
  lines.always("qtrace: headers", counts.headers);
  lines.if_any("qtrace: instructions left out", counts.unwritable);
  lines.if_any("qtrace: pages left out", counts.pages_left_out);
  lines.if_any("qtrace: accesses left out", counts.second_accesses);
  return lines.take();
}

}  // namespace htmtrace
