// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/io/json_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "output/io/utf8.h"

namespace htmtrace {
namespace {

constexpr size_t kIndent = 2;

bool is_plain(char character) {
  const auto byte = static_cast<unsigned char>(character);
  return byte >= 0x20 && byte < 0x80 && character != '"' && character != '\\';
}

void append_string(std::string& to, std::string_view text) {
  to += '"';
  while (!text.empty()) {
    const auto plain = static_cast<size_t>(std::ranges::find_if_not(text, is_plain) - text.begin());
    to += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const size_t length = utf8_length(text);
    const char character = text[0];
    if (length == 0) {
      to += "\\ufffd";  // the replacement character
    } else if (length > 1) {
      to += text.substr(0, length);
    } else if (character == '"' || character == '\\') {
      to += '\\';
      to += character;
    } else {
      to += fmt::format("\\u{:04x}", character);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  to += '"';
}

}  // namespace

void JsonWriter::text(std::string_view key, std::string_view value) {
  start_value(key);
  append_string(out_, value);
}

void JsonWriter::put_unsigned(std::string_view key, uint64_t value) {
  const fmt::format_int digits(value);
  formatted(key, {digits.data(), digits.size()});
}

void JsonWriter::put_signed(std::string_view key, int64_t value) {
  const fmt::format_int digits(value);
  formatted(key, {digits.data(), digits.size()});
}

void JsonWriter::number(std::string_view key, std::optional<uint64_t> value) {
  if (value)
    number(key, *value);
  else
    null(key);
}

void JsonWriter::formatted(std::string_view key, std::string_view digits) {
  start_value(key);
  out_ += digits;
}

void JsonWriter::boolean(std::string_view key, bool value) {
  start_value(key);
  out_ += value ? "true" : "false";
}

void JsonWriter::null(std::string_view key) {
  start_value(key);
  out_ += "null";
}

std::string JsonWriter::take() {
  out_ += '\n';
  return take_part();
}

std::string JsonWriter::take_part() {
  return std::exchange(out_, {});
}

void JsonWriter::begin(std::string_view key, char bracket) {
  start_value(key);
  out_ += bracket;
  depth_++;
  first_ = true;
}

void JsonWriter::end(char bracket) {
  depth_--;
  if (!first_ || new_line_) start_line();
  out_ += bracket;
  first_ = false;
}

// Starts a line where the layout requires one.
void JsonWriter::start_line() {
  if (layout_ == Layout::kIndented) {
    out_ += '\n';
    out_.append(depth_ * kIndent, ' ');
  } else if (new_line_) {
    out_ += '\n';
  }
  new_line_ = false;
}

void JsonWriter::start_value(std::string_view key) {
  if (depth_ > 0) {
    if (!first_) out_ += layout_ == Layout::kSpaced ? ", " : ",";
    start_line();
  }
  first_ = false;
  if (key.empty()) return;
  append_string(out_, key);
  out_ += layout_ == Layout::kCompact ? ":" : ": ";
}

std::string json_string(std::string_view text) {
  std::string quoted;
  append_string(quoted, text);
  return quoted;
}

}  // namespace htmtrace
