// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the emulated processor's own record. tests/machine/plugin/oracle.h describes the format.
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace htmtrace::compare {

struct OracleAccess {
  uint64_t ea;
  uint64_t real;
  uint16_t size_bytes;
  bool store;
  bool device;  // has no logical address
};

struct OracleInstruction {
  uint64_t ea;
  uint64_t real;
  uint32_t words[2];
  unsigned word_count;
  bool user;
  // The last user code before it, or 0: its address space (PIDR), its thread's area (r13), and its
  // process and thread, if the machine's configuration has the key `task`.
  uint64_t space, area;
  uint32_t process, thread;
  std::vector<OracleAccess> accesses;
};

class OracleReader {
 public:
  // Throws std::runtime_error if the file cannot be opened or is not an oracle.
  explicit OracleReader(const std::string& path);
  ~OracleReader();
  OracleReader(const OracleReader&) = delete;
  OracleReader& operator=(const OracleReader&) = delete;

  // Reads the next instruction, across sessions. Returns false at the end. Throws if the file is
  // damaged or ends within a session.
  bool next(OracleInstruction* instruction);

  // Reads the next instruction of the sessions `first` to `last`, counted from 1, and skips earlier
  // sessions. Returns false at the end, and at a later session, with which the next call begins.
  bool next_of(uint64_t first, uint64_t last, OracleInstruction* instruction);

  uint64_t sessions() const { return sessions_; }
  // Instructions that were executed but not traced.
  uint64_t lost() const { return lost_; }

 private:
  uint64_t number(unsigned bytes);
  [[noreturn]] void fail(const char* problem) const;

  std::string path_;
  std::FILE* file_;
  std::vector<char> buffer_;
  uint64_t offset_ = 0;
  bool in_session_ = false;
  uint64_t space_ = 0, area_ = 0;
  uint32_t process_ = 0, thread_ = 0;
  uint64_t sessions_ = 0;
  uint64_t lost_ = 0;
  OracleInstruction kept_{};
  bool has_kept_ = false;
};

// Returns the line of an instruction as the decoder prints it, without machine addresses:
//   ea=... op=... la=...[ dea=... dla=...]{0..2}
// The first pair is the lowest accessed address. The second pair is the lowest accessed address in
// another page.
std::string expected_line(const OracleInstruction& instruction);

}  // namespace htmtrace::compare
