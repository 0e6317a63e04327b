// SPDX-License-Identifier: GPL-2.0-or-later
// Checks the process of each instruction: accesses that prove it, events that end a stretch, and
// code that stays unknown.
#include "core/analysis/process_follower.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/selection/process_selection.h"
#include "output/print/selecting_sink.h"
#include "tests/unit/instruction_run.h"

namespace htmtrace {
namespace {

constexpr uint32_t kStoreWord = 0x90610000;   // stw r3,0(r1)
constexpr uint32_t kLoadWord = 0x80610000;    // lwz r3,0(r1)
constexpr uint32_t kBackToUser = 0x4c000024;  // rfid
constexpr uint32_t kSetPidr = 0x7d300ba6;     // mtspr 48,r9
constexpr uint32_t kHypercall = 0x44000022;   // sc 1
constexpr uint32_t kSc = 0x44000002;          // sc
constexpr uint64_t kUser = 0x10000000;
constexpr uint64_t kKernel = 0xc000000000001000;
constexpr uint64_t kVector = 0xc000000000004500;
constexpr uint64_t kStack = 0x7fff00000000;
constexpr uint64_t kStackEnd = kStack + 0x21000;
constexpr uint16_t kAllKnown = Modes::kAll;

// core/analysis/page_owners.h, kRandomBytes
constexpr uint64_t kRandomBytes = uint64_t{4} << 30;

// Two processes with a page each at the same address; the third is not provable.
PageOwners two_processes() {
  PageOwners owners;
  const uint32_t a = owners.add_process(Process::of(1, "a"));
  const uint32_t b = owners.add_process(Process::of(2, "b"));
  const uint32_t child = owners.add_process(Process::of(3, "child"));
  owners.set_provable(a);
  owners.set_stack_end(a, kStackEnd);
  owners.set_provable(b);
  owners.set_stack_end(b, kStackEnd);
  owners.set_stack_end(child, kStackEnd);
  const auto own = [&](uint32_t process, uint64_t ea, uint64_t la) {
    owners.add({.la = la, .size_bytes = 0x1000, .ea = ea, .process = process, .own = true});
  };
  own(a, kStack, 0x1000);
  own(b, kStack, 0x2000);
  own(child, kStack, 0x3000);
  own(a, kStack, 0x4000);
  own(b, kStack, 0x4000);
  own(a, kUser + 0x1000, 0x5000);
  own(a, kStackEnd - kRandomBytes, 0x8000);
  own(a, kStackEnd - kRandomBytes - 0x1000, 0x9000);
  own(a, kStackEnd, 0xa000);
  owners.add({.la = 0x6000, .size_bytes = 0x1000, .ea = kStack, .process = a});
  owners.finish();
  return owners;
}

// Writes one letter for each instruction: the first letter of its process.
struct Letters {
  void process(const Process& process) { letter = process.name.front(); }
  void instruction(const Instruction&) { text += letter; }
  void stamp(const Stamp&) { text += '.'; }
  void walk(const Walk&) { text += 'w'; }
  void defect(const Defect&) { text += '!'; }
  char letter = '?';
  std::string text;
};

class FollowedTrace {
 public:
  FollowedTrace() = default;

  FollowedTrace& user(uint64_t ea, uint32_t opcode = kNop) { return add(ea, opcode, Modes::kPr); }
  FollowedTrace& kernel(uint64_t ea, uint32_t opcode = kNop) { return add(ea, opcode, 0); }
  FollowedTrace& without_address() {
    Instruction instruction = of(0, kNop, Modes::kPr);
    instruction.has_ea = false;
    follower_.instruction(instruction, letters_);
    return *this;
  }
  FollowedTrace& access(uint64_t ea, uint32_t opcode, uint64_t la, uint64_t data_ea = kStack) {
    Instruction instruction = of(ea, opcode, Modes::kPr);
    DataAccess& data = instruction.add_data({data_ea + 8});
    data.la = {la + 8};
    data.has_la = true;
    follower_.instruction(instruction, letters_);
    return *this;
  }
  FollowedTrace& stamp(StampKind kind) {
    Stamp stamp;
    stamp.kind = kind;
    follower_.stamp(stamp, letters_);
    return *this;
  }
  FollowedTrace& defect() {
    follower_.defect(Defect{}, letters_);
    return *this;
  }
  FollowedTrace& walk() {
    follower_.walk(Walk{}, letters_);
    return *this;
  }
  // From user code through the kernel and back, by this kernel instruction.
  FollowedTrace& through(uint32_t opcode, uint64_t back) {
    return kernel(kVector).kernel(kVector + 4, opcode).kernel(kVector + 8, kBackToUser).user(back);
  }
  std::string so_far() const { return letters_.text; }
  std::string text() {
    follower_.finish(letters_);
    return letters_.text;
  }
  uint64_t contradictions() const { return follower_.contradictions(); }

 private:
  static Instruction of(uint64_t ea, uint32_t opcode, uint16_t modes) {
    Instruction instruction = one(ea, opcode);
    instruction.modes = {.bits = modes, .known = kAllKnown};
    return instruction;
  }
  FollowedTrace& add(uint64_t ea, uint32_t opcode, uint16_t modes) {
    follower_.instruction(of(ea, opcode, modes), letters_);
    return *this;
  }

  PageOwners owners_ = two_processes();
  ProcessFollower follower_{owners_};
  Letters letters_;
};

}  // namespace

TEST_CASE("an access to an own page proves the stretch before and after it") {
  FollowedTrace trace;
  trace.user(kUser).user(kUser + 4);
  CHECK(trace.so_far().empty());
  trace.access(kUser + 8, kStoreWord, 0x1000);
  CHECK(trace.so_far() == "aaa");
  trace.user(kUser + 12);
  CHECK(trace.text() == "aaaa");
  CHECK(FollowedTrace().user(kUser).access(kUser + 4, kLoadWord, 0x2000).text() == "bb");
}

TEST_CASE("pages that prove nothing leave the code unknown") {
  CHECK(FollowedTrace().access(kUser, kStoreWord, 0x3000).text() ==
        "u");  // the owner may have a parent
  CHECK(FollowedTrace().access(kUser, kStoreWord, 0x4000).text() == "u");  // two owners
  CHECK(FollowedTrace().access(kUser, kStoreWord, 0x6000).text() == "u");  // a page of a file
  CHECK(FollowedTrace().access(kUser, kStoreWord, 0x7000).text() == "u");  // nobody's page
  CHECK(FollowedTrace().access(kUser, kStoreWord, 0x1000, kStack + 0x1000).text() ==
        "u");  // another address
  // Only addresses near the stack are random.
  CHECK(FollowedTrace().access(kUser, kStoreWord, 0x5000, kUser + 0x1000).text() == "u");
  CHECK(FollowedTrace().access(kUser, kStoreWord, 0x8000, kStackEnd - kRandomBytes).text() == "a");
  CHECK(
      FollowedTrace().access(kUser, kStoreWord, 0x9000, kStackEnd - kRandomBytes - 0x1000).text() ==
      "u");
  CHECK(FollowedTrace().access(kUser, kStoreWord, 0xa000, kStackEnd).text() == "u");
}

TEST_CASE("a page proves nothing if it has too many owners to visit") {
  const auto process = [](size_t files) {
    PageOwners owners;
    const uint32_t a = owners.add_process(Process::of(1, "a"));
    owners.set_provable(a);
    owners.set_stack_end(a, kStackEnd);
    owners.add({.la = 0x1000, .size_bytes = 0x1000, .ea = kStack, .process = a, .own = true});
    for (size_t i = 0; i < files; i++) {
      owners.add({.la = 0x1000, .size_bytes = 0x1000, .ea = kUser + (i << 16), .process = a});
    }
    owners.finish();
    return owners.user({kStack}, {0x1000}) != nullptr;
  };
  CHECK(process(100));
  CHECK_FALSE(process(10000));
}

TEST_CASE("a stretch continues through the kernel until the address space changes") {
  CHECK(FollowedTrace().access(kUser, kStoreWord, 0x1000).through(kNop, kUser + 4).text() ==
        "akkka");
  CHECK(FollowedTrace().access(kUser, kStoreWord, 0x1000).through(kSetPidr, kUser + 4).text() ==
        "akkku");
  CHECK(FollowedTrace().access(kUser, kStoreWord, 0x1000).through(kHypercall, kUser + 4).text() ==
        "akkku");
  // The store of the next process also proves the process of the preceding instructions.
  CHECK(FollowedTrace()
            .access(kUser, kStoreWord, 0x1000)
            .through(kSetPidr, kUser + 4)
            .access(kUser + 8, kStoreWord, 0x2000)
            .text() == "akkkbb");
  // The proof arrives after an interrupt.
  CHECK(FollowedTrace()
            .user(kUser)
            .through(kNop, kUser + 4)
            .access(kUser + 8, kStoreWord, 0x2000)
            .text() == "bkkkbb");
}

TEST_CASE("a return from the kernel to another instruction ends a stretch") {
  // A signal, another thread, or another virtual processor.
  CHECK(FollowedTrace().access(kUser, kStoreWord, 0x1000).through(kNop, kUser + 8).text() ==
        "akkku");
  CHECK(FollowedTrace().access(kUser, kStoreWord, 0x1000).through(kNop, kUser).text() == "akkku");
  // A system call returns to the next instruction, or runs again.
  const auto after_call = [](uint64_t back) {
    return FollowedTrace()
        .access(kUser, kStoreWord, 0x1000)
        .user(kUser + 4, kSc)
        .through(kNop, back)
        .text();
  };
  CHECK(after_call(kUser + 8) == "aakkka");
  CHECK(after_call(kUser + 4) == "aakkka");
  CHECK(after_call(kUser) == "aakkku");
  // An interrupt after a branch.
  const auto after_branch = [](uint32_t opcode, uint64_t back) {
    return FollowedTrace()
        .access(kUser, kStoreWord, 0x1000)
        .user(kUser + 4, opcode)
        .through(kNop, back)
        .text();
  };
  CHECK(after_branch(jump(kUser + 4, kUser + 0x40), kUser + 0x40) == "aakkka");
  CHECK(after_branch(jump(kUser + 4, kUser + 0x40), kUser + 0x44) == "aakkku");
  CHECK(after_branch(kBlr, kUser + 0x400) == "aakkka");
}

TEST_CASE("user code after a system call without kernel code is another stretch") {
  CHECK(FollowedTrace()
            .access(kUser, kStoreWord, 0x1000)
            .user(kUser + 4, kSc)
            .user(kUser + 8)
            .text() == "aau");
}

TEST_CASE("an instruction without an address is a stretch of its own") {
  CHECK(FollowedTrace()
            .access(kUser, kStoreWord, 0x1000)
            .without_address()
            .access(kUser + 8, kStoreWord, 0x2000)
            .text() == "aub");
}

TEST_CASE("a gap, a defect and an impossible successor end a stretch") {
  CHECK(FollowedTrace()
            .access(kUser, kStoreWord, 0x1000)
            .stamp(StampKind::kRecord)
            .user(kUser + 4)
            .text() == "a.u");
  CHECK(FollowedTrace()
            .access(kUser, kStoreWord, 0x1000)
            .stamp(StampKind::kTime)
            .user(kUser + 4)
            .text() == "a.a");
  CHECK(FollowedTrace().access(kUser, kStoreWord, 0x1000).defect().user(kUser + 4).text() == "a!u");
  // Another virtual processor: the store is no branch.
  CHECK(FollowedTrace().access(kUser, kStoreWord, 0x1000).user(kUser + 8).text() == "au");
  CHECK(FollowedTrace()
            .access(kUser, kStoreWord, 0x1000)
            .user(kUser + 4, jump(kUser + 4, kUser + 0x40))
            .user(kUser + 0x40)
            .text() == "aaa");
  CHECK(FollowedTrace()
            .access(kUser, kStoreWord, 0x1000)
            .user(kUser + 4, jump(kUser + 4, kUser + 0x40))
            .user(kUser + 0x44)
            .text() == "aau");
}

TEST_CASE("held events keep their order") {
  CHECK(FollowedTrace()
            .user(kUser)
            .stamp(StampKind::kTime)
            .walk()
            .user(kUser + 4)
            .stamp(StampKind::kSync)
            .access(kUser + 8, kStoreWord, 0x1000)
            .text() == "a.wa.a");
}

TEST_CASE("a stretch without a proof holds a bounded number of events") {
  FollowedTrace trace;
  uint64_t ea = kUser;
  for (size_t i = 0; i < ProcessFollower::kMostHeld - 1; i++, ea += 4) trace.user(ea);
  CHECK(trace.so_far().empty());
  trace.user(ea);
  CHECK(trace.so_far() == std::string(ProcessFollower::kMostHeld, 'u'));
  trace.user(ea + 4);
  CHECK(trace.so_far().size() == ProcessFollower::kMostHeld + 1);
  // Later code of the stretch has its process.
  trace.access(ea + 8, kStoreWord, 0x1000).user(ea + 12);
  CHECK(trace.text().substr(ProcessFollower::kMostHeld) == "uaa");
}

TEST_CASE("accesses to the pages of two processes in one stretch are reported") {
  FollowedTrace trace;
  trace.access(kUser, kStoreWord, 0x1000).access(kUser + 4, kStoreWord, 0x2000).user(kUser + 8);
  CHECK(trace.text() == "abb");
  CHECK(trace.contradictions() == 1);
  FollowedTrace other;
  other.access(kUser, kStoreWord, 0x1000).access(kUser + 4, kStoreWord, 0x3000).user(kUser + 8);
  CHECK(other.text() == "auu");  // the third process is not provable, but its page is
  CHECK(other.contradictions() == 1);
}

TEST_CASE("the addresses of a 32-bit process prove nothing") {
  constexpr uint64_t kHeap = 0xacc89000;
  PageOwners owners;
  const uint32_t old = owners.add_process(Process::of(1, "old"));
  owners.set_provable(old);
  owners.set_stack_end(old, 0xffff0000);
  owners.add({.la = 0x1000, .size_bytes = 0x1000, .ea = kHeap, .process = old, .own = true});
  owners.finish();
  CHECK(owners.user({kHeap}, {0x1000}) == nullptr);
}

TEST_CASE("the name of the kernel selects no process with this command") {
  CHECK(ProcessSelection::names("kernel", Process::kernel()));
  CHECK_FALSE(ProcessSelection::names("kernel", Process::of(7, "kernel")));
  CHECK_FALSE(ProcessSelection::names("unknown", Process::of(7, "unknown")));
  CHECK(ProcessSelection::names("kernel:7", Process::of(7, "kernel")));
}

TEST_CASE("without a privilege, translation and the address decide") {
  PageOwners owners = two_processes();
  ProcessFollower follower(owners);
  Letters letters;
  const auto add = [&](uint64_t ea, uint16_t bits, uint16_t known) {
    Instruction instruction = one(ea, kNop);
    instruction.modes = {.bits = bits, .known = known};
    follower.instruction(instruction, letters);
  };
  constexpr uint16_t kPower8 = Modes::kHv | Modes::kIr;
  add(kKernel, Modes::kIr, kPower8);
  add(kUser, 0, kPower8);  // the kernel without translation
  add(kUser, Modes::kIr, kPower8);
  add(kUser + 4, 0, 0);
  follower.finish(letters);
  CHECK(letters.text == "kkuu");
}

TEST_CASE("a SelectingSink passes the process on and selects by it") {
  struct Sink {
    void process(const Process& process) { names.push_back(process.name); }
    void instruction(const Instruction&) { names.emplace_back("instruction"); }
    void stamp(const Stamp&) {}
    void defect(const Defect&) {}
    std::vector<std::string> names;
  };
  const PageOwners owners = two_processes();
  const auto selected = [&](const std::string& text, uint64_t last) {
    Selection selection;
    selection.by_process = true;
    selection.last = last;
    Sink sink;
    SelectingSink selecting(selection, sink);
    selecting.find_processes(owners, ProcessSelection({text}));
    Instruction store = one(kUser, kStoreWord);
    store.modes = {.bits = Modes::kPr, .known = kAllKnown};
    store.add_data({kStack}).la = {0x1000};
    store.data[0].has_la = true;
    selecting.instruction(store);
    Instruction kernel = one(kVector, kNop);
    kernel.modes = {.bits = 0, .known = kAllKnown};
    selecting.instruction(kernel);
    selecting.finish();
    return sink.names;
  };
  using Names = std::vector<std::string>;
  CHECK(selected("a", Selection::kAny) == Names{"a:1", "instruction", "kernel"});
  CHECK(selected("1", Selection::kAny) == Names{"a:1", "instruction", "kernel"});
  CHECK(selected("a:1", Selection::kAny) == Names{"a:1", "instruction", "kernel"});
  CHECK(selected("kernel", Selection::kAny) == Names{"a:1", "kernel", "instruction"});
  CHECK(selected("b", Selection::kAny) == Names{"a:1", "kernel"});
  CHECK(selected("a", 1) == Names{"a:1", "kernel", "a:1", "instruction"});
}

}  // namespace htmtrace
