// SPDX-License-Identifier: GPL-2.0-or-later
// Inputs that make a careless reader take far more memory or time than their size justifies. One
// row of the table is one such input: its name, how to make its files, and the command that reads
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace htmtrace::bombs {

// Writes a file of the current folder. A failure ends the program.
class File {
 public:
  explicit File(const char* name);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  void put(std::span<const std::byte> bytes);
  void put(std::string_view text) { put(std::as_bytes(std::span(text))); }
  void le(uint64_t value, size_t bytes);
  // A word of a trace.
  void be64(uint64_t word);
  // The object as it is in memory.
  template <class Object>
  void object(const Object& object) {
    put(std::as_bytes(std::span(&object, 1)));
  }

 private:
  void write_out();

  int fd_;
  std::vector<std::byte> buffer_;
};

enum class Outcome : uint8_t {
  kEither,  // hostile: the command may refuse the input
  kRead,    // an input of a real system: the command must read it
};

// The words of one instruction of a core trace. kUser and kSystem are the modes of its MSR.
inline constexpr uint64_t kUser = 0x800000000000f033, kSystem = 0x8000000000009033;
void put_instruction(File& file, uint64_t address, uint64_t msr);
// Its line: execution enters the 128 bytes that hold the address.
void put_line(File& file, uint64_t address);

struct Bomb {
  const char* name;
  Outcome outcome;
  // Makes the files in the current folder. `scale` multiplies the size of an input whose quick form
  // is smaller than its full form.
  void (*make)(unsigned scale);
  std::vector<std::string> arguments;  // of htmtrace
  // The processor time for an empty input. Each 16 MiB of input add 8 s. The text of a compressed
  // input can be long, and then needs more time.
  double least_seconds = 2;
};

// In the order of the table.
std::vector<Bomb> recording_bombs();
std::vector<Bomb> perf_data_bombs();
std::vector<Bomb> symbol_bombs();
std::vector<Bomb> debug_info_bombs();
std::vector<Bomb> dispatch_bombs();
std::vector<Bomb> option_bombs();

}  // namespace htmtrace::bombs
