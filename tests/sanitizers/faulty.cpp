// SPDX-License-Identifier: GPL-2.0-or-later
// faulty FAULT: commits a fault that a sanitizer must report. Without a report, the status is 0.
#include <array>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string_view>

namespace {

// The compiler must not know the values.
volatile int one = 1;

// UBSan.
int overflow() {
  return INT_MAX - 1 + one + one;
}

int shift() {
  return 1 << (31 * one + one);
}

// ASan. Tests give literals to parsers, and a parser must not read beyond their ends.
int literal() {
  const char* volatile text = "text";
  return text[static_cast<size_t>(one) + 4];
}

int stack() {
  const std::array<int, 4> numbers{one, one, one, one};
  return numbers[static_cast<size_t>(one) + 3];
}

int heap() {
  const auto bytes = std::make_unique<char[]>(16);
  return bytes[static_cast<size_t>(one) + 15];
}

}  // namespace

int main(int count, char** words) {
  const std::string_view fault = count == 2 ? words[1] : "";
  int result = 0;
  if (fault == "overflow") result = overflow();
  if (fault == "shift") result = shift();
  if (fault == "literal") result = literal();
  if (fault == "stack") result = stack();
  if (fault == "heap") result = heap();
  std::printf("no report; the result is %d\n", result);
  return 0;
}
