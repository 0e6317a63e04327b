// SPDX-License-Identifier: GPL-2.0-or-later
// Names for the codes of a bus trace.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace htmtrace::nest {

// Commands of one class share the meaning of their combined responses.
enum class ResponseClass : uint8_t {
  kUnknown,
  kAck,
  kAckBk,
  kClaim,
  kCop,
  kCpwrite,
  kFci,
  kInject,
  kLco,
  kPcl,
  kPoll,
  kRead,
  kRma,
  kRwitm,
  kTm,
  kWrite,
};
inline constexpr unsigned kResponseClasses = 16;
inline constexpr unsigned kResponseCodes = 32;  // a code has 5 bits

// An entry of the command table. The entry matches a command if the bits of the secondary encoding
// under `mask` equal `value`.
struct CommandRow {
  uint8_t ttype;
  uint8_t mask;
  uint8_t value;
  std::string_view name;
  ResponseClass response;
};

struct ResponseRow {
  ResponseClass command;
  uint8_t code;
  std::string_view name;
};

// The rule that gives the port of a command, which has no field of its own. htm-nest-trace(5),
// PORTS.
enum class PortRule : uint8_t {
  kAddress,  // two bits of the address are the port (POWER8: one bit)
  kFolded,   // the lower of these two bits
  kZero,
  kTwo,
  kThree,
  kTransaction,  // 1 if the transaction is odd
  kEncoding,     // the second-lowest bit of the secondary encoding
};

struct CommandName {
  std::string_view name;  // empty: unknown command
  ResponseClass response = ResponseClass::kUnknown;
  PortRule port = PortRule::kAddress;
  uint16_t row = 0;  // index in the table; valid only with a name
};

class Names {
 public:
  struct Sizes {
    unsigned ttypes;
    unsigned encodings;
  };
  // `responses` adds to the responses that all generations share.
  Names(std::span<const CommandRow> commands, Sizes sizes, std::span<const ResponseRow> responses);

  // The rows of the table, which has static lifetime.
  std::span<const CommandRow> rows() const { return rows_; }

  // `ttype` and `encoding` must fit the generation's field widths.
  const CommandName& command(unsigned ttype, unsigned encoding) const {
    return commands_[ttype * sizes_.encodings + encoding];
  }
  // Empty if the class has no such response.
  std::string_view response(ResponseClass of, unsigned code) const {
    return responses_[static_cast<size_t>(of)][code % kResponseCodes];
  }
  // True if the response requests a retry from the sender.
  bool is_retry(ResponseClass of, unsigned code) const {
    return retries_[static_cast<size_t>(of)] >> code % kResponseCodes & 1;
  }

 private:
  void add(std::span<const ResponseRow> responses);

  std::span<const CommandRow> rows_;
  Sizes sizes_;
  std::vector<CommandName> commands_;
  std::array<std::array<std::string_view, kResponseCodes>, kResponseClasses> responses_{};
  std::array<uint32_t, kResponseClasses> retries_{};  // one bit for each code
};

const Names& power8_names();
const Names& power9_names();

}  // namespace htmtrace::nest
