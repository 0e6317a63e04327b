// SPDX-License-Identifier: GPL-2.0-or-later
// Writes JSON (RFC 8259), indented, keys in the order given. The caller balances begin and end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace htmtrace {

class JsonWriter {
 public:
  // With a key inside an object, without one inside an array or at the top.
  void begin_object(std::string_view key = {}) { begin(key, '{'); }
  void end_object() { end('}'); }
  void begin_array(std::string_view key = {}) { begin(key, '['); }
  void end_array() { end(']'); }

  void text(std::string_view key, std::string_view value);
  void number(std::string_view key, int64_t value);
  void number(std::string_view key, uint64_t value);
  // null when there is no value.
  void number(std::string_view key, std::optional<uint64_t> value);
  void boolean(std::string_view key, bool value);
  void null(std::string_view key);

  // The finished text, with a newline at its end.
  std::string take();

 private:
  void begin(std::string_view key, char bracket);
  void end(char bracket);
  void start_value(std::string_view key);
  void quote(std::string_view text);

  std::string out_;
  size_t depth_ = 0;
  bool first_ = true;  // of its object or array
};

// `text` as a JSON string, with its quotes. A byte that is no UTF-8 becomes U+FFFD.
std::string json_string(std::string_view text);

}  // namespace htmtrace
