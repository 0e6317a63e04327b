// SPDX-License-Identifier: GPL-2.0-or-later
// signals ROUNDS FOLDER - sends SIGTERM, SIGINT and SIGHUP to `htmtrace record` and `htmtrace dtl`,
// some time after their main() began: 60 combinations of command, signal and delay. ROUNDS 0 runs
// each once, alternating between foreground and background; otherwise each runs ROUNDS times in
// both. Each run must end by itself, with a message, with status 0 or 3, and with a recording that
// states how it ended. It must leave no process and no configured trace macro. Keeps the last
// recording of each combination in FOLDER, on the file system of /tmp.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/machine/clients/control.h"
#include "tests/machine/clients/tap.h"

// A command ends within a second, but the emulating machine may be busy.
enum { kHangSeconds = 60, kMostText = 1 << 16, kMostShown = 20 };

static const char kOutput[] = "/tmp/signals.output";
static const char kMessages[] = "/tmp/signals.messages";
static const char kWork[] = "/tmp/signals.work";

static const struct {
  int number;
  const char* name;
} kSignals[] = {{SIGTERM, "TERM"}, {SIGINT, "INT"}, {SIGHUP, "HUP"}};
static const int kDelaysMs[] = {0, 1, 2, 5, 10, 20, 50, 100, 200, 500};
enum { kSignalCount = 3, kDelayCount = 10 };

struct run {
  bool dtl, background, with_workload, tries_periods;
  int signal, delay_ms;
  const char* signal_name;
};

struct counts {
  unsigned runs, hangs, killed, silent, statuses[256], undescribed, processes, macros;
};

static unsigned shown;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void sleep_ms(int milliseconds) {
  const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
  nanosleep(&time, NULL);
}

static size_t read_text(const char* path, char* text) {
  const int file = open(path, O_RDONLY);
  const ssize_t got = file < 0 ? 0 : read(file, text, kMostText - 1);
  if (file >= 0) close(file);
  text[got > 0 ? got : 0] = '\0';
  return got > 0 ? (size_t)got : 0;
}

// Waits until main() has blocked signals; SIGUSR2 stays blocked until the end. Returns false when
// the process ends without blocking it.
static bool has_begun(pid_t pid) {
  static char text[kMostText];
  char path[64];
  snprintf(path, sizeof(path), "/proc/%d/status", pid);
  for (const double give_up = now() + kHangSeconds; now() < give_up;) {
    siginfo_t ended = {0};
    if (waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == pid)
      return false;
    read_text(path, text);
    const char* blocked = strstr(text, "SigBlk:");
    if (blocked && strtoull(blocked + 7, NULL, 16) >> (SIGUSR2 - 1) & 1) return true;
    sched_yield();
  }
  return false;
}

static void be_htmtrace(const struct run* run) {
  setpgid(0, 0);
  if (run->background) {
    // A shell without job control ignores these signals in background jobs.
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
  }
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  dup2(open(kOutput, O_WRONLY | O_CREAT | O_TRUNC, 0644), STDOUT_FILENO);
  dup2(open(kMessages, O_WRONLY | O_CREAT | O_TRUNC, 0644), STDERR_FILENO);
  closefrom(3);
  const char* record[] = {"htmtrace", "record", "--chip", "1",  "--core", "4",    "--cpu",
                          "0",        "-o",     kWork,    "--", "sleep",  "1000", NULL};
  // The measurement of the period is slow here, so most signals arrive before the start.
  const char* period = run->tries_periods ? "auto" : "4ms";
  const char* dtl[] = {"htmtrace", "dtl",   "--period", period, "-o", "/tmp/signals.work/log.dtl",
                       "--",       "sleep", "1000",     NULL};
  if (!run->with_workload) record[10] = dtl[6] = NULL;
  execvp("htmtrace", (char**)(run->dtl ? dtl : record));
  _exit(127);
}

// Returns whether the messages have more than the one that states that the recording has begun.
static bool says_how_it_ended(char* text) {
  static const char kBegun[] = "htmtrace: recording\n";
  if (read_text(kMessages, text) == 0) return false;
  const char* begun = strstr(text, kBegun);
  if (begun && begun != text) return true;
  return strstr(begun ? begun + sizeof(kBegun) - 1 : text, "htmtrace: ") != NULL;
}

static void remove_work(void) {
  static const char* const names[] = {"htm.bin.n0.p1.c4", "translation.n0.p1.c4", "manifest.json",
                                      "log.dtl"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", kWork, names[i]);
    unlink(path);
  }
  rmdir(kWork);
}

static void complain(const struct run* run, const char* what, int value) {
  if (shown++ >= kMostShown) return;
  static char text[kMostText];
  read_text(kMessages, text);
  printf("# %s, %s after %d ms, %s%s: %s (%d)\n", run->dtl ? "dtl" : "record", run->signal_name,
         run->delay_ms, run->background ? "background" : "foreground",
         run->with_workload ? ", with a workload" : "", what, value);
  for (char* line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) printf("#   %s\n", line);
  fflush(stdout);
}

// Returns whether the files state how the recording ended, not that it still runs.
static bool is_described(const struct run* run, int status) {
  static char text[kMostText];
  if (run->dtl) {
    struct stat facts;
    return stat("/tmp/signals.work/log.dtl", &facts) == 0 && facts.st_size != 0;
  }
  read_text("/tmp/signals.work/manifest.json", text);
  return strstr(text, status == 0 ? "\"state\": \"complete\"" : "\"state\": \"incomplete\"");
}

// Returns false when the process hangs, after killing it.
static bool wait_for_end(pid_t pid, int* status) {
  const double give_up = now() + kHangSeconds;
  for (int pause_ms = 1; now() < give_up; pause_ms += pause_ms < 20) {
    if (waitpid(pid, status, WNOHANG) == pid) return true;
    sleep_ms(pause_ms);
  }
  kill(-pid, SIGKILL);
  kill(pid, SIGKILL);
  waitpid(pid, status, 0);
  return false;
}

static void try_it(const struct run* run, struct counts* counts) {
  static char text[kMostText];
  int status = 0;
  remove_work();
  if (run->dtl) mkdir(kWork, 0755);
  counts->runs++;
  const pid_t pid = fork();
  if (pid == 0) be_htmtrace(run);
  setpgid(pid, pid);
  if (has_begun(pid)) {
    if (run->delay_ms != 0) sleep_ms(run->delay_ms);
    // A terminal sends the signal to the whole foreground process group.
    kill(run->background ? pid : -pid, run->signal);
  } else {
    complain(run, "main() did not block the signal", 0);
    kill(run->background ? pid : -pid, run->signal);
  }
  if (!wait_for_end(pid, &status)) {
    counts->hangs++;
    return complain(run, "hangs", 0);
  }
  if (!WIFEXITED(status)) {
    counts->killed++;
    complain(run, "killed by signal", WTERMSIG(status));
  } else {
    const int code = WEXITSTATUS(status);
    counts->statuses[code]++;
    if (code != 0 && code != 3) complain(run, "status", code);
    if (!is_described(run, code)) {
      counts->undescribed++;
      complain(run, "no recording that states how it ended, status", code);
    }
  }
  if (!says_how_it_ended(text)) {
    counts->silent++;
    complain(run, "no message", 0);
  }
  // This process would have inherited any process that the run left.
  if (waitpid(-1, &status, WNOHANG) != -1 || errno != ECHILD) {
    counts->processes++;
    complain(run, "a process is still running", 0);
    kill(-pid, SIGKILL);
    while (waitpid(-1, NULL, 0) > 0) {
    }
  }
  const int64_t configured = run->dtl ? 0 : control("configured");
  if (configured != 0) {
    counts->macros++;
    complain(run, "a trace macro is configured", (int)configured);
  }
}

// Keeps the files of the last run, for the host to decode.
static void keep(const struct run* run, const char* folder) {
  char path[512], moved[256];
  snprintf(moved, sizeof(moved), "%s/%s-%s-%d", folder, run->dtl ? "dtl" : "record",
           run->signal_name, run->delay_ms);
  rename(kWork, moved);
  snprintf(path, sizeof(path), "%s/messages", moved);
  rename(kMessages, path);
}

static void judge(const char* command, const struct counts* counts) {
  const unsigned good = counts->statuses[0] + counts->statuses[3];
  printf("# %s: %u runs, %u with status 0, %u with status 3 (ended before the start)\n", command,
         counts->runs, counts->statuses[0], counts->statuses[3]);
  tap_equal(counts->hangs, 0, "%s: no run hangs", command);
  tap_equal(counts->silent, 0, "%s: no run ends without a message", command);
  tap_equal(counts->killed, 0, "%s: no signal kills the command", command);
  tap_equal(good, counts->runs, "%s: each status is 0 or 3", command);
  tap_equal(counts->undescribed, 0, "%s: each recording states how it ended", command);
  tap_equal(counts->processes, 0, "%s: no process stays running", command);
  tap_equal(counts->macros, 0, "%s: no trace macro is left configured", command);
  tap(counts->statuses[3] != 0, "%s: some signals arrived before the start", command);
  tap(counts->statuses[0] != 0, "%s: some signals arrived later", command);
}

int main(int argc, char** argv) {
  if (argc != 3) return fprintf(stderr, "usage: signals ROUNDS FOLDER\n"), 2;
  const int rounds = atoi(argv[1]);
  mkdir(argv[2], 0755);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  for (int dtl = 0; dtl < 2; dtl++) {
    struct counts counts = {0};
    for (int i = 0; i < kSignalCount * kDelayCount; i++) {
      const int which = i % kSignalCount, delay = i / kSignalCount;
      struct run run = {.dtl = dtl,
                        .signal = kSignals[which].number,
                        .signal_name = kSignals[which].name,
                        .delay_ms = kDelaysMs[delay],
                        .tries_periods = (which + delay / 2) % 2};
      for (int background = 0; background < 2; background++) {
        if (rounds == 0 && background != (which + delay) % 2) continue;
        for (int round = 0; round < (rounds == 0 ? 1 : rounds); round++) {
          run.background = background;
          // One combination of each kind in turn has a workload.
          run.with_workload = (i / 2 + round) % 2;
          try_it(&run, &counts);
        }
      }
      keep(&run, argv[2]);
    }
    // A busy machine may need longer than the longest delay until the recording starts.
    struct run late = {.dtl = dtl, .signal = SIGTERM, .signal_name = "TERM"};
    for (late.delay_ms = 1000; counts.statuses[0] == 0 && late.delay_ms < kHangSeconds * 1000;
         late.delay_ms *= 2) {
      try_it(&late, &counts);
    }
    judge(dtl ? "dtl" : "record", &counts);
  }
  return tap_end();
}
