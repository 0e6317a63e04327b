// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "bus.h"
#include "config.h"
#include "cpu.h"
#include "guest_memory.h"
#include "instructions.h"
#include "oracle.h"
#include "report.h"
#include "tests/encoder/power10.h"
#include "trace.h"

enum { kPageBytes = 4096 };

// Belongs to the thread of its vCPU, except `active` and, under the macro's lock, `full`.
struct capture {
  _Atomic bool active;  // the only check while nothing is traced
  bool full;            // since `executed_before`: not in the trace, because the buffer is full
  uint64_t executed_before;
  uint64_t session;  // the macro's session when the fields below were set
  bool mode_known;
  uint64_t msr;
  const struct instruction* pending;
  bool line_known;
  uint64_t line_ea, line_real;
  size_t access_count;
  struct access accesses[kMaxAccesses];
} __attribute__((aligned(64)));

static struct capture captures[kMaxVcpus];
static struct htm* macros[kMaxVcpus];
static struct oracle_file* oracles[kMaxVcpus];
static const char* directory;
static qemu_plugin_id_t plugin_id;
static qemu_plugin_udata_cb_t callback_registration;
static pthread_mutex_t arming = PTHREAD_MUTEX_INITIALIZER;  // protects the next three variables
static bool wanted;
static unsigned traced;              // number of macros that trace vCPUs
static uint64_t watches[kMaxVcpus];  // macros that watch each vCPU
static _Atomic bool armed;           // translated code reports its execution
static qemu_plugin_u64 watched;      // like `watches`, for the emulator's own test
static qemu_plugin_u64 executed;     // instructions of the blocks that a vCPU started

void capture_init(qemu_plugin_id_t id, const char* oracle_directory,
                  qemu_plugin_udata_cb_t register_again) {
  plugin_id = id;
  callback_registration = register_again;
  directory = oracle_directory;
  watched.score = qemu_plugin_scoreboard_new(sizeof(uint64_t));
  executed.score = qemu_plugin_scoreboard_new(sizeof(uint64_t));
  bus_init(oracle_directory);
  for (unsigned vcpu = 0; vcpu < kMaxVcpus; vcpu++) macros[vcpu] = htm_of_vcpu(vcpu);
}

// Runs while no vCPU runs. The emulator accepts no second request until it has served the first, so
// the current request counts.
static void on_forgotten(void* data) {
  armed = wanted;
  callback_registration(data);
}

static void want(bool on) {
  if (wanted == on) return;
  wanted = on;
  qemu_plugin_reset(plugin_id, on_forgotten, NULL);
}

void capture_arm(void) {
  pthread_mutex_lock(&arming);
  want(true);
  pthread_mutex_unlock(&arming);
}

void capture_rest(void) {
  pthread_mutex_lock(&arming);
  if (traced == 0) want(false);
  pthread_mutex_unlock(&arming);
}

enum watch { kCoreWatch = 1, kBusWatch = 2 };

static void watch(unsigned vcpu, enum watch who, bool on) {
  watches[vcpu] = on ? watches[vcpu] | who : watches[vcpu] & ~(uint64_t)who;
  qemu_plugin_u64_set(watched, vcpu, watches[vcpu]);
}

// The vCPUs of the macro start or stop to report their execution.
static void watch_for(const struct htm* htm, bool on) {
  pthread_mutex_lock(&arming);
  if (htm->type == kTypeCore) {
    watch((unsigned)htm->vcpu, kCoreWatch, on);
  } else {
    for (unsigned vcpu = 0; vcpu < kMaxVcpus; vcpu++) {
      if (bus_chip(htm, vcpu)) watch(vcpu, kBusWatch, on);
    }
  }
  traced += on ? 1 : -1u;
  if (traced > 0) want(true);
  pthread_mutex_unlock(&arming);
}

uint64_t capture_executed(unsigned vcpu) {
  return qemu_plugin_u64_get(executed, vcpu);
}

bool capture_armed(void) {
  return armed;
}

static void core_start(struct htm* htm) {
  const unsigned vcpu = (unsigned)htm->vcpu;
  htm->lost_before_start = htm->lost_instructions;
  if (directory != NULL) {
    if (oracles[vcpu] == NULL) {
      oracles[vcpu] = oracle_open(directory, htm->node, htm->chip, htm->core);
    }
    oracle_start(oracles[vcpu]);
  }
  captures[vcpu].full = false;
  captures[vcpu].active = true;
}

static void core_full(struct htm* htm) {
  const unsigned vcpu = (unsigned)htm->vcpu;
  captures[vcpu].active = false;
  captures[vcpu].full = true;
  captures[vcpu].executed_before = qemu_plugin_u64_get(executed, vcpu);
  pthread_mutex_lock(&arming);
  watch(vcpu, kCoreWatch, false);
  pthread_mutex_unlock(&arming);
}

static void core_stop(struct htm* htm) {
  const unsigned vcpu = (unsigned)htm->vcpu;
  captures[vcpu].active = false;
  if (captures[vcpu].full) {
    htm->lost_instructions += qemu_plugin_u64_get(executed, vcpu) - captures[vcpu].executed_before;
  }
  if (oracles[vcpu] != NULL) {
    oracle_stop(oracles[vcpu], htm->lost_instructions - htm->lost_before_start);
  }
}

void capture_start(struct htm* htm) {
  htm->session++;
  if (htm->type == kTypeCore) {
    core_start(htm);
  } else {
    bus_start(htm);
  }
  watch_for(htm, true);
}

void capture_stop(struct htm* htm) {
  watch_for(htm, false);
  if (htm->type == kTypeCore) {
    core_stop(htm);
  } else {
    bus_stop(htm);
  }
}

// ------------------------------------------------------------------------------- instructions

static void describe(const struct capture* capture, struct execution* execution) {
  const struct instruction* pending = capture->pending;
  *execution = (struct execution){.ea = pending->ea,
                                  .real = pending->real,
                                  .msr = capture->msr,
                                  .word_count = pending->word_count,
                                  .access_count = capture->access_count,
                                  .accesses = capture->accesses};
  for (unsigned i = 0; i < pending->word_count; i++) {
    const uint32_t word = pending->words[i];
    execution->words[i] = (capture->msr & MSR_LE) ? word : __builtin_bswap32(word);
  }
}

static uint32_t primary_opcode(const struct capture* capture) {
  struct execution execution;
  describe(capture, &execution);
  return execution.words[0] >> 26;
}

// bc, b, and the branches to a register.
static bool is_branch(const struct capture* capture) {
  const uint32_t primary = primary_opcode(capture);
  return primary == 16 || primary == 18 || primary == 19;
}

static void complete(struct htm* htm, struct capture* capture) {
  struct execution execution;
  describe(capture, &execution);
  if (trace_instruction(htm, &execution)) {
    htm->captured_instructions++;
    if (oracles[htm->vcpu] != NULL) oracle_instruction(oracles[htm->vcpu], &execution);
  } else {
    htm->lost_instructions++;
    core_full(htm);
  }
  capture->pending = NULL;
}

static void drop(struct htm* htm, struct capture* capture) {
  struct execution execution;
  describe(capture, &execution);
  trace_interrupted(htm, &execution);
  capture->pending = NULL;
}

static void enter(struct htm* htm, struct capture* capture, const struct instruction* next) {
  const uint64_t line = next->ea & ~(uint64_t)(kPower10LineBytes - 1);
  const uint64_t real = next->real & ~(uint64_t)(kPower10LineBytes - 1);
  if (!capture->line_known || line != capture->line_ea || real != capture->line_real) {
    trace_line(htm, next->ea, next->real);
    capture->line_known = true;
    capture->line_ea = line;
    capture->line_real = real;
  }
  capture->pending = next;
  capture->access_count = 0;
}

// Requires the macro's lock. Returns false if the macro does not trace. Drops the state of an
// earlier run.
static bool join(struct htm* htm, struct capture* capture) {
  if (htm->state != kTracing) return false;
  if (capture->session != htm->session) {
    capture->session = htm->session;
    capture->mode_known = false;
    capture->msr = 0;
    capture->pending = NULL;
    capture->line_known = false;
  }
  return true;
}

// ------------------------------------------------------------------------------- events

static void next_instruction(unsigned vcpu, const struct instruction* next, bool head) {
  if (bus_watches(vcpu)) bus_fetch(vcpu, next->real);
  struct capture* capture = &captures[vcpu];
  if (!atomic_load_explicit(&capture->active, memory_order_relaxed)) return;
  struct htm* htm = macros[vcpu];
  const uint64_t msr = head ? cpu_msr(vcpu) : 0;
  pthread_mutex_lock(&htm->lock);
  if (join(htm, capture)) {
    if (capture->pending != NULL) {
      const bool restarted = next->ea == capture->pending->ea && !is_branch(capture);
      if (restarted) {
        drop(htm, capture);
      } else {
        complete(htm, capture);
      }
    }
    if (head) {
      if ((msr & ~capture->msr & MSR_PR) && oracles[vcpu] != NULL) {
        oracle_user(oracles[vcpu], vcpu, msr);
      }
      capture->msr = msr;
      capture->mode_known = true;
    }
    if (capture->mode_known) enter(htm, capture, next);
  }
  pthread_mutex_unlock(&htm->lock);
}

static void on_block_head(unsigned vcpu, void* data) {
  next_instruction(vcpu, data, true);
}

static void on_instruction(unsigned vcpu, void* data) {
  next_instruction(vcpu, data, false);
}

static void add_access(unsigned vcpu, const void* instruction, const struct access* access) {
  if (bus_watches(vcpu)) {
    bus_access(vcpu, access->real, access->size, access->store, access->device);
  }
  struct capture* capture = &captures[vcpu];
  if (!atomic_load_explicit(&capture->active, memory_order_relaxed)) return;
  if (capture->pending == NULL || capture->pending != instruction) return;
  if (capture->access_count == kMaxAccesses) {
    die("the instruction at 0x%lx makes more than %u accesses", capture->pending->ea, kMaxAccesses);
  }
  capture->accesses[capture->access_count++] = *access;
}

// The target of an access that this instruction just made, from the emulator's TLB. The page table
// may already differ: another vCPU changes it first, and then asks this vCPU to flush.
static struct access resolve(qemu_plugin_meminfo_t info, uint64_t ea, uint64_t size) {
  const struct qemu_plugin_hwaddr* address = qemu_plugin_get_hwaddr(info, ea);
  if (address == NULL) die("an access at 0x%lx has no real address", ea);
  return (struct access){.ea = ea,
                         .real = qemu_plugin_hwaddr_phys_addr(address),
                         .size = (uint32_t)size,
                         .store = qemu_plugin_mem_is_store(info),
                         .device = qemu_plugin_hwaddr_is_io(address)};
}

static void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t ea, void* data) {
  if (!atomic_load_explicit(&captures[vcpu].active, memory_order_relaxed) && !bus_watches(vcpu)) {
    return;
  }
  const uint64_t size = UINT64_C(1) << qemu_plugin_mem_size_shift(info);
  const uint64_t in_page = kPageBytes - ea % kPageBytes;
  const uint64_t first = size < in_page ? size : in_page;
  struct access access = resolve(info, ea, first);
  add_access(vcpu, data, &access);
  if (first == size) return;
  access = resolve(info, ea + first, size - first);
  add_access(vcpu, data, &access);
}

// Returns whether an exception at the pending instruction's own address means that it completed.
static bool completes_at(const struct capture* capture, uint64_t to) {
  enum { kSystemCall = 17, kVectoredCall = 0x3000, kVectoredCallReal = 0x17000 };
  // Interrupts, and faults of an instruction fetch: the address is that of the next instruction.
  static const uint16_t at_next[] = {0x100, 0x200, 0x400, 0x480, 0x500, 0x900, 0x980,
                                     0xa00, 0xe20, 0xe60, 0xe80, 0xea0, 0xf00};
  const uint32_t handler = to & 0x1ffff;
  const uint32_t vector = handler & 0xfff;
  if (primary_opcode(capture) == kSystemCall) {
    const uint32_t region = handler & ~0xfffu;
    return vector == 0xc00 || region == kVectoredCall || region == kVectoredCallReal;
  }
  if (vector == 0xd00) return true;  // trace interrupt
  for (size_t i = 0; i < sizeof(at_next) / sizeof(at_next[0]); i++) {
    if (vector == at_next[i]) return is_branch(capture);
  }
  return false;
}

void capture_discontinuity(unsigned vcpu, enum qemu_plugin_discon_type type, uint64_t from,
                           uint64_t to) {
  if (vcpu >= kMaxVcpus) return;
  struct capture* capture = &captures[vcpu];
  if (!atomic_load_explicit(&capture->active, memory_order_relaxed)) return;
  struct htm* htm = macros[vcpu];
  pthread_mutex_lock(&htm->lock);
  if (join(htm, capture)) {
    if (capture->pending != NULL) {
      if (type == kDisconHostcall || from != capture->pending->ea || completes_at(capture, to)) {
        complete(htm, capture);
      } else {
        drop(htm, capture);
      }
    }
    capture->mode_known = false;
    capture->line_known = false;
  }
  pthread_mutex_unlock(&htm->lock);
}

// ------------------------------------------------------------------------------- translation

// The emulator shows the host address of each instruction's code. RAM is one range of host memory.
// The first block runs without translation, and thus shows the start of this range.
static _Atomic uintptr_t ram_base;

static uint64_t real_address(const struct qemu_plugin_insn* insn) {
  const uint64_t ea = qemu_plugin_insn_vaddr(insn);
  const uintptr_t host = (uintptr_t)qemu_plugin_insn_haddr(insn);
  const uint64_t offset = host - ram_base;
  if (host >= ram_base && offset < guest_ram_bytes()) return offset;
  uint64_t real;
  if (!qemu_plugin_translate_vaddr(ea, &real)) die("the code at 0x%lx has no real address", ea);
  return real;
}

static void find_ram(const struct qemu_plugin_insn* insn) {
  const uintptr_t host = (uintptr_t)qemu_plugin_insn_haddr(insn);
  uint64_t real;
  if (host != 0 && qemu_plugin_translate_vaddr(qemu_plugin_insn_vaddr(insn), &real)) {
    ram_base = host - real;
  }
}

void capture_translate_block(struct qemu_plugin_tb* tb) {
  if (!armed) return;
  qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, kInlineAdd, executed,
                                                    qemu_plugin_tb_n_insns(tb));
}

void capture_translate(struct qemu_plugin_insn* insn, bool head) {
  if (ram_base == 0) find_ram(insn);
  if (!armed) return;
  struct instruction instruction = {.ea = qemu_plugin_insn_vaddr(insn), .real = real_address(insn)};
  const size_t bytes = qemu_plugin_insn_data(insn, instruction.words, sizeof(instruction.words));
  instruction.word_count = (uint32_t)(bytes / 4);
  void* interned = (void*)(uintptr_t)instructions_intern(&instruction);
  qemu_plugin_register_vcpu_insn_exec_cond_cb(insn, head ? on_block_head : on_instruction,
                                              head ? kReadRegisters : kNoRegisters, kNotEqual,
                                              watched, 0, interned);
  qemu_plugin_register_vcpu_mem_cb(insn, on_access, kNoRegisters, kMemoryReadWrite, interned);
}
