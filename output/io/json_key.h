// SPDX-License-Identifier: GPL-2.0-or-later
// JsonWriter's compact layout for lines that must be printed fast: the caller puts each key as a
// constant, and each value with output/io/put_text.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "output/io/put_text.h"

namespace htmtrace {

// A key with a comma and a colon around it.
template <size_t kSize>
struct JsonKey {
  consteval JsonKey(const char (&name)[kSize]) {
    char* end = std::copy_n(name, kSize - 1, text + 2);
    *end++ = '"';
    *end = ':';
  }
  constexpr std::string_view view() const { return {text, sizeof(text)}; }

  char text[kSize + 3] = {',', '"'};
};

template <JsonKey kKey>
[[gnu::always_inline]] inline char* put_key(char* to) {
  return put_text(to, kKey.view());
}

// The first key of an object.
template <JsonKey kKey>
[[gnu::always_inline]] inline char* put_first_key(char* to) {
  return put_text(put_text(to, "{"), kKey.view().substr(1));
}

// Begins or ends a string.
[[gnu::always_inline]] inline char* put_quote(char* to) {
  *to = '"';
  return to + 1;
}

}  // namespace htmtrace
