// SPDX-License-Identifier: GPL-2.0-or-later
// The hypervisor of the emulated POWER partition, as a QEMU TCG plugin. QEMU calls this file. It
// decodes the plugin's arguments and passes each event to its module.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "config.h"
#include "control.h"
#include "cpu.h"
#include "dtl.h"
#include "dtl_events.h"
#include "faults.h"
#include "hcall.h"
#include "htm.h"
#include "journal.h"
#include "memory_map.h"
#include "qemu_plugin.h"
#include "report.h"
#include "share.h"

enum { kHypercall = 0x44000022 };  // sc 1

QEMU_PLUGIN_EXPORT int qemu_plugin_version = kQemuPluginVersion;

static const char* out_directory;

enum { kFirstArgument = 4, kResult = 3 };

static int64_t take_control(unsigned vcpu, uint64_t msr) {
  char line[kControlBytes + 1] = "";
  for (unsigned i = 0; i < kControlRegisters; i++) {
    const uint64_t word = cpu_read(vcpu, kFirstArgument + i, msr);
    memcpy(line + 8 * i, &word, 8);  // the first character is the lowest byte
  }
  return control(line);
}

static int64_t take_share(unsigned vcpu, uint64_t msr) {
  uint64_t argument[5];
  for (unsigned i = 0; i < 5; i++) argument[i] = cpu_read(vcpu, kFirstArgument + i, msr);
  const struct share_call call = {.name = argument[0],
                                  .name_length = argument[1],
                                  .bytes = argument[2],
                                  .length = argument[3],
                                  .offset = argument[4]};
  return share_take(&call);
}

static int64_t take_htm(unsigned vcpu, uint64_t msr) {
  uint64_t argument[6];
  for (unsigned i = 0; i < 6; i++) argument[i] = cpu_read(vcpu, kFirstArgument + i, msr);
  const struct htm_call call = {.flags = argument[0],
                                .target = argument[1],
                                .operation = argument[2],
                                .parameter = {argument[3], argument[4], argument[5]}};
  return (msr & MSR_PR) ? kPrivilege : hcall_htm(&call);
}

// Replaces an `sc 1` that calls H_HTM, a control request, a file transfer or, with a dispatch trace
// log, H_REGISTER_VPA. QEMU executes all other calls.
static void on_hypercall(unsigned vcpu, void* data) {
  const uint64_t next = (uint64_t)(uintptr_t)data;
  const uint64_t msr = cpu_msr(vcpu);
  const uint64_t number = cpu_read(vcpu, kResult, msr);
  int64_t status;
  if (number == H_HTM_OPCODE) {
    status = take_htm(vcpu, msr);
  } else if (number == H_CONTROL_OPCODE) {
    status = take_control(vcpu, msr);
  } else if (number == H_SHARE_OPCODE) {
    status = take_share(vcpu, msr);
  } else if (!dtl_hypercall(vcpu, number, msr, next, &status)) {
    return;
  }
  cpu_write(vcpu, kResult, (uint64_t)status, msr);
  qemu_plugin_set_pc(next);
}

static void on_translation(struct qemu_plugin_tb* tb, void* data) {
  (void)data;
  const size_t count = qemu_plugin_tb_n_insns(tb);
  dtl_translate(tb);
  capture_translate_block(tb);
  for (size_t i = 0; i < count; i++) {
    struct qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, i);
    uint32_t word = 0;
    qemu_plugin_insn_data(insn, &word, sizeof(word));
    // Precedes the hypervisor call's own callback, which does not return.
    capture_translate(insn, i == 0);
    if (word == kHypercall || word == __builtin_bswap32(kHypercall)) {
      void* next = (void*)(uintptr_t)(qemu_plugin_insn_vaddr(insn) + 4);
      qemu_plugin_register_vcpu_insn_exec_cb(insn, on_hypercall, kWriteRegistersAndPc, next);
    }
  }
}

static void on_discontinuity(unsigned vcpu, enum qemu_plugin_discon_type type, uint64_t from,
                             uint64_t to, void* data) {
  (void)data;
  capture_discontinuity(vcpu, type, from, to);
}

static void on_vcpu(unsigned vcpu, void* data) {
  (void)data;
  cpu_init(vcpu);
}

// All entries of DUMP_SYSMEM_CONF, without the headers of its blocks.
static void write_map(void) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/memory.map", out_directory);
  FILE* file = fopen(path, "w");
  if (file == NULL) die("cannot write the truth %s: %s", path, strerror(errno));
  for (size_t i = 0; i < memory_map_entries(); i++) {
    uint8_t entry[kSysmemEntryBytes];
    memory_map_entry(i, entry);
    fwrite(entry, 1, sizeof(entry), file);
  }
  if (fclose(file) != 0) die("cannot write the truth %s: %s", path, strerror(errno));
}

static void on_shutdown(void* data) {
  (void)data;
  journal_close();
  if (out_directory == NULL) return;
  char path[4096];
  snprintf(path, sizeof(path), "%s/hypervisor.report", out_directory);
  FILE* file = fopen(path, "w");
  if (file == NULL) die("cannot write the report %s: %s", path, strerror(errno));
  report_write(file);
  htm_report(file);
  dtl_report(file);
  if (fclose(file) != 0) die("cannot write the report %s: %s", path, strerror(errno));
  if (config.truth) write_map();
}

static qemu_plugin_id_t plugin_id;

static void register_callbacks(void* data) {
  (void)data;
  qemu_plugin_register_vcpu_init_cb(plugin_id, on_vcpu, NULL);
  qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, on_translation, NULL);
  dtl_register_callbacks(plugin_id);
  if (capture_armed()) {
    qemu_plugin_register_vcpu_discon_cb(plugin_id, kDisconAll, on_discontinuity, NULL);
  }
  qemu_plugin_register_atexit_cb(plugin_id, on_shutdown, NULL);
}

static const char* value_of(const char* argument, const char* key) {
  const size_t length = strlen(key);
  if (strncmp(argument, key, length) != 0 || argument[length] != '=') return NULL;
  return argument + length + 1;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc,
                                           char** argv) {
  const char* config_path = NULL;
  for (int i = 0; i < argc; i++) {
    const char* value;
    if ((value = value_of(argv[i], "config")) != NULL) {
      config_path = strdup(value);
    } else if ((value = value_of(argv[i], "faults")) != NULL) {
      faults_load(value);
    } else if ((value = value_of(argv[i], "out")) != NULL) {
      out_directory = strdup(value);
    } else if ((value = value_of(argv[i], "share")) != NULL) {
      share_open(strdup(value));
    } else {
      die("unknown argument %s (known: config=FILE, faults=FILE, out=DIRECTORY, share=DIRECTORY)",
          argv[i]);
    }
  }
  config_load(config_path, (unsigned)info->system.smp_vcpus);
  if ((config.oracle || config.truth || config.journal) && out_directory == NULL) {
    die("oracle on, truth on and journal on need out=DIRECTORY");
  }
  if (config.journal) journal_open(out_directory);
  htm_create(config.truth ? out_directory : NULL);
  dtl_create(config.oracle ? out_directory : NULL);
  plugin_id = id;
  capture_init(id, config.oracle ? out_directory : NULL, register_callbacks);
  register_callbacks(NULL);
  return 0;
}
