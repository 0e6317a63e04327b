// SPDX-License-Identifier: GPL-2.0-or-later
// Writes JSON (RFC 8259) with the keys in the order given. The caller balances begin and end.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace htmtrace {

class JsonWriter {
 public:
  enum class Layout : uint8_t {
    kIndented,  // a line for each member
    kSpaced,    // one line, with a space after each comma and colon
    kCompact,   // one line without spaces
  };

  explicit JsonWriter(Layout layout = Layout::kIndented) : layout_(layout) {}

  // Pass a key inside an object. Omit the key inside an array or at the top level.
  void begin_object(std::string_view key = {}) { begin(key, '{'); }
  void end_object() { end('}'); }
  void begin_array(std::string_view key = {}) { begin(key, '['); }
  void end_array() { end(']'); }

  void text(std::string_view key, std::string_view value);
  template <std::unsigned_integral Number>
  void number(std::string_view key, Number value) {
    put_unsigned(key, value);
  }
  template <std::signed_integral Number>
  void number(std::string_view key, Number value) {
    put_signed(key, value);
  }
  // Writes null if `value` is empty.
  void number(std::string_view key, std::optional<uint64_t> value);
  // A number that the caller has formatted, for example with decimals.
  void formatted(std::string_view key, std::string_view digits);
  void boolean(std::string_view key, bool value);
  void null(std::string_view key);

  // Continues an object that other code began: the next member follows a comma.
  void continue_object() {
    depth_++;
    first_ = false;
  }

  // In a layout of one line, puts the next member or bracket on a new line.
  void new_line() { new_line_ = true; }

  // Returns the finished text, which ends with a newline.
  std::string take();
  // Returns the text up to here. The writer then continues after this text.
  std::string take_part();

 private:
  void begin(std::string_view key, char bracket);
  void end(char bracket);
  void start_value(std::string_view key);
  void start_line();
  void put_unsigned(std::string_view key, uint64_t value);
  void put_signed(std::string_view key, int64_t value);

  Layout layout_;
  std::string out_;
  size_t depth_ = 0;
  bool first_ = true;  // no member of this object or array is written yet
  bool new_line_ = false;
};

// Returns `text` as a quoted JSON string. Each byte that is not valid UTF-8 becomes U+FFFD.
std::string json_string(std::string_view text);

}  // namespace htmtrace
