// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/export/avro_blocks.h"

#include <array>

namespace htmtrace {
namespace {

// "Object Container Files": each file begins with these bytes.
constexpr std::string_view kMagic{"Obj\x01", 4};
// The marker after each block, "htmtrace.avro.1\n" with the highest bit of each byte set. The
// specification asks for random bytes, so that a reader that starts within the file finds the next
// block. A constant gives equal files for equal traces. It cannot occur within uncompressed rows,
// where at most nine bytes with the highest bit follow one another.
constexpr std::array<char, 16> kSync = {'\xe8', '\xf4', '\xed', '\xf4', '\xf2', '\xe1',
                                        '\xe3', '\xe5', '\xae', '\xe1', '\xf6', '\xf2',
                                        '\xef', '\xae', '\xb1', '\x8a'};

}  // namespace

AvroBlocks::AvroBlocks(NewFile file, std::string_view schema, RowCodec codec)
    : file_(std::move(file)), codec_(codec) {
  AvroRow header;
  header.elements(2);
  header.text("avro.schema");
  header.text(schema);
  header.text("avro.codec");
  header.text(row_codec_name(codec));
  header.no_more();
  file_.write(kMagic);
  file_.write(header.bytes());
  file_.write(kSync);
}

void AvroBlocks::write(const Block& block, const Encoder& encoder) {
  AvroRow head;
  head.number(block.count);
  head.number(encoder.stored.size());
  file_.write(head.bytes());
  file_.write(encoder.stored);
  file_.write(kSync);
}

}  // namespace htmtrace
