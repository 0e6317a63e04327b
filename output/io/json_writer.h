// SPDX-License-Identifier: GPL-2.0-or-later
// Writes indented JSON (RFC 8259) with the keys in the order given. The caller balances begin and
// end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace htmtrace {

class JsonWriter {
 public:
  // Pass a key inside an object. Omit the key inside an array or at the top level.
  void begin_object(std::string_view key = {}) { begin(key, '{'); }
  void end_object() { end('}'); }
  void begin_array(std::string_view key = {}) { begin(key, '['); }
  void end_array() { end(']'); }

  void text(std::string_view key, std::string_view value);
  void number(std::string_view key, int64_t value);
  void number(std::string_view key, uint64_t value);
  // Writes null if `value` is empty.
  void number(std::string_view key, std::optional<uint64_t> value);
  void boolean(std::string_view key, bool value);
  void null(std::string_view key);

  // Returns the finished text, which ends with a newline.
  std::string take();

 private:
  void begin(std::string_view key, char bracket);
  void end(char bracket);
  void start_value(std::string_view key);
  void quote(std::string_view text);

  std::string out_;
  size_t depth_ = 0;
  bool first_ = true;  // no member of this object or array is written yet
};

// Returns `text` as a quoted JSON string. Each byte that is not valid UTF-8 becomes U+FFFD.
std::string json_string(std::string_view text);

}  // namespace htmtrace
