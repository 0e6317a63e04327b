// SPDX-License-Identifier: GPL-2.0-or-later
#include "dtl_events.h"

#include <stdio.h>
#include <string.h>

#include "config.h"
#include "cpu.h"
#include "dtl.h"
#include "dtl_clock.h"
#include "guest_memory.h"

// PAPR (kernel: arch/powerpc/include/asm/hvcall.h).
#define H_REGISTER_VPA UINT64_C(0xdc)
#define H_CEDE UINT64_C(0xe0)
#define H_CONFER UINT64_C(0xe4)

enum {
  // mfspr rX,268: word & kTimebaseMask.
  kTimebaseRead = 0x7c0c42a6,
  kLookBlocks = 64,    // blocks of code between two checks for due events
  kMostRate = 200000,  // per second
};
static const uint32_t kTimebaseMask = 0xfc1fffff;
static const uint64_t kSecondNs = 1000000000;
// Events that were due while the vCPU did not run are dropped.
static const uint64_t kLateNs = 10000000;

// The addresses of missing pages. Pages used together are paged out together, so each vCPU has a
// few stretches of memory and faults on their pages in sequence.
enum {
  kPageBytes = 4096,
  kStretches = 16,
  kStretchPages = 64,
};

enum source { kTimeSlices, kFaults, kSources };

static struct {
  bool on;
  unsigned rate[kSources];  // per second and vCPU
  unsigned move_every;      // average number of dispatches until the next change of processor
  unsigned burst_ms, burst_count;
} settings = {.rate = {[kTimeSlices] = 20, [kFaults] = 2}, .move_every = 8};

// Belongs to the thread of its vCPU.
struct vcpu_state {
  uint64_t random;
  uint64_t due_ns[kSources];
  uint64_t burst_due_ns;
  unsigned burst_left;
  unsigned
      timebase_register;  // the register that the last instruction loaded with the timebase, plus 1
  bool ceded, conferred;
  uint64_t call_next, call_msr;
  uint64_t stopped_timebase;
  uint16_t home, processor;
  bool stretches_chosen;
  uint64_t stretches[kStretches];  // addresses
  unsigned stretch, page;          // of the last fault
} __attribute__((aligned(64)));

static struct vcpu_state states[kMaxVcpus];
static qemu_plugin_u64 blocks;  // blocks executed since the last check

static bool set_rate(const char* value, enum source source) {
  char rest;
  return sscanf(value, "%u %c", &settings.rate[source], &rest) == 1 &&
         settings.rate[source] <= kMostRate;
}

bool dtl_set(const char* key, const char* value) {
  char rest;
  if (strcmp(key, "dtl") == 0) {
    settings.on = strcmp(value, "on") == 0;
    return settings.on || strcmp(value, "off") == 0;
  }
  if (strcmp(key, "dtl_preempt") == 0) return set_rate(value, kTimeSlices);
  if (strcmp(key, "dtl_fault") == 0) return set_rate(value, kFaults);
  if (strcmp(key, "dtl_move") == 0) {
    return sscanf(value, "%u %c", &settings.move_every, &rest) == 1 && settings.move_every != 0;
  }
  if (strcmp(key, "dtl_burst") == 0) {
    return sscanf(value, "%u %u %c", &settings.burst_ms, &settings.burst_count, &rest) == 2 &&
           settings.burst_ms != 0;
  }
  return false;
}

bool dtl_on(void) {
  return settings.on;
}

// xorshift64* with a separate state for each vCPU: the same sequence in each run.
static uint64_t next_random(struct vcpu_state* state) {
  state->random ^= state->random >> 12;
  state->random ^= state->random << 25;
  state->random ^= state->random >> 27;
  return state->random * UINT64_C(0x2545f4914f6cdd1d);
}

static uint32_t below(struct vcpu_state* state, uint32_t limit) {
  return (uint32_t)((next_random(state) >> 32) * limit >> 32);
}

// A waiting time: mostly short, rarely a thousand times longer.
static uint32_t waiting(struct vcpu_state* state, uint32_t usual) {
  uint32_t time = below(state, usual) + 1;
  while (time < usual * 1000 && below(state, 4) == 0) time *= 3;
  return time;
}

static uint16_t number_processor(unsigned node, unsigned chip, unsigned core) {
  return (uint16_t)((node & 15) << 12 | (chip & 15) << 8 | (core & 255));
}

static uint16_t choose_processor(struct vcpu_state* state) {
  if (below(state, settings.move_every) != 0) return state->processor;
  if (state->processor != state->home && below(state, 2) == 0) return state->home;
  unsigned node = state->home >> 12, chip = state->home >> 8 & 15;
  const uint32_t how_far = below(state, 10);
  if (how_far == 9) node = (node + 1 + below(state, 3)) & 15;
  if (how_far >= 7) chip = (chip + 1) & 15;
  return number_processor(node, chip, below(state, 16));
}

static void dispatch(unsigned vcpu, struct dtl_dispatch* what) {
  struct vcpu_state* state = &states[vcpu];
  what->processor = state->processor = choose_processor(state);
  what->timebase = dtl_clock_now();
  dtl_dispatched(vcpu, what);
}

static void end_of_slice(unsigned vcpu, uint64_t address, uint64_t msr) {
  struct vcpu_state* state = &states[vcpu];
  struct dtl_dispatch what = {.kind = kDtlPreempt,
                              .dispatch_reason = kDispatchTimeSlice,
                              .preempt_reason = kPreemptTimeSlice,
                              .enqueue_to_dispatch = waiting(state, 2000),
                              .ready_to_enqueue = below(state, 100),
                              .srr0 = address,
                              .srr1 = msr};
  dispatch(vcpu, &what);
}

// Requires a running guest, because its memory does not exist earlier.
static void choose_stretches(struct vcpu_state* state) {
  const uint64_t bytes = (uint64_t)kStretchPages * kPageBytes;
  for (unsigned i = 0; i < kStretches; i++) {
    state->stretches[i] = next_random(state) % (guest_ram_bytes() / bytes) * bytes;
  }
  state->stretches_chosen = true;
}

// Most faults hit the page after the preceding fault's page. Half of these hit the page's first
// address, as code that walks through memory does.
static uint64_t missing_address(struct vcpu_state* state) {
  if (!state->stretches_chosen) choose_stretches(state);
  if (below(state, 4) != 0) {
    state->page = (state->page + 1) % kStretchPages;
  } else {
    state->stretch = below(state, kStretches);
    state->page = below(state, kStretchPages);
  }
  const uint64_t offset = below(state, 2) == 0 ? 0 : below(state, kPageBytes / 8) * 8;
  return state->stretches[state->stretch] + state->page * (uint64_t)kPageBytes + offset;
}

static void page_fault(unsigned vcpu, uint64_t address, uint64_t msr) {
  struct vcpu_state* state = &states[vcpu];
  struct dtl_dispatch what = {.kind = kDtlFault,
                              .dispatch_reason = kDispatchPageFault,
                              .preempt_reason = kPreemptPageFault,
                              .enqueue_to_dispatch = waiting(state, 1000),
                              .ready_to_enqueue = below(state, 100),
                              .waiting_to_ready = waiting(state, 50000),
                              .fault_address = missing_address(state),
                              .srr0 = address,
                              .srr1 = msr};
  dispatch(vcpu, &what);
}

// ------------------------------------------------------------------------------- the guest's calls

static void conferred(unsigned vcpu) {
  struct vcpu_state* state = &states[vcpu];
  struct dtl_dispatch what = {.kind = kDtlCede,
                              .dispatch_reason = kDispatchConferred,
                              .preempt_reason = kPreemptConfer,
                              .enqueue_to_dispatch = waiting(state, 500),
                              .ready_to_enqueue = below(state, 100),
                              .srr0 = state->call_next,
                              .srr1 = state->call_msr};
  state->conferred = false;
  dispatch(vcpu, &what);
}

bool dtl_hypercall(unsigned vcpu, uint64_t number, uint64_t msr, uint64_t next, int64_t* status) {
  if (!settings.on || (msr & MSR_PR) != 0) return false;
  struct vcpu_state* state = &states[vcpu];
  if (number == H_REGISTER_VPA) {
    *status = dtl_register_vpa(vcpu, cpu_read(vcpu, 4, msr), cpu_read(vcpu, 5, msr),
                               cpu_read(vcpu, 6, msr));
    return true;
  }
  if (number != H_CEDE && number != H_CONFER) return false;
  state->ceded = number == H_CEDE;
  state->conferred = number == H_CONFER;
  state->call_next = next;
  // H_CEDE returns with external interrupts enabled.
  state->call_msr = number == H_CEDE ? msr | UINT64_C(1) << 15 : msr;
  // QEMU continues in the same thread, so the next check reports the return.
  if (state->conferred) qemu_plugin_u64_set(blocks, vcpu, kLookBlocks);
  return false;
}

static void on_idle(unsigned vcpu, void* data) {
  (void)data;
  struct vcpu_state* state = &states[vcpu];
  if (vcpu >= kMaxVcpus || !state->ceded || !dtl_clock_known()) return;
  state->stopped_timebase = dtl_clock_now();
  dtl_stopped(vcpu);
}

// A ceded vCPU that was never idle did not stop: an interrupt was already pending.
static void on_resume(unsigned vcpu, void* data) {
  static const uint8_t reasons[] = {kDispatchExternal,    kDispatchDecrementer,
                                    kDispatchDecrementer, kDispatchDecrementer,
                                    kDispatchProd,        kDispatchDoorbell};
  (void)data;
  struct vcpu_state* state = &states[vcpu];
  if (vcpu >= kMaxVcpus || !state->ceded || state->stopped_timebase == 0) return;
  const uint64_t waited = dtl_clock_now() - state->stopped_timebase;
  struct dtl_dispatch what = {.kind = kDtlCede,
                              .dispatch_reason = reasons[below(state, sizeof(reasons))],
                              .preempt_reason = kPreemptCede,
                              .enqueue_to_dispatch = waiting(state, 1000),
                              .ready_to_enqueue = below(state, 100),
                              .waiting_to_ready = (uint32_t)waited,
                              .srr0 = state->call_next,
                              .srr1 = state->call_msr};
  state->ceded = false;
  state->stopped_timebase = 0;
  dispatch(vcpu, &what);
}

// ------------------------------------------------------------------------------- between blocks

static bool due(struct vcpu_state* state, enum source source, uint64_t now) {
  if (settings.rate[source] == 0 || now < state->due_ns[source]) return false;
  if (now - state->due_ns[source] > kLateNs) state->due_ns[source] = now;
  const uint64_t interval = kSecondNs / settings.rate[source];
  state->due_ns[source] += interval / 2 + below(state, (uint32_t)interval + 1);
  return true;
}

static bool burst_due(struct vcpu_state* state, uint64_t now) {
  if (settings.burst_ms == 0) return false;
  if (state->burst_left == 0 && now >= state->burst_due_ns) {
    state->burst_due_ns = now + settings.burst_ms * UINT64_C(1000000);
    state->burst_left = settings.burst_count;
  }
  if (state->burst_left == 0) return false;
  state->burst_left--;
  return true;
}

static void learn_timebase(unsigned vcpu, uint64_t msr) {
  struct vcpu_state* state = &states[vcpu];
  if (state->timebase_register == 0) return;
  dtl_clock_learn(cpu_read(vcpu, state->timebase_register - 1, msr));
  state->timebase_register = 0;
}

static void on_look(unsigned vcpu, void* data) {
  const uint64_t address = (uint64_t)(uintptr_t)data;
  struct vcpu_state* state = &states[vcpu];
  qemu_plugin_u64_set(blocks, vcpu, 0);
  const uint64_t msr = cpu_msr(vcpu);
  learn_timebase(vcpu, msr);
  if (!dtl_clock_known()) return;
  if (state->conferred) conferred(vcpu);
  state->ceded = false;  // and continued immediately
  // At most one dispatch: a virtual processor executes code between two dispatches.
  const uint64_t now = dtl_clock_host_ns();
  if (burst_due(state, now) || due(state, kTimeSlices, now)) {
    end_of_slice(vcpu, address, msr);
  } else if (due(state, kFaults, now)) {
    page_fault(vcpu, address, msr);
  }
}

static void on_timebase_read(unsigned vcpu, void* data) {
  if (dtl_clock_settled()) return;
  states[vcpu].timebase_register = (unsigned)(uintptr_t)data + 1;
  qemu_plugin_u64_set(blocks, vcpu, kLookBlocks);
}

void dtl_translate(struct qemu_plugin_tb* tb) {
  if (!settings.on) return;
  const size_t count = qemu_plugin_tb_n_insns(tb);
  void* address = (void*)(uintptr_t)qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0));
  qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, kInlineAdd, blocks, 1);
  qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, on_look, kReadRegisters, kMore, blocks, kLookBlocks,
                                            address);
  // QEMU ends a block after an instruction that reads the timebase. The register is read at the
  // start of the next block.
  uint32_t word = 0;
  struct qemu_plugin_insn* last = qemu_plugin_tb_get_insn(tb, count - 1);
  qemu_plugin_insn_data(last, &word, sizeof(word));
  const bool little = (word & kTimebaseMask) == kTimebaseRead;
  if (!little) word = __builtin_bswap32(word);
  if ((word & kTimebaseMask) != kTimebaseRead) return;
  void* number = (void*)(uintptr_t)(word >> 21 & 31);
  qemu_plugin_register_vcpu_insn_exec_cb(last, on_timebase_read, kNoRegisters, number);
}

void dtl_register_callbacks(qemu_plugin_id_t id) {
  if (!settings.on) return;
  qemu_plugin_register_vcpu_idle_cb(id, on_idle, NULL);
  qemu_plugin_register_vcpu_resume_cb(id, on_resume, NULL);
}

void dtl_create(const char* directory) {
  if (!settings.on) return;
  blocks.score = qemu_plugin_scoreboard_new(sizeof(uint64_t));
  for (unsigned vcpu = 0; vcpu < kMaxVcpus; vcpu++) {
    const struct core_location* core = &config.cores[vcpu];
    states[vcpu].random = UINT64_C(0x9e3779b97f4a7c15) * (vcpu + 1);
    states[vcpu].home = number_processor(core->node, core->chip, core->core);
    states[vcpu].processor = states[vcpu].home;
  }
  dtl_log_create(directory);
}
