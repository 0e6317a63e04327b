// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/qtrace_writer.h"

namespace htmtrace::qtrace {
namespace {

// The numbers are those that qtrace-tools (public, GPL) reads and writes. No other specification is
// public. htmtrace-qtrace(5).
constexpr uint16_t kMoreFlags = 0x0001;  // of `flags`: a second word of flags follows

// Of the header.
constexpr uint16_t kFileHeader = 0x0002;  // in the second word
constexpr uint16_t kHasVersion = 0x4000;
constexpr uint16_t kHasIar = 0x2000;
constexpr uint16_t kHasIarPage = 0x0800;
constexpr uint16_t kHasIarPageSize = 0x0040;
constexpr uint32_t kVersion = 0x07010000;

// Of a record: its first word of flags. The IAR is the address of the next instruction.
constexpr uint16_t kIarChange = 0x8000;
constexpr uint16_t kNode = 0x4000;
constexpr uint16_t kTermination = 0x2000;
constexpr uint16_t kData = 0x0800;
constexpr uint16_t kDataPage = 0x0200;
constexpr uint16_t kIar = 0x0040;
constexpr uint16_t kIarPage = 0x0010;
// And its second.
constexpr uint16_t kSequentialPage = 0x4000;
constexpr uint16_t kIarPageSize = 0x0200;
constexpr uint16_t kDataPageSize = 0x0100;
constexpr uint16_t kSequentialPageSize = 0x0020;

// Why control goes where it goes.
constexpr uint8_t kUnconditionalBranch = 0x08;
constexpr uint8_t kConditionalBranch = 0x80;
constexpr uint8_t kException = 0x10;

// Puts numbers one behind the other.
class Packer {
 public:
  explicit Packer(char* to) : at_(reinterpret_cast<std::byte*>(to)) {}
  void u8(uint8_t value) { *at_++ = static_cast<std::byte>(value); }
  void u16(uint16_t value) {
    store_be16(at_, value);
    at_ += sizeof(value);
  }
  void u32(uint32_t value) {
    store_be32(at_, value);
    at_ += sizeof(value);
  }
  void u64(uint64_t value) {
    store_be64(at_, value);
    at_ += sizeof(value);
  }
  char* end() const { return reinterpret_cast<char*>(at_); }

 private:
  std::byte* at_;
};

uint8_t termination_of(uint32_t opcode, bool jumps) {
  switch (branch_kind(opcode)) {
    case BranchKind::kUnconditional:
      return kUnconditionalBranch;
    case BranchKind::kConditional:
      return kConditionalBranch;
    case BranchKind::kNone:
      break;
  }
  return jumps ? kException : 0;
}

}  // namespace
}  // namespace htmtrace::qtrace

namespace htmtrace {

void QtraceWriter::put_header(uint64_t ea, const Page& page) {
  using namespace qtrace;
  Packer to(output_.room());
  to.u32(0);
  to.u16(kMoreFlags);
  to.u16(kFileHeader);
  const bool has_page = page.shift != 0;
  to.u16(kHasVersion | kHasIar | (has_page ? kHasIarPage | kHasIarPageSize : 0));
  to.u32(kVersion);
  to.u64(ea);
  if (has_page) {
    to.u32(page.number);
    to.u8(page.shift);
  }
  output_.commit(to.end());
  page_ = page;
  counts_.headers++;
}

// The held instruction, and that `next` follows it, which lies in `next_page` if that is known.
void QtraceWriter::put_held(uint64_t next, const Page& next_page) {
  using namespace qtrace;
  Packer to(output_.room());
  uint64_t behind = held_.ea + 4;
  bool data = held_.has_data;
  uint16_t flags = 0;
  uint16_t more = 0;
  auto add_data = [&] {
    flags |= kData;
    if (held_.data_page.shift == 0) return;
    flags |= kDataPage;
    more |= kDataPageSize;
  };
  auto put_data = [&] {
    to.u64(held_.data_ea);
    if (held_.data_page.shift != 0) to.u32(held_.data_page.number);
  };
  if (held_.prefixed) [[unlikely]] {
    // Two records; the data stand at the first, as qtrace-tools has it.
    flags = kMoreFlags;
    if (data) add_data();
    to.u32(held_.prefix);
    to.u16(flags);
    to.u16(more);
    if (data) put_data();
    if (data && held_.data_page.shift != 0) to.u8(held_.data_page.shift);
    behind += 4;
    data = false;
    counts_.records++;
  }
  flags = kMoreFlags;
  more = 0;
  if (data) add_data();
  // The suffix of a prefixed instruction may look like a branch.
  const bool away = next != behind;
  const uint8_t termination =
      held_.prefixed ? (away ? kException : 0) : termination_of(held_.opcode, away);
  const bool jumps = away || termination == kUnconditionalBranch;
  if (termination != 0) flags |= kNode | kTermination;
  if (jumps) flags |= kIarChange | kIar;
  const bool turns_page = next_page.shift != 0 && next_page != page_;
  if (turns_page) {
    page_ = next_page;
    if (jumps) {
      flags |= kIarPage;
      more |= kIarPageSize;
    } else {
      more |= kSequentialPage | kSequentialPageSize;
    }
  }
  to.u32(held_.opcode);
  to.u16(flags);
  to.u16(more);
  if (termination != 0) {
    to.u8(0);  // node
    to.u8(0);  // termination node
    to.u8(termination);
  }
  if (data) put_data();
  if (jumps) to.u64(next);
  if (turns_page) {
    to.u32(next_page.number);
    to.u8(next_page.shift);
  }
  if (data && held_.data_page.shift != 0) to.u8(held_.data_page.shift);
  output_.commit(to.end());
  counts_.records++;
}

}  // namespace htmtrace
