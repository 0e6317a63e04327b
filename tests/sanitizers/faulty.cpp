// SPDX-License-Identifier: GPL-2.0-or-later
// faulty ERROR: makes an error that a sanitizer must report. Exits with status 0 if none reports
// it.
#include <array>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace {

// Volatile, so that the compiler cannot find the errors.
volatile int one = 1;

// UBSan must report these errors.
int overflow() {
  return INT_MAX - 1 + one + one;
}

int shift() {
  return 1 << (31 * one + one);
}

// ASan must report these errors. Tests pass string literals to parsers, so ASan must guard
// literals.
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
  // doctest also handles SIGILL.
  std::signal(SIGILL, [](int) { std::_Exit(0); });
  const std::string_view error = count == 2 ? words[1] : "";
  int result = 0;
  if (error == "overflow") result = overflow();
  if (error == "shift") result = shift();
  if (error == "literal") result = literal();
  if (error == "stack") result = stack();
  if (error == "heap") result = heap();
  std::printf("no report; the result is %d\n", result);
  return 0;
}
