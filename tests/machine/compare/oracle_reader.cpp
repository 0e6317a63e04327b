// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/machine/compare/oracle_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace htmtrace::compare {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;
constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kStoreFlag = 1;
constexpr uint64_t kDeviceFlag = 2;
constexpr uint64_t kUserFlag = 1;

void append_data(std::string* line, const OracleAccess& access) {
  if (access.device) {
    fmt::format_to(std::back_inserter(*line), " dea={:016x} dla={:->16}", access.ea, "");
  } else {
    fmt::format_to(std::back_inserter(*line), " dea={:016x} dla={:016x}", access.ea, access.real);
  }
}

}  // namespace

OracleReader::OracleReader(const std::string& path)
    : path_(path), file_(std::fopen(path.c_str(), "rb")), buffer_(kBufferBytes) {
  if (file_ == nullptr) {
    throw std::runtime_error(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  }
  std::setvbuf(file_, buffer_.data(), _IOFBF, buffer_.size());
  char magic[8] = {};
  offset_ = std::fread(magic, 1, sizeof(magic), file_);
  if (std::memcmp(magic, "htmorac1", sizeof(magic)) != 0) {
    std::fclose(file_);
    throw std::runtime_error(fmt::format("{} is not an oracle", path));
  }
}

OracleReader::~OracleReader() {
  std::fclose(file_);
}

void OracleReader::fail(const char* problem) const {
  throw std::runtime_error(fmt::format("{} offset {}: {}", path_, offset_, problem));
}

uint64_t OracleReader::number(unsigned bytes) {
  uint64_t value = 0;
  for (unsigned i = 0; i < bytes; i++) {
    const int byte = getc_unlocked(file_);
    if (byte == EOF) fail("the file ends inside an item");
    value |= static_cast<uint64_t>(byte) << (8 * i);
  }
  offset_ += bytes;
  return value;
}

bool OracleReader::next(OracleInstruction* instruction) {
  for (;;) {
    const int kind = getc_unlocked(file_);
    if (kind == EOF) {
      if (in_session_) fail("the file ends before the STOP");
      return false;
    }
    offset_++;
    if (kind == 'S' && !in_session_) {
      in_session_ = true;
      sessions_++;
    } else if (kind == 'E' && in_session_) {
      in_session_ = false;
      lost_ += number(8);
    } else if (kind == 'T' && in_session_) {
      space_ = number(8);
      area_ = number(8);
      process_ = static_cast<uint32_t>(number(4));
      thread_ = static_cast<uint32_t>(number(4));
    } else if (kind == 'I' && in_session_) {
      break;
    } else {
      fail("unknown or unexpected item");
    }
  }
  instruction->word_count = static_cast<unsigned>(number(1));
  const auto accesses = static_cast<size_t>(number(1));
  instruction->user = (number(1) & kUserFlag) != 0;
  instruction->space = space_;
  instruction->area = area_;
  instruction->process = process_;
  instruction->thread = thread_;
  instruction->ea = number(8);
  instruction->real = number(8);
  for (uint32_t& word : instruction->words) word = static_cast<uint32_t>(number(4));
  instruction->accesses.clear();
  for (size_t i = 0; i < accesses; i++) {
    OracleAccess access{};
    access.ea = number(8);
    access.real = number(8);
    access.size_bytes = static_cast<uint16_t>(number(2));
    const uint64_t flags = number(2);
    access.store = (flags & kStoreFlag) != 0;
    access.device = (flags & kDeviceFlag) != 0;
    instruction->accesses.push_back(access);
  }
  return true;
}

bool OracleReader::next_of(uint64_t first, uint64_t last, OracleInstruction* instruction) {
  for (;;) {
    if (!has_kept_) has_kept_ = next(&kept_);
    if (!has_kept_ || sessions_ > last) return false;
    has_kept_ = false;
    if (sessions_ >= first) {
      std::swap(*instruction, kept_);
      return true;
    }
  }
}

std::string expected_line(const OracleInstruction& instruction) {
  std::string line = fmt::format("ea={:016x} op={:08x}", instruction.ea, instruction.words[0]);
  auto out = std::back_inserter(line);
  if (instruction.word_count == 2) fmt::format_to(out, "{:08x}", instruction.words[1]);
  fmt::format_to(out, " la={:016x}", instruction.real);
  const auto& accesses = instruction.accesses;
  const auto lower = [](const OracleAccess& a, const OracleAccess& b) { return a.ea < b.ea; };
  const auto first = std::min_element(accesses.begin(), accesses.end(), lower);
  if (first == accesses.end()) return line;
  append_data(&line, *first);
  const OracleAccess* second = nullptr;
  for (const OracleAccess& access : accesses) {
    if (access.ea / kPageBytes == first->ea / kPageBytes) continue;
    if (second == nullptr || access.ea < second->ea) second = &access;
  }
  if (second != nullptr) append_data(&line, *second);
  return line;
}

}  // namespace htmtrace::compare
