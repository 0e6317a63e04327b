// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/replay/packets.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/generator/generated_trace.h"

namespace htmtrace {
namespace {

using Kind = PacketReader::Kind;

// The arrivals, in one text: a packet as its payload in brackets.
std::string drained(PacketReader& reader) {
  std::string text;
  while (const auto arrival = reader.next()) {
    switch (arrival->kind) {
      case Kind::kPacket:
        text += "[" + arrival->payload + "]";
        break;
      case Kind::kBadChecksum:
        text += "bad ";
        break;
      case Kind::kTooLong:
        text += "long ";
        break;
      case Kind::kInterrupt:
        text += "interrupt ";
        break;
      case Kind::kAccepted:
        text += "+";
        break;
      case Kind::kSendAgain:
        text += "-";
        break;
    }
  }
  return text;
}

std::string arrivals_of(std::string_view bytes, size_t piece) {
  PacketReader reader;
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    reader.feed(bytes.substr(at, piece));
    text += drained(reader);
  }
  return text;
}

}  // namespace

TEST_CASE("packets arrive in pieces of any size, with confirmations and interrupts between them") {
  const std::string bytes = "junk+$g#67-\x03$m10,4#2e#$g#68$?#3f$#00";
  for (const size_t piece : {1, 2, 3, 5, 100}) {
    CAPTURE(piece);
    CHECK(arrivals_of(bytes, piece) == "+[g]-interrupt [m10,4]bad [?][]");
  }
}

TEST_CASE("a wrong checksum is reported, and the next packet is read") {
  CHECK(arrivals_of("$g#68$g#6x$g#67", 1) == "bad bad [g]");
}

TEST_CASE("a packet that never ends takes bounded memory") {
  const std::string most(PacketReader::kMostPacketBytes, 'a');
  PacketReader reader;
  reader.feed("$" + most + framed(most).substr(1 + most.size()));
  CHECK(drained(reader) == "[" + most + "]");
  CHECK(!reader.full());
  reader.feed("$a" + most + "#00$g#67");
  CHECK(drained(reader) == "long [g]");
  reader.feed("$");
  for (int i = 0; i < 100; i++) {
    reader.feed(most);
    CHECK(drained(reader).empty());
  }
  CHECK(!reader.full());
  reader.feed("#00$g#67");
  CHECK(drained(reader) == "long [g]");
}

TEST_CASE("only an interrupt stops a motion; other bytes wait") {
  PacketReader reader;
  CHECK(!reader.take_interrupt());
  reader.feed("+\x03$g#67");
  CHECK(reader.take_interrupt());
  CHECK(!reader.take_interrupt());
  CHECK(drained(reader) == "[g]");
}

TEST_CASE("a frame escapes the characters of the protocol") {
  CHECK(framed("") == "$#00");
  CHECK(framed("OK") == "$OK#9a");
  CHECK(framed("a$#}*") == "$a}\x04}\x03}]}\n#c3");
}

TEST_CASE("hexadecimal digits are numbers and texts") {
  CHECK(hex_number("ffffffffffffffff") == ~uint64_t{0});
  CHECK(hex_number("0") == 0);
  for (const char* text : {"", "-1", "+1", "0x1", "1 ", "10000000000000000", "g"}) {
    CAPTURE(text);
    CHECK(!hex_number(text));
  }
  CHECK(text_of_hex("68656c70") == "help");
  CHECK(text_of_hex("") == "");
  CHECK(!text_of_hex("686"));
  CHECK(!text_of_hex("6x"));
  CHECK(hex_of_text("help\xff") == "68656c70ff");
}

TEST_CASE("random bytes never stop the reader") {
  generator::Random random(1);
  static constexpr char kFrequent[] = "$#+-\x03gm0f";
  PacketReader reader;
  for (int i = 0; i < 20000; i++) {
    std::string bytes;
    for (uint64_t n = random.below(20); n != 0; n--) {
      bytes += random.chance(800) ? kFrequent[random.below(sizeof(kFrequent) - 1)]
                                  : static_cast<char>(random.next());
    }
    reader.feed(bytes);
    drained(reader);
  }
  reader.feed("#00#00#00$?#3f");
  CHECK(drained(reader).ends_with("[?]"));
}

}  // namespace htmtrace
