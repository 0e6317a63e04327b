// SPDX-License-Identifier: GPL-2.0-or-later
// Compressed traces: the decoder must read the bytes that the recorder wrote, also if a part is
// missing.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "output/io/input_file.h"
#include "output/recording/trace_file.h"
#include "tests/unit/file_size_limit.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

constexpr size_t kFrame = 1 << 20;  // size of the compressor's frames
constexpr size_t kEntry = 8;        // size of an entry in the seek table

// Text that is equally compressible everywhere, and never repeats.
std::string numbers(size_t size) {
  std::string text;
  std::mt19937 random(5);
  while (text.size() < size) text += std::to_string(random()) + ' ';
  text.resize(size);
  return text;
}

struct Content {
  std::string text;
  std::string trouble;
};

Content content_of(InputFile& input, size_t piece_bytes = 100'000) {
  Content content;
  std::vector<std::byte> piece(piece_bytes);
  while (const size_t got = input.read(piece)) {
    content.text.append(reinterpret_cast<const char*>(piece.data()), got);
  }
  content.trouble = input.trouble();
  return content;
}

TraceFile write_packed(const std::filesystem::path& path, const std::string& text) {
  TraceFile file = TraceFile::create_compressed(path, Existing::kReplace, 1);
  file.begin();
  const auto bytes = std::as_bytes(std::span(text));
  // No piece ends with a frame.
  for (size_t at = 0; at < bytes.size(); at += 777'777) {
    file.append(bytes.subspan(at, std::min<size_t>(777'777, bytes.size() - at)));
  }
  file.finish();
  return file;
}

uint32_t le32_at(const std::string& bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 4; i-- != 0;) value = value << 8 | static_cast<uint8_t>(bytes.at(at + i));
  return value;
}

}  // namespace

TEST_CASE("compressed bytes can be read from any offset") {
  if (!can_compress()) return;  // built without libzstd, so nothing can be written
  const TemporaryFolder folder;
  const auto path = folder.path() / "trace.zst";
  const std::string text = numbers(9 * kFrame + 12345);
  const TraceFile file = write_packed(path, text);
  CHECK_FALSE(file.error());
  CHECK(file.written_bytes() == text.size());
  CHECK(file.discarded_bytes() == 0);
  CHECK(file.stored_bytes() == std::filesystem::file_size(path));
  CHECK(file.stored_bytes() < text.size() * 2 / 3);

  InputFile input = InputFile::open_unpacked(path);
  CHECK(input.size_bytes() == text.size());
  const Content content = content_of(input);
  CHECK(content.trouble.empty());
  CHECK((content.text == text));
  input.go_to(5 * kFrame + 7);
  CHECK((content_of(input).text == text.substr(5 * kFrame + 7)));
}

TEST_CASE("the end of the file lists the sizes of all frames") {
  if (!can_compress()) return;
  const TemporaryFolder folder;
  write_packed(folder.path() / "trace.zst", numbers(2 * kFrame + 100));
  const std::string bytes = folder.read("trace.zst");
  CHECK(le32_at(bytes, bytes.size() - 4) == 0x8F92EAB1);
  CHECK(le32_at(bytes, bytes.size() - 9) == 3);
  const size_t table = bytes.size() - 9 - 3 * kEntry - 8;
  CHECK(le32_at(bytes, table) == 0x184D2A5E);
  CHECK(le32_at(bytes, table + 4) == 3 * 8 + 9);
  CHECK(le32_at(bytes, table + 8 + 4) == kFrame);
  CHECK(le32_at(bytes, table + 8 + 2 * kEntry + 4) == 100);
  const uint32_t first = le32_at(bytes, table + 8);
  CHECK(le32_at(bytes, first) == 0xFD2FB528);  // the second frame begins there
}

TEST_CASE("the bytes before damage do not depend on how much is read at a time") {
  if (!can_compress()) return;
  const TemporaryFolder folder;
  const std::string text = numbers(3 * kFrame);
  const auto path = folder.path() / "trace.zst";
  write_packed(path, text);
  std::string bytes = folder.read("trace.zst");
  // Damage in the middle of a frame, not in its checksum: the library reports it at a block.
  const size_t at = le32_at(bytes, bytes.size() - 9 - 3 * kEntry) * 3 / 2;
  for (size_t i = 0; i < 64; i++) bytes.at(at + i) = static_cast<char>(~bytes.at(at + i));
  std::ofstream(path, std::ios::binary) << bytes;

  InputFile whole = InputFile::open_unpacked(path);
  const Content content = content_of(whole);
  CHECK(content.trouble.find("is damaged before byte") != std::string::npos);
  // A frame, and blocks (128 KiB) of the next frame. The damage may have changed the last blocks.
  CHECK(content.text.size() > kFrame + kFrame / 4);
  CHECK((content.text.substr(0, kFrame) == text.substr(0, kFrame)));
  CHECK(content.trouble.ends_with("from byte 1048576 on can be wrong"));
  for (const size_t piece : {size_t{1000}, size_t{128} << 10, size_t{1} << 20, size_t{8} << 20}) {
    InputFile input = InputFile::open_unpacked(path);
    const Content again = content_of(input, piece);
    CAPTURE(piece);
    CHECK(again.text.size() == content.text.size());
    CHECK(again.trouble == content.trouble);
  }
}

// libzstd can also unpack frames of its formats before 0.8, which no htmtrace wrote.
TEST_CASE("a frame of an old format after a frame is damage") {
  if (!can_compress()) return;
  const TemporaryFolder folder;
  const auto path = folder.path() / "trace.zst";
  const std::string frame("\x28\xb5\x2f\xfd\0\x24\x03\x01\0\0", 10);  // 32 zeros
  const std::string old_frame("\x26\xb5\x2f\xfd\0\x24\x03\x01\0\0\x28\xb5\x2f\xfd", 14);
  for (const std::string& before : {std::string(), std::string("\x28")}) {
    std::ofstream(path, std::ios::binary) << frame << before << old_frame << std::string(19, '\0');
    for (const size_t piece : {1, 333, 4096}) {
      InputFile input = InputFile::open_unpacked(path);
      const Content content = content_of(input, piece);
      CAPTURE(piece);
      CHECK(content.text == std::string(32, '\0'));
      CHECK(content.trouble.find("before byte 10 (no frame begins here)") != std::string::npos);
    }
  }
}

TEST_CASE("a truncated compressed file is read up to the cut, and the rest is reported") {
  if (!can_compress()) return;
  const TemporaryFolder folder;
  const std::string text = numbers(5 * kFrame);
  const auto path = folder.path() / "trace.zst";
  const uint64_t whole = write_packed(path, text).stored_bytes();
  std::filesystem::resize_file(path, whole / 2);
  InputFile input = InputFile::open_unpacked(path);
  CHECK_FALSE(input.size_bytes());
  const Content content = content_of(input);
  CHECK(content.text.size() >= 2 * kFrame);
  CHECK((content.text == text.substr(0, content.text.size())));
  CHECK(content.trouble.find("the file ends in the middle of it") != std::string::npos);

  // Between two frames only the table is missing, as after a kill.
  write_packed(path, text);
  std::filesystem::resize_file(path, whole - 9 - 5 * kEntry - 8);
  InputFile frames = InputFile::open_unpacked(path);
  CHECK(frames.size_bytes() == text.size());
  CHECK((content_of(frames).text == text));
}

TEST_CASE("a damaged compressed file is read up to the damage, which is reported") {
  if (!can_compress()) return;
  const TemporaryFolder folder;
  const std::string text = numbers(4 * kFrame);
  write_packed(folder.path() / "trace.zst", text);
  std::string bytes = folder.read("trace.zst");
  bytes.at(bytes.size() / 2) ^= 0x55;
  folder.write("damaged", bytes);
  InputFile input = InputFile::open_unpacked(folder.path() / "damaged");
  const Content content = content_of(input);
  CHECK(content.text.size() >= kFrame);
  CHECK(content.text.size() < text.size());
  CHECK(content.trouble.find("is damaged before byte") != std::string::npos);
  InputFile again = InputFile::open_unpacked(folder.path() / "damaged");
  CHECK_THROWS_AS(again.read_all(1 << 30), Error);
}

TEST_CASE("a full disk leaves complete frames, and the rest is counted") {
  if (!can_compress()) return;
  const TemporaryFolder folder;
  const std::string text = numbers(6 * kFrame);
  const auto path = folder.path() / "trace.zst";
  const uint64_t whole = write_packed(path, text).stored_bytes();
  const TraceFile file = [&] {
    const FileSizeLimit limit(whole / 2);
    return write_packed(path, text);
  }();
  CHECK(file.error() == EFBIG);
  CHECK(file.written_bytes() >= 2 * kFrame);
  CHECK(file.written_bytes() % kFrame == 0);
  CHECK(file.written_bytes() + file.discarded_bytes() == text.size());
  InputFile input = InputFile::open_unpacked(path);
  CHECK(input.size_bytes() == file.written_bytes());
  CHECK((content_of(input).text == text.substr(0, file.written_bytes())));
}

}  // namespace htmtrace
