// SPDX-License-Identifier: GPL-2.0-or-later
// Packets of gdb's remote serial protocol: "Debugging with GDB", appendix E, "Overview".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace htmtrace {

// Splits the bytes from gdb into packets. Accepts any bytes; its memory is bounded.
class PacketReader {
 public:
  // The largest packet in bytes, without its frame. The reply to qSupported states it.
  static constexpr size_t kMostPacketBytes = 0x4000;

  enum class Kind : uint8_t {
    kPacket,
    kBadChecksum,
    kTooLong,
    kInterrupt,  // the byte 0x03 between packets
    kAccepted,   // '+'
    kSendAgain,  // '-'
  };
  struct Arrival {
    Kind kind = Kind::kPacket;
    std::string payload;  // of a kPacket
  };

  // Before each further call of feed(), call next() until it returns nothing, or check that full()
  // returns false. next() ignores bytes between packets, except for 0x03, '+' and '-'.
  void feed(std::string_view bytes) { waiting_.append(bytes); }
  std::optional<Arrival> next();

  // Returns true if more than kMostPacketBytes wait. Call feed() again only after next() has
  // consumed them.
  bool full() const { return waiting_.size() > kMostPacketBytes; }

  // Returns true if the next arrival is an interrupt, and consumes it with the confirmations ('+')
  // that precede it. Other arrivals wait.
  bool take_interrupt();

 private:
  std::optional<Arrival> end_packet(size_t hash);

  std::string waiting_;    // bytes that next() has not consumed
  bool too_long_ = false;  // the start of the current packet was dropped
};

// Returns the packet with its frame and checksum. Escapes the special characters of the protocol.
std::string framed(std::string_view payload);

// Numbers and bytes in hexadecimal digits, without a prefix.
std::optional<uint64_t> hex_number(std::string_view digits);
// Returns nothing unless the text is whole pairs of digits.
std::optional<std::string> text_of_hex(std::string_view digits);
std::string hex_of_text(std::string_view text);

}  // namespace htmtrace
