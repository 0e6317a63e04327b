// SPDX-License-Identifier: GPL-2.0-or-later
// bracket CPU CONTROL ANSWERS PROGRAM [ARGUMENT]... - runs PROGRAM on one CPU as the workload of
// `htmtrace record --delay -1 --control fifo:CONTROL,ANSWERS`, so that the trace begins with the
// first instruction of PROGRAM and ends with its last. Exits with PROGRAM's status, or with 128
// plus the number of the signal that killed it.
//
// ptrace(2) stops PROGRAM between execve(2) and its first instruction: bracket then starts the
// trace. ptrace(2) stops PROGRAM again when it exits, while it still has its memory: bracket then
// ends the trace. htmtrace saves the symbols, and sends SIGTERM. bracket then lets PROGRAM end.
// If other threads outlive the first thread, bracket does not hold PROGRAM: the trace ends after
// PROGRAM has ended.
//
// With "-" as CONTROL and ANSWERS, bracket sends no commands to htmtrace. PROGRAM ends at least
// kHoldNs after its first instruction, so that htmtrace can save the symbols.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// htmtrace reads the pages of a workload 50 ms after the trace has begun
// (cli/record/symbol_saver.cpp).
#define kHoldNs INT64_C(250000000)

static pid_t program;
static volatile sig_atomic_t asked_to_end;
static bool ended_by_itself;
static int commands = -1, answers = -1;

static void die(const char* what) {
  fprintf(stderr, "bracket: %s: %s\n", what, strerror(errno));
  exit(126);
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void pass_on(int signal) {
  asked_to_end = 1;
  kill(program, signal);  // has no effect on a program that is already exiting
}

// Binds this process to `cpu`, or to all other CPUs.
static void use_cpu(int cpu, bool others) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int each = 0; each < (int)sysconf(_SC_NPROCESSORS_CONF); each++) {
    if ((each == cpu) != others) CPU_SET(each, &set);
  }
  if (sched_setaffinity(0, sizeof(set), &set) != 0) die("cannot bind the process to a CPU");
}

static void open_control(const char* control, const char* answer) {
  if (strcmp(control, "-") == 0) return;
  commands = open(control, O_RDWR | O_CLOEXEC);
  answers = open(answer, O_RDWR | O_CLOEXEC);
  if (commands < 0 || answers < 0) die("cannot open the pipes of --control");
}

// Sends a command to htmtrace, and waits for the answer.
static void command(const char* line) {
  char answer[256];
  if (commands < 0) return;
  const ssize_t length = (ssize_t)strlen(line);
  if (write(commands, line, (size_t)length) != length) die("cannot write to the recorder");
  ssize_t got;
  do {
    got = read(answers, answer, sizeof(answer) - 1);
  } while (got < 0 && errno == EINTR && !asked_to_end);
  if (asked_to_end) return;  // the recording has ended
  answer[got < 0 ? 0 : got] = '\0';
  if (strncmp(answer, "ack", 3) == 0) return;
  fprintf(stderr, "bracket: cannot %.*s the trace: the recorder answered: %s", (int)length - 1,
          line, answer);
  exit(126);
}

static void start_program(int cpu, char** arguments) {
  int go[2];
  if (pipe2(go, O_CLOEXEC) != 0) die("cannot create a pipe");
  program = fork();
  if (program < 0) die("cannot start a process");
  if (program == 0) {
    char byte;
    close(go[1]);
    if (read(go[0], &byte, 1) != 1) _exit(126);
    use_cpu(cpu, false);
    execv(arguments[0], arguments);
    fprintf(stderr, "trace: cannot run %s: %s\n", arguments[0], strerror(errno));
    _exit(127);
  }
  const struct sigaction action = {.sa_handler = pass_on};
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGHUP, &action, NULL);
  const long options = PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT;
  if (ptrace(PTRACE_SEIZE, program, NULL, options) != 0) die("cannot trace the program");
  if (write(go[1], "", 1) != 1) die("cannot start the program");
  close(go[0]);
  close(go[1]);
}

// Returns true if all threads of the program except the first have ended. Waits up to 50 ms for
// threads that exit_group(2) is killing. Returns false if other threads outlive the first thread.
static bool is_last_thread(void) {
  enum { kTries = 50 };
  char path[64], line[256];
  snprintf(path, sizeof(path), "/proc/%d/status", (int)program);
  for (int i = 0; i < kTries; i++) {
    int threads = 1;
    FILE* status = fopen(path, "r");
    if (status == NULL) return true;
    while (fgets(line, sizeof(line), status) != NULL) sscanf(line, "Threads: %d", &threads);
    fclose(status);
    if (threads <= 1) return true;
    usleep(1000);
  }
  return false;
}

// The program has executed its last instruction, but still has its memory.
static void hold(int64_t began_ns) {
  if (asked_to_end || !is_last_thread()) return;
  ended_by_itself = true;
  if (commands < 0) {
    while (!asked_to_end && now_ns() - began_ns < kHoldNs) usleep(1000);
    return;
  }
  command("stop\n");
  sigset_t term, before;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  sigprocmask(SIG_BLOCK, &term, &before);
  while (!asked_to_end) sigsuspend(&before);
  sigprocmask(SIG_SETMASK, &before, NULL);
}

// Follows the program until it ends. Returns its wait status.
static int follow(void) {
  bool begun = false;
  int64_t began_ns = 0;
  int status;
  while (true) {
    if (waitpid(program, &status, __WALL) < 0) {
      if (errno == EINTR) continue;
      die("cannot wait for the program");
    }
    if (!WIFSTOPPED(status)) return status;
    long signal = 0;
    int request = PTRACE_CONT;
    const int event = status >> 16;
    if (event == PTRACE_EVENT_EXEC) {
      if (!begun) command("enable\n");
      if (!begun) began_ns = now_ns();
      begun = true;
    } else if (event == PTRACE_EVENT_EXIT) {
      if (begun) hold(began_ns);
    } else if (event == PTRACE_EVENT_STOP) {
      if (WSTOPSIG(status) != SIGTRAP) request = PTRACE_LISTEN;  // a stopped group stays stopped
    } else {
      signal = WSTOPSIG(status);
    }
    ptrace(request, program, NULL, signal);
  }
}

int main(int argc, char** argv) {
  if (argc < 5) {
    fputs("usage: bracket CPU CONTROL ANSWERS PROGRAM [ARGUMENT]...\n", stderr);
    return 126;
  }
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  const int cpu = atoi(argv[1]);
  open_control(argv[2], argv[3]);
  use_cpu(cpu, true);
  start_program(cpu, argv + 4);
  const int status = follow();
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  if (ended_by_itself || !asked_to_end) {
    fprintf(stderr, "trace: the program was killed by signal %d (%s)\n", WTERMSIG(status),
            strsignal(WTERMSIG(status)));
  }
  return 128 + WTERMSIG(status);
}
