// SPDX-License-Identifier: GPL-2.0-or-later
// The mode of an instruction, as far as the trace reports the bits of the machine state register.
// POWER10's MSR word holds all bits below; POWER8's IEA word holds HV and IR. htm-core-trace(5).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace htmtrace {

// In the order of the MSR word: its bits 0 to 9.
struct Modes {
  static constexpr uint16_t kHv = 0x200;  // hypervisor
  static constexpr uint16_t kPr = 0x100;  // problem state: user
  static constexpr uint16_t kIr = 0x080;  // instruction addresses are translated
  static constexpr uint16_t kDr = 0x040;  // data addresses are translated
  static constexpr uint16_t kEe = 0x020;  // external interrupts are enabled
  static constexpr uint16_t kS = 0x010;   // secure
  static constexpr uint16_t kTs = 0x00c;  // transaction state, two bits
  static constexpr uint16_t kLe = 0x002;  // little-endian
  static constexpr uint16_t kSf = 0x001;  // 64-bit
  static constexpr uint16_t kAll = 0x3ff;

  uint16_t bits = 0;
  uint16_t known = 0;  // mask of the bits that the trace reports

  bool operator==(const Modes&) const = default;
  bool is(uint16_t bit) const { return (bits & known & bit) != 0; }
};

enum class Privilege : uint8_t { kUnknown, kUser, kKernel, kHypervisor, kUltravisor };
inline constexpr unsigned kPrivileges = 5;
inline constexpr std::array<std::string_view, kPrivileges> kPrivilegeNames = {
    "unknown", "user", "kernel", "hypervisor", "ultravisor"};

// Power ISA 3.1, Book III, "Machine State Register": S, HV and PR together. POWER8 traces do not
// report PR, and a bare-metal user program runs with HV set.
inline Privilege privilege_of(Modes modes) {
  if ((modes.known & (Modes::kHv | Modes::kPr)) != (Modes::kHv | Modes::kPr)) {
    return Privilege::kUnknown;
  }
  if (modes.is(Modes::kPr)) return Privilege::kUser;
  if (!modes.is(Modes::kHv)) return Privilege::kKernel;
  return modes.is(Modes::kS) ? Privilege::kUltravisor : Privilege::kHypervisor;
}

}  // namespace htmtrace
