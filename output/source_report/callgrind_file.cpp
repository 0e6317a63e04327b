// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/source_report/callgrind_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/counted.h"
#include "core/base/plain_text.h"
#include "core/call_stacks/call_edges.h"
#include "output/io/hex_text.h"
#include "output/io/put_text.h"

namespace htmtrace {
namespace {

using Function = CallTree::Function;

constexpr const char* kUnknownFile = "???";  // as callgrind writes it

// From this address on, instructions of a function ran `change` times more often. The change after
// a block has the address of the second byte of its last instruction: no address follows a block at
// the end of the address space.
struct CountChange {
  Function function = CallTree::kUnnamed;
  uint64_t address = 0;  // with its owner
  uint64_t change = 0;   // modulo 2^64
};

// The part of a list, sorted by function, that belongs to one function. Call it with increasing
// functions.
template <class Row>
class Slices {
 public:
  explicit Slices(std::span<const Row> rows) : rest_(rows) {}
  template <class FunctionOf>
  std::span<const Row> of(Function function, const FunctionOf& function_of) {
    const auto is_other = [&](const Row& row) { return function_of(row) != function; };
    const auto end = std::find_if(rest_.begin(), rest_.end(), is_other);
    const auto slice = rest_.first(static_cast<size_t>(end - rest_.begin()));
    rest_ = rest_.subspan(slice.size());
    return slice;
  }

 private:
  std::span<const Row> rest_;
};

// Numbers for names: a file states each name once.
class NameNumbers {
 public:
  uint32_t number(const std::string& name) {
    const auto next = static_cast<uint32_t>(names_.size() + 1);
    const auto [known, added] = numbers_.try_emplace(name, next);
    if (added) names_.push_back({&known->first, false});
    return known->second;
  }
  // "(3) name" for the first use of a number, then "(3)".
  std::string text(uint32_t number) {
    Name& name = names_[number - 1];
    if (std::exchange(name.is_stated, true)) return fmt::format("({})", number);
    return fmt::format("({}) {}", number, *name.text);
  }

 private:
  struct Name {
    const std::string* text = nullptr;
    bool is_stated = false;
  };
  std::unordered_map<std::string, uint32_t> numbers_;
  std::vector<Name> names_;
};

class CallgrindWriter {
 public:
  using Jump = CallGraph::Jumps::Row;

  CallgrindWriter(const CallgrindFile& file, TextOutput& output)
      : file_(file),
        tree_(file.graph.tree()),
        output_(output),
        own_(own_instructions(tree_)),
        edges_(call_edges(tree_)),
        jumps_(file.graph.jumps()),
        functions_(tree_.functions()) {
    unknown_file_ = source_names_.number(kUnknownFile);
    // Instructions without an address have no stack.
    const uint64_t unknown = file.graph.stacks().unknown();
    own_[CallTree::kUnnamed] += unknown;
    if (unknown != 0) {
      edges_.push_back({.callee = CallTree::kUnnamed, .calls = 1, .instructions = unknown});
    }
    list_changes();
    std::ranges::sort(jumps_, {}, [](const Jump& jump) {
      return std::tuple(jump.key.from_function, jump.key.from, jump.key.to, jump.key.to_function);
    });
    find_functions();
  }

  void write() {
    put(
        fmt::format("# callgrind format\nversion: 1\ncreator: {}\ncmd: {}\n"
                    "positions: instr line\nevent: Ir : Instructions\nevents: Ir\nsummary: {}\n",
                    file_.creator, counted(file_.traces, "trace"), file_.graph.instructions()));
    Slices<CountChange> changes(changes_);
    Slices<CallEdge> edges(edges_);
    Slices<Jump> jumps(jumps_);
    for (Function function = 0; function < tree_.functions(); function++) {
      put_function(function, changes.of(function, [](const auto& row) { return row.function; }),
                   edges.of(function, [](const auto& row) { return row.caller; }),
                   jumps.of(function, [](const auto& row) { return row.key.from_function; }));
    }
    put_outermost(edges.of(CallEdge::kNobody, [](const auto& row) { return row.caller; }));
    put(fmt::format("\ntotals: {}\n", file_.graph.instructions()));
  }

 private:
  // A function of the file. The names of functions are unique, so each has one object and source.
  struct Place {
    uint32_t object = 0;
    uint32_t source = 0;  // of the function, not of functions that were inlined into it
    uint64_t first = 0;   // its lowest executed address with its owner; 0: unknown
    uint64_t listed = 0;  // its own instructions with known addresses
    // `first` as the file states it, with the line in `source`.
    uint64_t file_address = 0;
    uint32_t line = 0;
  };
  // An address as the file states it.
  struct Position {
    uint64_t address = 0;  // in the program file, if known
    uint32_t source = 0;
    uint32_t line = 0;
  };

  void put(const std::string& text) { output_.put(text); }

  void list_changes() {
    const auto add = [this](Function function, uint64_t begin, uint64_t instructions,
                            uint64_t count) {
      if (instructions == 0) return;
      changes_.push_back({function, begin, count});
      changes_.push_back({function, begin + 4 * (instructions - 1) + 1, 0 - count});
      functions_[function].listed += instructions * count;
    };
    for (size_t i = 0; i < file_.graph.blocks().size(); i++) {
      const CallGraph::Block& block = file_.graph.blocks()[i].key;
      const uint64_t executions = file_.graph.executions()[i];
      if (block.has_prefix) {
        add(block.function, block.begin, 1, executions);
        add(block.function, block.second(), block.instructions - 1, executions);
      } else {
        add(block.function, block.begin, block.instructions, executions);
      }
    }
    std::ranges::sort(changes_, {}, [](const CountChange& change) {
      return std::tuple(change.function, change.address, change.change);
    });
  }

  // Finds the object and the source of each function.
  void find_functions() {
    const auto see = [this](Function function, uint64_t address) {
      if (function >= functions_.size() || address == CallTree::kNoSite) return;
      Place& place = functions_[function];
      if (place.first == 0 || address < place.first) place.first = address;
    };
    for (const CountChange& change : changes_) see(change.function, change.address);
    // A caller need not have executed in the selected part.
    for (const CallEdge& edge : edges_) {
      if (edge.caller < functions_.size() && functions_[edge.caller].first == 0) {
        see(edge.caller, edge.site);
      }
    }
    for (Place& place : functions_) {
      place.source = unknown_file_;
      place.object = object_names_.number(object_at(place.first));
      place.file_address = file_address(place.first);
      if (file_.lines == nullptr || place.first == 0) continue;
      find_frames(place.first);
      if (frames_.empty()) continue;
      place.source = source_of(frames_.back());
      place.line = frames_.back().line;
    }
  }

  uint64_t file_address(uint64_t address) {
    if (address == 0) return 0;
    const SymbolTable::File* const file = program_file(address);
    return owned::plain(address) - (file == nullptr ? 0 : file->distance);
  }

  // SymbolTable::file_of(), which searches all files. Most addresses are in the last file.
  const SymbolTable::File* program_file(uint64_t address) {
    const uint64_t plain = owned::plain(address), owner = address - plain;
    if (last_file_ == nullptr || owner != last_owner_ ||
        plain - last_file_->begin >= last_file_->end - last_file_->begin) {
      last_file_ = file_.symbols.file_of({address});
      last_owner_ = owner;
    }
    return last_file_;
  }

  std::string object_at(uint64_t address) {
    if (address == 0) return kUnknownFile;
    if (const SymbolTable::File* const file = program_file(address)) {
      const bool is_program = file->program < file_.symbols.programs().size();
      const std::string& source =
          is_program ? file_.symbols.programs()[file->program].source : file->path;
      return without_controls(source.empty() ? file->path : source);
    }
    const uint64_t owner = file_.symbols.programs().empty() ? 0 : owned::owner(address);
    if (owner != 0 && owner != owned::kForeign) {
      return without_controls(file_.symbols.programs()[owned::program(owner)].file);
    }
    return owned::is_user(owned::plain(address)) ? kUnknownFile : "[kernel]";
  }

  void find_frames(uint64_t address) {
    if (!span_.holds(address)) span_ = file_.lines->find({address}, frames_);
  }
  uint32_t source_of(const SourceFrame& frame) {
    return frame.file.empty() ? unknown_file_ : source_names_.number(std::string(frame.file));
  }

  Position position_of(uint64_t address) {
    if (address == 0) return {.address = 0, .source = here_.source, .line = 0};
    Position position{.address = file_address(address), .source = here_.source, .line = 0};
    if (file_.lines == nullptr) return position;
    find_frames(address);
    if (frames_.empty() || frames_.front().file.empty()) return position;
    position.source = source_of(frames_.front());
    position.line = frames_.front().line;
    return position;
  }

  std::string name_of(Function function) {
    if (function == CallEdge::kNobody) {
      return function_names_.text(function_names_.number(std::string(CallgrindFile::kOutermost)));
    }
    return function_names_.text(function_names_.number(tree_.name_of(function)));
  }

  // The following lines have their source in this file.
  void enter_source(uint32_t source) {
    if (source == source_) return;
    put(fmt::format("{}={}\n", source == here_.source ? "fe" : "fi", source_names_.text(source)));
    source_ = source;
  }

  void begin_function(Function function, const Place& place) {
    function_ = function;
    here_ = place;
    source_ = here_.source;
    put(fmt::format("\nob={}\nfl={}\nfn={}\n", object_names_.text(here_.object),
                    source_names_.text(here_.source), name_of(function)));
  }

  void put_outermost(std::span<const CallEdge> edges) {
    begin_function(CallEdge::kNobody,
                   {.object = object_names_.number(kUnknownFile), .source = unknown_file_});
    for (const CallEdge& edge : edges) put_call(edge);
  }

  void put_function(Function function, std::span<const CountChange> changes,
                    std::span<const CallEdge> edges, std::span<const Jump> jumps) {
    if (own_[function] == 0 && edges.empty()) return;
    begin_function(function, functions_[function]);
    const uint64_t rest = own_[function] - here_.listed;
    if (rest != 0) put(fmt::format("0x0 0 {}\n", rest));
    const auto put_before = [&](uint64_t end) {
      while (!edges.empty() && edges.front().site < end) {
        put_call(edges.front());
        edges = edges.subspan(1);
      }
      while (!jumps.empty() && jumps.front().key.from < end) {
        put_jump(jumps.front());
        jumps = jumps.subspan(1);
      }
    };
    put_before(1);
    executions_ = 0;
    for (size_t i = 0; i < changes.size(); i++) {
      executions_ += changes[i].change;
      if (executions_ == 0) continue;
      // Another change follows the last instruction.
      const uint64_t end = words_before(changes[i + 1].address);
      for (uint64_t word = words_before(changes[i].address); word < end; word++) {
        const uint64_t ea = 4 * word;
        put_before(ea);
        const Position position = position_of(ea);
        enter_source(position.source);
        put_count(position, executions_);
        at_ = ea;
        put_before(ea + 1);
      }
    }
    at_ = 0;
    put_before(~uint64_t{0});
  }

  // The number of words that begin before the address.
  static uint64_t words_before(uint64_t address) {
    return address / 4 + (address % 4 != 0 ? 1 : 0);
  }

  // Most lines of the file. Requires less than TextOutput::kRoom characters.
  void put_count(const Position& position, uint64_t executions) {
    char* to = put_short_hex(put_text(output_.room(), "0x"), position.address);
    to = put_decimal(put_text(to, " "), position.line);
    to = put_decimal(put_text(to, " "), executions);
    output_.commit(put_text(to, "\n"));
  }

  void put_call(const CallEdge& edge) {
    const Place& callee = functions_[edge.callee];
    const Position site = position_of(edge.site);
    enter_source(site.source);
    if (callee.object != here_.object) {
      put(fmt::format("cob={}\n", object_names_.text(callee.object)));
    }
    // Readers differ in the default file inside of an inlined function.
    if (callee.source != source_ || source_ != here_.source) {
      put(fmt::format("cfi={}\n", source_names_.text(callee.source)));
    }
    put(fmt::format("cfn={}\ncalls={} 0x{:x} {}\n0x{:x} {} {}\n", name_of(edge.callee), edge.calls,
                    callee.file_address, callee.line, site.address, site.line, edge.instructions));
  }

  void put_jump(const Jump& jump) {
    const Position from = position_of(jump.key.from);
    enter_source(from.source);
    const Position to = position_of(jump.key.to);
    if (to.source != source_) put(fmt::format("jfi={}\n", source_names_.text(to.source)));
    if (jump.key.to_function != function_) {
      put(fmt::format("jfn={}\n", name_of(jump.key.to_function)));
    }
    const uint64_t executed = at_ == jump.key.from ? executions_ : 0;
    const std::string counts =
        jump.entry.is_conditional
            ? fmt::format("jcnd={}/{}", jump.entry.count, std::max(executed, jump.entry.count))
            : fmt::format("jump={}", jump.entry.count);
    put(fmt::format("{} 0x{:x} {}\n0x{:x} {}\n", counts, to.address, to.line, from.address,
                    from.line));
  }

  const CallgrindFile& file_;
  const CallTree& tree_;
  TextOutput& output_;
  std::vector<uint64_t> own_;
  std::vector<CallEdge> edges_;
  std::vector<Jump> jumps_;
  std::vector<Place> functions_;
  std::vector<CountChange> changes_;
  NameNumbers object_names_, source_names_, function_names_;
  uint32_t unknown_file_ = 0;
  const SymbolTable::File* last_file_ = nullptr;  // of program_file()
  uint64_t last_owner_ = 0;
  std::vector<SourceFrame> frames_;  // of all addresses in span_
  DebugInfo::Span span_;
  // The state of the function that is being written.
  Place here_;
  Function function_ = CallTree::kUnnamed;
  uint32_t source_ = 0;  // the current file
  uint64_t at_ = 0;      // the last address with its executions
  uint64_t executions_ = 0;
};

}  // namespace

void CallgrindFile::write(TextOutput& output) const {
  CallgrindWriter(*this, output).write();
}

}  // namespace htmtrace
