// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/replay/packets.h"

#include <fmt/core.h>

#include <charconv>
#include <system_error>

namespace htmtrace {
namespace {

constexpr char kInterruptByte = '\x03';
constexpr size_t kChecksumDigits = 2;
constexpr int kHexBase = 16;

uint8_t packet_checksum(std::string_view payload) {
  unsigned sum = 0;
  for (const char byte : payload) sum += static_cast<uint8_t>(byte);
  return static_cast<uint8_t>(sum);
}

}  // namespace

std::optional<PacketReader::Arrival> PacketReader::next() {
  const size_t start = too_long_ ? 0 : waiting_.find_first_of("$+-\x03");
  waiting_.erase(0, start);  // npos: everything
  if (waiting_.empty()) return std::nullopt;
  if (!too_long_ && waiting_.front() != '$') {
    const char byte = waiting_.front();
    waiting_.erase(0, 1);
    return Arrival{.kind = byte == kInterruptByte ? Kind::kInterrupt
                           : byte == '+'          ? Kind::kAccepted
                                                  : Kind::kSendAgain,
                   .payload = {}};
  }
  const size_t hash = waiting_.find('#');
  if (hash == std::string::npos) {
    if (waiting_.size() > kMostPacketBytes + 1) {
      too_long_ = true;
      waiting_.clear();
    }
    return std::nullopt;
  }
  if (waiting_.size() - hash - 1 < kChecksumDigits) return std::nullopt;
  return end_packet(hash);
}

std::optional<PacketReader::Arrival> PacketReader::end_packet(size_t hash) {
  Arrival arrival;
  if (too_long_ || hash - 1 > kMostPacketBytes) {
    arrival.kind = Kind::kTooLong;
  } else {
    arrival.payload = waiting_.substr(1, hash - 1);
    const std::string_view digits = std::string_view(waiting_).substr(hash + 1, kChecksumDigits);
    if (hex_number(digits) != packet_checksum(arrival.payload)) {
      arrival = {.kind = Kind::kBadChecksum, .payload = {}};
    }
  }
  too_long_ = false;
  waiting_.erase(0, hash + 1 + kChecksumDigits);
  return arrival;
}

bool PacketReader::take_interrupt() {
  if (too_long_) return false;
  // A confirmation of the last packet has no effect.
  const size_t first = waiting_.find_first_not_of('+');
  if (first == std::string::npos || waiting_[first] != kInterruptByte) return false;
  waiting_.erase(0, first + 1);
  return true;
}

std::string framed(std::string_view payload) {
  constexpr char kEscape = '}', kFlip = 0x20;
  std::string packet = "$";
  for (const char byte : payload) {
    // An unescaped '*' starts a repetition.
    if (byte == '$' || byte == '#' || byte == kEscape || byte == '*') {
      packet += kEscape;
      packet += static_cast<char>(byte ^ kFlip);
    } else {
      packet += byte;
    }
  }
  const uint8_t checksum = packet_checksum(std::string_view(packet).substr(1));
  return packet + fmt::format("#{:02x}", checksum);
}

std::optional<uint64_t> hex_number(std::string_view digits) {
  uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, failure] = std::from_chars(digits.data(), end, value, kHexBase);
  if (digits.empty() || failure != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::optional<std::string> text_of_hex(std::string_view digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string text;
  for (size_t at = 0; at < digits.size(); at += 2) {
    const auto byte = hex_number(digits.substr(at, 2));
    if (!byte) return std::nullopt;
    text += static_cast<char>(*byte);
  }
  return text;
}

std::string hex_of_text(std::string_view text) {
  std::string digits;
  for (const char byte : text) digits += fmt::format("{:02x}", static_cast<uint8_t>(byte));
  return digits;
}

}  // namespace htmtrace
