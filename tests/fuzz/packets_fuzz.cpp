// SPDX-License-Identifier: GPL-2.0-or-later
// Reads any bytes as the bytes of gdb. The packets must not depend on the pieces in which the bytes
// arrive.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
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
    const std::string packet = framed(arrival.payload);
    constexpr size_t kFrameBytes = 4;  // '$', '#' and two digits
    if (packet.size() > PacketReader::kMostPacketBytes) continue;
    const auto sent = arrivals_of(packet, packet.size());
    if (sent.size() != 1 || sent[0].kind != PacketReader::Kind::kPacket ||
        sent[0].payload.size() + kFrameBytes != packet.size()) {
      std::abort();
    }
  }
  return 0;
}
