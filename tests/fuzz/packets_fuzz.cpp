// SPDX-License-Identifier: GPL-2.0-or-later
// Any bytes from gdb. Their packets must not depend on the pieces in which they arrive.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "cli/replay/packets.h"

namespace {

using htmtrace::PacketReader;

std::vector<PacketReader::Arrival> arrivals_of(std::string_view bytes, size_t piece_bytes) {
  std::vector<PacketReader::Arrival> arrivals;
  PacketReader reader;
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, piece_bytes);
    bytes.remove_prefix(piece.size());
    reader.feed(piece);
    while (auto arrival = reader.next()) arrivals.push_back(*std::move(arrival));
    if (reader.full()) std::abort();
  }
  return arrivals;
}

bool same(const PacketReader::Arrival& one, const PacketReader::Arrival& other) {
  return one.kind == other.kind && one.payload == other.payload;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace htmtrace;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto whole = arrivals_of(bytes, PacketReader::kMostPacketBytes);
  const auto pieces = arrivals_of(bytes, size_t{1} + data[0]);
  if (!std::ranges::equal(whole, pieces, same)) std::abort();
  for (const PacketReader::Arrival& arrival : whole) {
    if (text_of_hex(hex_of_text(arrival.payload)) != arrival.payload) std::abort();
    const auto sent = arrivals_of(framed(arrival.payload), PacketReader::kMostPacketBytes);
    const bool fits = 2 * arrival.payload.size() <= PacketReader::kMostPacketBytes;
    if (fits && (sent.size() != 1 || sent[0].kind != PacketReader::Kind::kPacket)) std::abort();
  }
  return 0;
}
