// SPDX-License-Identifier: GPL-2.0-or-later
// The part of QEMU's TCG plugin interface, version 7 (QEMU 11.1), that the hypervisor uses.
//
// Debian packages no plugin header, and the interface is small. The two glib types are declared for
// the same reason; all symbols are found in the running emulator.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_PLUGIN_EXPORT __attribute__((visibility("default")))

enum { kQemuPluginVersion = 7 };

// ------------------------------------------------------------------------------- glib
typedef struct {
  uint8_t* data;
  unsigned len;
} GByteArray;
typedef struct {
  char* data;
  unsigned len;
} GArray;

GByteArray* g_byte_array_new(void);
GByteArray* g_byte_array_set_size(GByteArray* array, unsigned length);
uint8_t* g_byte_array_free(GByteArray* array, int free_segment);
char* g_array_free(GArray* array, int free_segment);

// ------------------------------------------------------------------------------- types
typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_scoreboard;
struct qemu_plugin_register;
struct qemu_plugin_hwaddr;

typedef struct {
  const char* target_name;
  struct {
    int minimum, current;
  } version;
  bool system_emulation;
  struct {
    int smp_vcpus, max_vcpus;
  } system;
} qemu_info_t;

typedef struct {
  struct qemu_plugin_scoreboard* score;
  size_t offset;
} qemu_plugin_u64;

typedef struct {
  struct qemu_plugin_register* handle;
  const char* name;
  const char* feature;
  bool is_readonly;
} qemu_plugin_reg_descriptor;

enum qemu_plugin_cb_flags { kNoRegisters, kReadRegisters, kWriteRegisters, kWriteRegistersAndPc };
enum qemu_plugin_mem_rw { kMemoryRead = 1, kMemoryWrite, kMemoryReadWrite };
enum qemu_plugin_cond { kNever, kAlways, kEqual, kNotEqual, kLess, kLessEqual, kMore, kMoreEqual };
enum qemu_plugin_discon_type {
  kDisconInterrupt = 1,
  kDisconException = 2,
  kDisconHostcall = 4,
  kDisconAll = 7
};

enum qemu_plugin_op { kInlineAdd, kInlineStore };

typedef void (*qemu_plugin_udata_cb_t)(void* data);
typedef void (*qemu_plugin_vcpu_udata_cb_t)(unsigned vcpu, void* data);
typedef void (*qemu_plugin_tb_trans_cb_t)(struct qemu_plugin_tb* tb, void* data);
typedef void (*qemu_plugin_mem_cb_t)(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr,
                                     void* data);
typedef void (*qemu_plugin_discon_cb_t)(unsigned vcpu, enum qemu_plugin_discon_type type,
                                        uint64_t from, uint64_t to, void* data);

// ------------------------------------------------------------------------------- events
void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_udata_cb_t callback,
                                       void* data);
// Called at the begin and the end of a halted vCPU's wait, in its own thread.
void qemu_plugin_register_vcpu_idle_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_udata_cb_t callback,
                                       void* data);
void qemu_plugin_register_vcpu_resume_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_udata_cb_t callback,
                                         void* data);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_tb_trans_cb_t callback,
                                           void* data);
void qemu_plugin_register_vcpu_discon_cb(qemu_plugin_id_t id, enum qemu_plugin_discon_type type,
                                         qemu_plugin_discon_cb_t callback, void* data);
// Drops all callbacks and all translated code, then calls back to register again. No vCPU runs
// meanwhile. The calling vCPU executes nothing until the reset is done.
void qemu_plugin_reset(qemu_plugin_id_t id, qemu_plugin_udata_cb_t callback, void* data);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_udata_cb_t callback,
                                    void* data);

// ------------------------------------------------------------------------------- translation
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* tb);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb* tb, size_t index);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn* insn, void* destination, size_t length);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn* insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn* insn);
void* qemu_plugin_insn_haddr(const struct qemu_plugin_insn* insn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn* insn,
                                            qemu_plugin_vcpu_udata_cb_t callback,
                                            enum qemu_plugin_cb_flags flags, void* data);
void qemu_plugin_register_vcpu_insn_exec_cond_cb(struct qemu_plugin_insn* insn,
                                                 qemu_plugin_vcpu_udata_cb_t callback,
                                                 enum qemu_plugin_cb_flags flags,
                                                 enum qemu_plugin_cond condition,
                                                 qemu_plugin_u64 entry, uint64_t value, void* data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn* insn, qemu_plugin_mem_cb_t callback,
                                      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw,
                                      void* data);

void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(struct qemu_plugin_tb* tb,
                                                       enum qemu_plugin_op op,
                                                       qemu_plugin_u64 entry, uint64_t value);
void qemu_plugin_register_vcpu_tb_exec_cond_cb(struct qemu_plugin_tb* tb,
                                               qemu_plugin_vcpu_udata_cb_t callback,
                                               enum qemu_plugin_cb_flags flags,
                                               enum qemu_plugin_cond condition,
                                               qemu_plugin_u64 entry, uint64_t value, void* data);

// ------------------------------------------------------------------------------- per-vCPU values
struct qemu_plugin_scoreboard* qemu_plugin_scoreboard_new(size_t element_size);
void qemu_plugin_u64_set(qemu_plugin_u64 entry, unsigned vcpu, uint64_t value);
uint64_t qemu_plugin_u64_get(qemu_plugin_u64 entry, unsigned vcpu);

// ------------------------------------------------------------------------------- the guest
GArray* qemu_plugin_get_registers(void);
bool qemu_plugin_read_register(struct qemu_plugin_register* handle, GByteArray* value);
bool qemu_plugin_write_register(struct qemu_plugin_register* handle, GByteArray* value);
void qemu_plugin_set_pc(uint64_t pc) __attribute__((noreturn));
// Returns 0 on success.
int qemu_plugin_read_memory_hwaddr(uint64_t address, GByteArray* data, size_t length);
int qemu_plugin_write_memory_hwaddr(uint64_t address, GByteArray* data);
// Reads the current vCPU's address space. Returns true on success.
bool qemu_plugin_read_memory_vaddr(uint64_t address, GByteArray* data, size_t length);
bool qemu_plugin_translate_vaddr(uint64_t vaddr, uint64_t* address);

// ------------------------------------------------------------------------------- memory accesses
unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
struct qemu_plugin_hwaddr* qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t info, uint64_t vaddr);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr* address);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr* address);
