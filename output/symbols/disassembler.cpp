// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/symbols/disassembler.h"

#include <pthread.h>

#include <memory>
#include <new>

#include "core/base/error.h"
#include "core/base/spread.h"

#ifdef HTMTRACE_HAVE_LIBOPCODES

// bfd.h refuses to compile without this definition.
#define PACKAGE "htmtrace"
#define PACKAGE_VERSION HTMTRACE_VERSION
#include <dis-asm.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>

namespace htmtrace {

struct Disassembler::Engine {
  Engine() {
    // The library fills tables that all threads read.
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    init_disassemble_info(&info, this, print, print_styled);
    info.arch = bfd_arch_powerpc;
    info.mach = bfd_mach_ppc64;
    info.endian = info.endian_code = BFD_ENDIAN_LITTLE;
    info.disassembler_options = "power10";
    info.buffer = bytes.data();
    info.print_address_func = print_address;
    disassemble_init_for_target(&info);
    // Without memory for its options, the library would silently print other instructions.
    if (info.private_data == nullptr) throw std::bad_alloc();
    function = disassembler(info.arch, false, info.mach, nullptr);
  }
  ~Engine() { disassemble_free_target(&info); }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  void disassemble(const Instruction& instruction) {
    text.clear();
    // The library prints the address of prefixed instructions in another way.
    has_address = instruction.has_prefix;
    size_t size = 0;
    if (instruction.has_prefix) size = put(instruction.prefix, size);
    size = put(instruction.opcode, size);
    info.buffer_length = size;
    info.buffer_vma = instruction.has_ea ? instruction.ea.value : 0;
    if (function(info.buffer_vma, &info) <= 0 || text.empty()) {
      print(this, ".long 0x%x", static_cast<unsigned>(instruction.opcode));
    }
    while (!text.empty() && text.back() == ' ') text.pop_back();
  }

  // Stores the word in the byte order that the library expects.
  size_t put(uint32_t word, size_t at) {
    for (unsigned i = 0; i < 4; i++) bytes.at(at + i) = static_cast<bfd_byte>(word >> 8 * i);
    return at + 4;
  }

  static int add(void* stream, const char* format, va_list arguments) {
    char piece[128];
    const int size = std::vsnprintf(piece, sizeof(piece), format, arguments);
    for (const char* at = piece; *at != '\0'; at++) {
      const char shown = *at == '\t' ? ' ' : *at;
      std::string& text = static_cast<Engine*>(stream)->text;
      if (shown != ' ' || (!text.empty() && text.back() != ' ')) text += shown;
    }
    return size;
  }
  [[gnu::format(printf, 2, 3)]] static int print(void* stream, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int size = add(stream, format, arguments);
    va_end(arguments);
    return size;
  }
  [[gnu::format(printf, 3, 4)]] static int print_styled(void* stream, disassembler_style,
                                                        const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int size = add(stream, format, arguments);
    va_end(arguments);
    return size;
  }
  static void print_address(bfd_vma address, disassemble_info* info) {
    static_cast<Engine*>(info->stream)->has_address = true;
    print(info->stream, "0x%llx", static_cast<unsigned long long>(address));
  }

  disassemble_info info{};
  disassembler_ftype function = nullptr;
  std::array<bfd_byte, 8> bytes{};
  std::string text;
  bool has_address = false;  // the text may depend on the address of the instruction
};

bool can_disassemble() {
  return true;
}

Disassembler::Disassembler()
    : engine_(std::make_unique<Engine>()), by_words_(kKnown), by_address_(kKnown) {
  if (engine_->function == nullptr) {
    throw Error("cannot disassemble: libopcodes does not know POWER");
  }
}

std::string_view Disassembler::text(const Instruction& instruction) {
  const uint64_t address = instruction.has_ea ? instruction.ea.value : 0;
  const uint64_t words =
      uint64_t{instruction.has_prefix ? instruction.prefix : 0} << 32 | instruction.opcode;
  Known& same_words = by_words_[(spread(words) >> 32) % kKnown];
  if (same_words.size != 0 && same_words.words == words) {
    return {same_words.text.data(), same_words.size};
  }
  Known& here = by_address_[address / 4 % kKnown];
  if (here.size != 0 && here.address == address && here.words == words) {
    return {here.text.data(), here.size};
  }
  engine_->disassemble(instruction);
  const std::string& text = engine_->text;
  Known& known = engine_->has_address ? here : same_words;
  if (text.size() > known.text.size()) return text;
  known.words = words;
  known.address = address;
  known.size = static_cast<uint8_t>(text.copy(known.text.data(), known.text.size()));
  return {known.text.data(), known.size};
}

}  // namespace htmtrace

#else

namespace htmtrace {

struct Disassembler::Engine {};

bool can_disassemble() {
  return false;
}

Disassembler::Disassembler() {
  throw Error("cannot disassemble: this htmtrace was built without libopcodes")
      .hint(
          "install Debian's binutils-dev (on other processors than POWER also "
          "binutils-powerpc64le-linux-gnu), configure and build again");
}

std::string_view Disassembler::text(const Instruction&) {
  return {};
}

}  // namespace htmtrace

#endif

namespace htmtrace {
namespace {

// A key, and not a thread_local object: for such an object, glibc allocates memory to call its
// destructor, and ends the program if the allocation fails.
pthread_key_t key_of_disassemblers() {
  pthread_key_t key{};
  const int failure =
      ::pthread_key_create(&key, [](void* own) { delete static_cast<Disassembler*>(own); });
  if (failure != 0) throw Error("cannot store a disassembler for each thread", failure);
  return key;
}

}  // namespace

Disassembler& Disassembler::of_thread() {
  static const pthread_key_t key = key_of_disassemblers();
  void* own = ::pthread_getspecific(key);
  if (own == nullptr) [[unlikely]] {
    auto made = std::make_unique<Disassembler>();
    if (::pthread_setspecific(key, made.get()) != 0) throw std::bad_alloc();
    own = made.release();
  }
  return *static_cast<Disassembler*>(own);
}

Disassembler::~Disassembler() = default;

}  // namespace htmtrace
