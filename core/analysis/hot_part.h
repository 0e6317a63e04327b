// SPDX-License-Identifier: GPL-2.0-or-later
// Counts a part of a core trace exactly. HotSpots adds up the parts.
//
// Most parts repeat a small number of accesses. A part counts equal accesses in one row, which is
// cheaper than a search in each of HotSpots' tables and lists. Threads can count different parts at
// the same time.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/analysis/symbol_cursor.h"
#include "core/analysis/symbol_table.h"
#include "core/base/arrival_table.h"
#include "core/base/spread.h"
#include "core/core_trace/events.h"
#include "core/core_trace/instruction_class.h"
#include "core/core_trace/modes.h"
#include "core/core_trace/radix_walk.h"
#include "core/core_trace/words.h"
#include "core/memory_map/owners.h"

namespace htmtrace {

// The kind of address that identifies data.
enum class DataKey : uint8_t { kLogical, kReal, kEffective };

// "logical", "real", "effective".
const char* key_name(DataKey key);

// Returns nothing if the trace does not report this address.
[[gnu::always_inline]] inline std::optional<uint64_t> address_of(const DataAccess& data,
                                                                 DataKey key) {
  if (key == DataKey::kLogical) return data.has_la ? std::optional(data.la.value) : std::nullopt;
  if (key == DataKey::kReal) return data.has_ra ? std::optional(data.ra.value) : std::nullopt;
  return data.ea.value;
}

struct HotCode {
  uint64_t count = 0;
  uint64_t data = 0;  // data accesses by the code
};

// Accesses to the memory of one partition.
struct OwnedWork {
  uint64_t count = 0;  // instructions in the memory
  uint64_t data = 0;   // data accesses to the memory
  bool empty() const { return count == 0 && data == 0; }
};

// A sink for CoreDecoder.
//
// A key identifies code. The key of named code is the address by which SymbolTable finds the
// symbol, with the owner. The key of other code is the address of its line of 128 bytes. Objects
// have keys of the same kind.
class HotPart {
  using Memory = OwnerTable<OwnedWork>::Stretch;

 public:
  static constexpr uint64_t kNoAddress = ~uint64_t{0};
  // kNoSite and kNoObject are never keys. They replace a std::optional, which is slow
  // (core/core_trace/events.h).
  static constexpr uint64_t kNoSite = ~uint64_t{0};
  static constexpr uint64_t kNoObject = ~uint64_t{0};
  // The tables of a part with up to this number of rows stay in a processor's cache.
  static constexpr size_t kMostRows = 1 << 13;

  // Accesses that agree in these values.
  struct Access {
    uint64_t address = 0;  // a multiple of the unit
    uint64_t site = 0;     // key of the code, or kNoSite
    uint64_t object = 0;   // key of the object, or kNoObject
    InstructionClass kind = InstructionClass::kUnknown;

    bool operator==(const Access&) const = default;
    // Without the secret factor, a trace could choose accesses with equal hashes.
    uint64_t hash() const {
      const uint64_t factor = kHashSecret.factor;
      return (address + static_cast<uint64_t>(kind)) ^ site * factor ^
             std::rotl(object * factor, 32);
    }
  };
  struct Accesses {
    uint64_t count = 0;
    uint64_t lowest_ea = kNoAddress;  // lowest accessed address, with its owner
  };
  struct Mix {
    std::array<uint64_t, kInstructionClasses> classes{};
    std::array<uint64_t, kPrivileges> privileges{};
    uint64_t data_accesses = 0;
    uint64_t data_without_address = 0;  // accesses without an address of the kind `key`
    uint64_t code_without_address = 0;
  };

  // `unit_bytes` is a power of two. `symbols` and `owners`, if any, must outlive this object.
  HotPart(DataKey key, uint64_t unit_bytes, const SymbolTable& symbols,
          const MemoryOwners* owners = nullptr);

  // `owners` must outlive the trace's instructions. Ends the preceding trace.
  void begin_trace(const MemoryOwners& owners);

  // Passes only a copy on, so that the caller's instruction stays in registers (plain_records.h).
  // [[unlikely]] keeps the code for the copy out of the path without names.
  [[gnu::always_inline]] void instruction(const Instruction& instruction) {
    if (named_) [[unlikely]] {
      named_instruction(Instruction(instruction));
    } else {
      take<false>(instruction);
    }
  }

  // Counts runs of instructions in one page (core/core_trace/plain_pages.h), without names.
  class Rows {
   public:
    explicit Rows(HotPart& part) : part_(&part) {}

    [[gnu::always_inline]] void enter(EffectiveAddr ea, RealAddr ra, LogicalAddr, bool) {
      finish();
      real_distance_ = ra.value - ea.value;
    }
    [[gnu::always_inline]] void instruction(EffectiveAddr ea, uint32_t opcode, uint16_t modes) {
      count(ea, class_of_word(opcode), modes);
    }
    [[gnu::always_inline]] void instruction(EffectiveAddr ea, uint32_t opcode, uint16_t modes,
                                            const DataAccess& data) {
      const InstructionClass kind = class_of_word(opcode);
      count(ea, kind, modes);
      part_->take_data<false>(data, kind, site_);
    }
    [[gnu::always_inline]] void finish() {
      part_->run_.count += std::exchange(count_, 0);
      modes_ = kNoModes;
    }

   private:
    static constexpr uint32_t kNoModes = ~uint32_t{0};

    // An INFO can address the 128 bytes after its line, so the line can change without enter().
    [[gnu::always_inline]] void count(EffectiveAddr ea, InstructionClass kind, uint16_t modes) {
      if (modes != modes_ || line_of(ea) != line_) [[unlikely]]
        begin(ea, modes);
      count_++;
      part_->mix_.classes[static_cast<size_t>(kind)]++;
    }
    void begin(EffectiveAddr ea, uint16_t modes) {
      finish();
      line_ = line_of(ea);
      site_ = owned::is_nobodys(ea.value) ? kNoSite : line_;
      part_->enter_run(site_, {modes, Modes::kAll}, true, {ea.value + real_distance_});
      // If the line has several owners, modes_ remains kNoModes, so that each instruction looks up
      // its owner.
      const Memory& memory = part_->run_.memory;
      const uint64_t first = line_ + real_distance_;
      if (memory.holds({first}) && memory.holds({first + words::kLineBytes - 1})) modes_ = modes;
    }

    HotPart* part_;
    uint64_t real_distance_ = 0;  // from the effective to the real addresses of the page
    uint64_t line_ = 0;
    uint64_t site_ = kNoSite;    // of the line
    uint32_t modes_ = kNoModes;  // of the run; kNoModes: the next instruction calls begin()
    uint64_t count_ = 0;         // instructions that the run in part_ lacks
  };
  bool in_rows() const { return !named_; }

  void stamp(const Stamp&) {}
  // Raw walks (CoreDecoder::follow_raw_walks()).
  void walk(const Walk& walk) { walks_.push_back({walk, true}); }
  void unselected(const Walk& walk) { walks_.push_back({walk, false}); }
  void defect(const Defect&) {}

  // Returns true if the caller should add up the part and clear it.
  bool is_large() const { return data_.rows().size() >= kMostRows; }

  // Call finish() after the last instruction and before the following functions.
  void finish();

  const Mix& mix() const { return mix_; }
  const ArrivalTable<Access, Accesses>& data() const { return data_; }
  const ArrivalTable<PlainKey, HotCode>& code() const { return code_; }
  const OwnerTable<OwnedWork>& owners() const { return owners_; }
  struct SeenWalk {
    Walk walk;
    bool selected = true;
  };
  const std::vector<SeenWalk>& walks() const { return walks_; }

  // Keeps the allocated memory and the known names.
  void clear();

 private:
  using Span = SymbolTable::Span;
  // Size of the cache of recent names; most addresses are near their predecessors.
  static constexpr size_t kRecent = 64;
  struct RecentName {
    Span span;
    uint64_t key = 0;
  };

  // Consecutive instructions with equal sites and modes, in the memory of one owner. At the end of
  // the run, the part adds their number to the privileges, the code and the owners.
  struct Run {
    uint64_t site = kNoSite;
    Modes modes;
    bool in_unknown_memory = false;  // the trace does not report the real addresses of the run
    Memory memory;                   // holds no address if in_unknown_memory
    uint64_t count = 0;              // instructions
    uint64_t data_before = 0;        // data accesses before the run
  };

  // kNamed equals named_. Without names, counts code by lines, and counts no objects.
  template <bool kNamed>
  [[gnu::always_inline]] void take(const Instruction& instruction) {
    const InstructionClass kind = class_of(instruction);
    mix_.classes[static_cast<size_t>(kind)]++;
    const EffectiveAddr ea = kNamed ? cursor_.code(instruction) : instruction.ea;
    uint64_t site = kNoSite;
    if (instruction.has_ea && !owned::is_nobodys(instruction.ea.value)) [[likely]] {
      site = kNamed ? named_site_of(ea) : line_of(ea);
    }
    enter_run(site, instruction.modes, instruction.has_ra, instruction.ra);
    run_.count++;
    // No loop: an indexed array would force the accesses into memory.
    if (instruction.data_count > 0) take_data<kNamed>(instruction.data[0], kind, site);
    if (instruction.data_count > 1) [[unlikely]]
      take_data<kNamed>(instruction.data[1], kind, site);
  }
  void named_instruction(const Instruction& instruction);

  static uint64_t line_of(EffectiveAddr address) {
    return address.value & ~(words::kLineBytes - 1);
  }
  uint64_t named_site_of(EffectiveAddr address);
  uint64_t object_of(EffectiveAddr address);

  template <bool kNamed>
  [[gnu::always_inline]] void take_data(const DataAccess& access, InstructionClass kind,
                                        uint64_t site) {
    mix_.data_accesses++;
    (access.has_ra ? owners_.at(access.ra) : owners_.unknown()).data++;
    const std::optional<uint64_t> address = address_of(access, key_);
    if (!address) {
      mix_.data_without_address++;
      return;
    }
    const EffectiveAddr ea = kNamed ? cursor_.data(access) : access.ea;
    const bool is_nobodys = owned::is_nobodys(access.ea.value);
    Accesses& same = data_.at({
        .address = *address & unit_mask_,
        .site = site,
        .object = kNamed && !is_nobodys ? object_of(ea) : kNoObject,
        .kind = kind,
    });
    same.count++;
    if (!is_nobodys && owned::plain(ea.value) < owned::plain(same.lowest_ea)) {
      same.lowest_ea = ea.value;
    }
  }

  // The next instruction belongs to a run with these values.
  [[gnu::always_inline]] void enter_run(uint64_t site, Modes modes, bool has_ra, RealAddr ra) {
    const bool in_run = site == run_.site && modes == run_.modes &&
                        (has_ra ? run_.memory.holds(ra) : run_.in_unknown_memory);
    if (!in_run) begin_run(site, modes, has_ra, ra);
  }
  void begin_run(uint64_t site, Modes modes, bool has_ra, RealAddr ra);
  void count_run();

  const DataKey key_;
  const uint64_t unit_mask_;
  const SymbolTable& symbols_;
  const bool named_;  // the symbol table has symbols or programs
  SymbolCursor cursor_;
  RecentName recent_code_;
  std::array<RecentName, kRecent> recent_data_{};
  Run run_;  // the current run; count_run() adds it to mix_, code_ and owners_
  Mix mix_;
  ArrivalTable<Access, Accesses> data_;
  ArrivalTable<PlainKey, HotCode> code_;
  OwnerTable<OwnedWork> owners_;
  std::vector<SeenWalk> walks_;
};

}  // namespace htmtrace
