// SPDX-License-Identifier: GPL-2.0-or-later
// matrix TABLE HTM.KO OPERATIONS -- RECORD... - injects each fault of TABLE, runs the affected
// operation, and compares the result with the table. Prints TAP. RECORD is an htmtrace command that
// records a short workload. HTM.KO is loaded. OPERATIONS is the number of operations in the table,
// or 0 for an incomplete table.
//
// A line of TABLE: OPERATION WHEN OUTCOME CODE..., with the names of fault plans for operation,
// moment and code. Outcomes are the rows of `outcomes` below. After each fault, the hypervisor
// reports whether a macro was left configured, and whether a write to invalid memory was requested.
// If the fault left anything, a recording without the fault must then succeed.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/machine/clients/control.h"

// The effect of a fault in user space. Sources: kmod/ABI, and htmtrace-record(1) for the exit
// status.
enum subject { kRecording, kLoad, kFile };
static const struct outcome {
  const char* name;
  enum subject subject;
  int value;         // exit status, or errno of the load or the file
  bool names_code;   // the message contains "refused OPERATION with CODE"
  const char* text;  // the message contains this text
  int left;          // number of macros that stay configured
  bool believed;  // the hypervisor claims that the macro is not configured, which the driver cannot
                  // verify
} outcomes[] = {
    // Nothing is lost, and the user sees no message.
    {"ok", kRecording, 0, false, "bytes of trace", 0, false},
    // The open fails with the errno and the reason.
    {"open:EPERM", kRecording, 1, false, "/: Operation not permitted", 0, false},
    {"open:EALREADY", kRecording, 1, false, "/: Operation already in progress", 0, false},
    {"open:EBUSY", kRecording, 1, false, "/: Device or resource busy", 0, false},
    {"open:ENXIO", kRecording, 1, false, "/: No such device or address", 0, false},
    {"open:EINVAL", kRecording, 1, false, "/: Invalid argument", 0, false},
    {"open:ENODEV", kRecording, 1, false, "/: No such device\n", 0, false},
    {"open:ENOSPC", kRecording, 1, false, "/: No space left on device", 0, false},
    {"open:EOPNOTSUPP", kRecording, 1, false, "/: Operation not supported", 0, false},
    {"open:EIO", kRecording, 1, false, "/: Input/output error", 0, false},
    {"open:ETIMEDOUT", kRecording, 1, false, "/: Connection timed out", 0, false},
    // A later refusal: the message names operation and code.
    {"refused", kRecording, 1, true, "", 0, false},
    // The next operation fails, because the hypervisor only claimed to do this operation.
    {"refused-start", kRecording, 1, false, "the hypervisor refused START with H_STATE (-75)", 0,
     false},
    {"refused-dump", kRecording, 1, false, "the hypervisor refused DUMP_DATA with H_STATE (-75)", 0,
     false},
    // The preceding trace is kept, and is incomplete.
    {"cut", kRecording, 3, true, "bytes of trace arrived earlier", 0, false},
    {"busy", kRecording, 1, false, "no trace arrives from", 0, false},
    {"cut-busy", kRecording, 3, false, "the hypervisor stayed busy", 0, false},
    {"empty", kRecording, 1, false, "no trace arrives from", 0, false},
    // The recording is complete, but the driver could not release the macro.
    {"left", kRecording, 0, false, "bytes of trace", 1, false},
    {"left-unknown", kRecording, 0, false, "bytes of trace", 1, true},
    // Loads the driver.
    {"loads", kLoad, 0, false, NULL, 0, false},
    {"load:ENODEV", kLoad, ENODEV, false, NULL, 0, false},
    // Reads the file in sysfs that causes the operation.
    {"file", kFile, 0, false, NULL, 0, false},
    {"file:EPERM", kFile, EPERM, false, NULL, 0, false},
    {"file:EALREADY", kFile, EALREADY, false, NULL, 0, false},
    {"file:EBUSY", kFile, EBUSY, false, NULL, 0, false},
    {"file:ENXIO", kFile, ENXIO, false, NULL, 0, false},
    {"file:EINVAL", kFile, EINVAL, false, NULL, 0, false},
    {"file:ENOSPC", kFile, ENOSPC, false, NULL, 0, false},
    {"file:EOPNOTSUPP", kFile, EOPNOTSUPP, false, NULL, 0, false},
    {"file:EIO", kFile, EIO, false, NULL, 0, false},
    {"file:ETIMEDOUT", kFile, ETIMEDOUT, false, NULL, 0, false},
};

static const char* const codes[] = {"H_SUCCESS",
                                    "H_BUSY",
                                    "H_LONG_BUSY_ORDER_1_MSEC",
                                    "H_LONG_BUSY_ORDER_10_MSEC",
                                    "H_LONG_BUSY_ORDER_100_MSEC",
                                    "H_LONG_BUSY_ORDER_1_SEC",
                                    "H_LONG_BUSY_ORDER_10_SEC",
                                    "H_LONG_BUSY_ORDER_100_SEC",
                                    "H_PARTIAL",
                                    "H_NOT_AVAILABLE",
                                    "H_PARAMETER",
                                    "H_P2",
                                    "H_P3",
                                    "H_P4",
                                    "H_P5",
                                    "H_P6",
                                    "H_STATE",
                                    "H_AUTHORITY",
                                    "H_PRIVILEGE",
                                    "H_FUNCTION",
                                    "H_UNSUPPORTED",
                                    "H_HARDWARE",
                                    "H_RESOURCE",
                                    "77",     // undefined, positive
                                    "-999"};  // undefined, negative
enum {
  kCodes = sizeof(codes) / sizeof(codes[0]),
  kOutcomes = sizeof(outcomes) / sizeof(*outcomes)
};

static const char* driver_path;
static char** record_command;
static unsigned tests, failures;
static char message[1 << 14];  // messages of the last recording

static void verdict(bool good, const char* what, const char* why) {
  tests++;
  failures += !good;
  printf("%sok %u - %s\n", good ? "" : "not ", tests, what);
  if (good) return;
  printf("#   %s\n", why);
  for (char* line = strtok(message, "\n"); line != NULL; line = strtok(NULL, "\n")) {
    printf("#   | %s\n", line);
  }
}

// Returns the exit status, and stores the messages in `message`.
static int record(void) {
  int out[2];
  if (pipe(out) != 0) abort();
  const pid_t child = fork();
  if (child < 0) abort();
  if (child == 0) {
    dup2(out[1], 1);
    dup2(out[1], 2);
    close(out[0]);
    close(out[1]);
    execvp(record_command[0], record_command);
    perror(record_command[0]);
    _exit(127);
  }
  close(out[1]);
  size_t size = 0;
  ssize_t got;
  while ((got = read(out[0], message + size, sizeof(message) - 1 - size)) > 0) size += (size_t)got;
  message[size] = '\0';
  close(out[0]);
  int status;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Returns 0 or the errno.
static int load_driver(void) {
  const int file = open(driver_path, O_RDONLY | O_CLOEXEC);
  if (file < 0) abort();
  const int error = syscall(SYS_finit_module, file, "", 0) == 0 ? 0 : errno;
  close(file);
  return error;
}

static int unload_driver(void) {
  return syscall(SYS_delete_module, "htm", 0) == 0 ? 0 : errno;
}

// Returns the errno of the first failing read, or 0 at the end of the file.
static int read_file(const char* operation) {
  static const char* const files[][2] = {{"CAPABILITIES", "capabilities"},
                                         {"STATUS", "status_core"},
                                         {"DUMP_SYSMEM_CONF", "memory_map"},
                                         {"DUMP_SYSPROC_CONF", "topology"}};
  char path[128] = "", bytes[4096];
  for (int i = 0; i < 4; i++) {
    if (strcmp(files[i][0], operation) != 0) continue;
    snprintf(path, sizeof(path), "/sys/bus/event_source/devices/htm/%s", files[i][1]);
  }
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno;
  ssize_t got;
  while ((got = read(file, bytes, sizeof(bytes))) > 0) continue;
  const int error = got == 0 ? 0 : errno;
  close(file);
  return error;
}

static int do_it(const struct outcome* outcome, const char* operation) {
  message[0] = '\0';
  if (outcome->subject == kRecording) return record();
  if (outcome->subject == kFile) return read_file(operation);
  unload_driver();
  return load_driver();
}

// Describes the difference from the outcome. An empty text means no difference.
static void compare(const struct outcome* outcome, const char* operation, const char* code,
                    int value, char* why, size_t room) {
  char refusal[128];
  snprintf(refusal, sizeof(refusal), "the hypervisor refused %s with %s%s", operation,
           code[0] == 'H' ? code : "an unknown code (", code[0] == 'H' ? " (" : code);
  const int64_t left = control("configured"), violations = control("violations");
  why[0] = '\0';
  if (control("injected %s", operation) < 1) {
    snprintf(why, room, "the driver made no call with this fault");
  } else if (value != outcome->value) {
    snprintf(why, room, "status or errno %d, expected %d", value, outcome->value);
  } else if (outcome->text != NULL && strstr(message, outcome->text) == NULL) {
    snprintf(why, room, "the message lacks \"%s\"", outcome->text);
  } else if (outcome->names_code && strstr(message, refusal) == NULL) {
    snprintf(why, room, "the message lacks \"%s\"", refusal);
  } else if (value == 0 && outcome->text != NULL && strstr(message, "refused") != NULL) {
    snprintf(why, room, "the driver announces a refusal");
  } else if (left != outcome->left) {
    snprintf(why, room, "%lld macros are still configured, expected %d", (long long)left,
             outcome->left);
  } else if (violations != 0) {
    snprintf(why, room, "%lld writes to invalid memory", (long long)violations);
  }
}

// Without the fault, everything works again and no macro stays configured.
static void recover(const struct outcome* outcome, const char* operation, const char* code) {
  char what[160], why[160] = "";
  control("clear");
  if (outcome->subject == kLoad && outcome->value != 0) load_driver();
  if (outcome->left == 0) return;
  if (outcome->believed) {
    control("reset");
    return;
  }
  snprintf(what, sizeof(what), "%s %s: the next session releases the macro", operation, code);
  const int status = record();
  const int64_t left = control("configured");
  if (status != 0 || left != 0) {
    snprintf(why, sizeof(why), "status %d, %lld still configured", status, (long long)left);
  }
  verdict(why[0] == '\0', what, why);
}

static void inject(const char* operation, const char* when, const struct outcome* outcome,
                   const char* code) {
  char what[160], why[256];
  snprintf(what, sizeof(what), "%s %s %s: %s", operation, when, code, outcome->name);
  control("clear");
  if (control("%s %s %s", operation, when, code) != 0) {
    verdict(false, what, "the hypervisor does not understand the fault");
    return;
  }
  const int value = do_it(outcome, operation);
  compare(outcome, operation, code, value, why, sizeof(why));
  verdict(why[0] == '\0', what, why);
  recover(outcome, operation, code);
}

struct coverage {
  char operation[32];
  bool met[kCodes];
};
static struct coverage coverage[16];
static unsigned covered;

static void cover(const char* operation, const char* code) {
  unsigned i = 0;
  while (i < covered && strcmp(coverage[i].operation, operation) != 0) i++;
  if (i == covered) snprintf(coverage[covered++].operation, 32, "%s", operation);
  for (unsigned k = 0; k < kCodes; k++) coverage[i].met[k] |= strcmp(codes[k], code) == 0;
}

static void run_line(char* line) {
  char *rest, *operation = strtok_r(line, " \t\n", &rest);
  if (operation == NULL || operation[0] == '#') return;
  char *when = strtok_r(NULL, " \t\n", &rest), *name = strtok_r(NULL, " \t\n", &rest);
  const struct outcome* outcome = NULL;
  for (unsigned i = 0; i < kOutcomes && name != NULL; i++) {
    if (strcmp(outcomes[i].name, name) == 0) outcome = &outcomes[i];
  }
  if (outcome == NULL) {
    verdict(false, operation, "this line of the table has no known outcome");
    return;
  }
  for (char* code; (code = strtok_r(NULL, " \t\n", &rest)) != NULL;) {
    cover(operation, code);
    inject(operation, when, outcome, code);
    fflush(stdout);
  }
}

static void check_coverage(unsigned operations) {
  for (unsigned i = 0; i < covered; i++) {
    char what[96], why[1024] = "never:";
    bool all = true;
    for (unsigned k = 0; k < kCodes; k++) {
      if (coverage[i].met[k]) continue;
      all = false;
      snprintf(why + strlen(why), sizeof(why) - strlen(why), " %s", codes[k]);
    }
    snprintf(what, sizeof(what), "%.31s: the table has every return code", coverage[i].operation);
    message[0] = '\0';
    verdict(all, what, why);
  }
  verdict(covered == operations, "the table has every operation", "see the table");
}

int main(int argc, char** argv) {
  if (argc < 6 || strcmp(argv[4], "--") != 0) {
    fputs("usage: matrix TABLE HTM.KO OPERATIONS -- RECORD...\n", stderr);
    return 2;
  }
  driver_path = argv[2];
  record_command = argv + 5;
  FILE* table = fopen(argv[1], "r");
  if (table == NULL) {
    perror(argv[1]);
    return 2;
  }
  char line[1024];
  while (fgets(line, sizeof(line), table) != NULL) run_line(line);
  fclose(table);
  if (atoi(argv[3]) != 0) check_coverage((unsigned)atoi(argv[3]));
  printf("1..%u\n", tests);
  return failures != 0;
}
