// SPDX-License-Identifier: GPL-2.0-or-later
// begins - the driver announces the begin of a trace and its delay, and an earlier request never
// cancels a newer request (kmod/ABI).
//
// The machine: CPU 0 is the carrier CPU. The traced core is the core of CPU 1: node 0, chip 1, core
// 4.
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/machine/clients/group.h"
#include "tests/machine/clients/processors.h"
#include "tests/machine/clients/tap.h"
#include "tests/machine/clients/traced_core.h"
#include "tests/machine/clients/untraced.h"

enum { kData = 1 << 18, kAux = 1 << 18, kWork = 5 };
#define MILLISECONDS(n) ((uint64_t)(n)*1000000)

static void begin(struct client* client) {
  control("clear");
  client_begin(client, CORE, kCarrier, kData, kAux);
}

static void begin_at_once(void) {
  struct client client;
  begin(&client);
  client_enable(&client);
  client_consume(&client);
  tap(client.announced[kStarted] == 1 && told_why(client.said[kStarted]) == 0,
      "the driver announces the begin of a trace at once");
  work_on(kTraced, kWork);
  client_drain(&client);
  tap(whole(&client) && client.announced[kGap] == 0, "a trace that began at once is complete");
  show(&client);
  client_end(&client);
}

static void begin_late(void) {
  struct client client;
  begin(&client);
  put_off_start();
  client_enable(&client);
  work_on(kTraced, kWork);
  client_consume(&client);
  tap(state() == kConfigured && client.announced[kStarted] == 0,
      "the driver does not announce a START that the hypervisor delays");
  give_in();
  tap(await(&client, kStarted) && state() == kTracing,
      "the driver announces a delayed START when the macro traces");
  const uint64_t said = client.said[kStarted];
  tap(told_why(said) == kLate && told_ns(said) >= MILLISECONDS(100) &&
          told_ns(said) < MILLISECONDS(5000),
      "the announcement states the delay and the reason");
  work_on(kTraced, kWork);
  client_drain(&client);
  tap(partial(&client) && client.announced[kGap] == 0, "a trace that began late is flagged");
  tap(equal(&client), "the driver delivers the trace after a delayed START");
  show(&client);
  client_end(&client);

  begin(&client);
  put_off_start();
  client_enable(&client);
  work_on(kTraced, kWork);
  client_read(&client);
  give_in();
  client_drain(&client);
  tap(client.announced[kGap] == 1 && told_why(client.said[kGap]) & kLate && partial(&client),
      "a read before the begin of the trace: the driver announces the gap, and flags the trace");
  show(&client);
  client_end(&client);
}

// The core stops the event while START is in progress. The driver announces the time preceding
// START and the time following the STOP.
static void begin_interrupted(void) {
  struct client client;
  begin(&client);
  put_off_start();
  client_enable(&client);
  // Wait until the driver repeats START: an earlier stop can withdraw it.
  for (int i = 0; i < 5000 && control("calls START") < 2; i++) usleep(1000);
  munmap(client.aux, client.aux_bytes);
  client.aux = NULL;
  give_in();
  tap(await(&client, kStarted) && state() == kStopped,
      "a late START after a stop: the driver announces the delay");
  usleep(200000);
  if (client_map_aux(&client, kAux, PROT_READ | PROT_WRITE) != 0) die("AUX ring");
  client_drain(&client);
  tap(client.announced[kGap] == 1 && client.gaps_why == kRings &&
          told_ns(client.said[kGap]) >= MILLISECONDS(200) && partial(&client),
      "a late START after a stop: the driver announces and flags the gap");
  show(&client);
  client_end(&client);
}

// The hypervisor delays the START that a group member's resume requests.
static void late_resume(void) {
  struct client client = {.keep = true};
  struct perf_event_attr attr = client_attr(CORE);
  struct perf_event_attr member = dummy_attr();
  control("clear");
  set_aux_action(&attr, kStartPaused);
  client.event = client_open(&attr, kCarrier);
  if (client.event == -EINVAL || client.event == -E2BIG) {
    tap(true, "a late resume # SKIP this kernel has no aux_pause");
    return;
  }
  member.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
  member.sample_period = 1;
  member.sample_type = PERF_SAMPLE_IP;
  set_aux_action(&member, kResume);
  const int resume = open_event(&member, -1, kCarrier, client.event);
  client_map_data(&client, kData);
  client_map_aux(&client, kAux, PROT_READ | PROT_WRITE);
  put_off_start();
  client_enable(&client);
  stay_on(kCarrier);
  give_in();
  tap(await(&client, kStarted) && told_why(client.said[kStarted]) == kLate &&
          told_ns(client.said[kStarted]) >= MILLISECONDS(100),
      "the driver announces a late resume and its delay");
  stay_on(kAnyCpu);
  work_on(kTraced, kWork);
  client_drain(&client);
  tap(partial(&client), "a trace with a late resume is flagged");
  close(resume);
  show(&client);
  client_end(&client);
}

// ------------------------------------------------------------------------------- the newer request

// The hypervisor refuses START in the background while the client disables and enables the event.
static void newer_enable(void) {
  enum { kTimes = 100 };
  unsigned killed = 0, wrong = 0;
  struct client client = {.keep = true};
  struct perf_event_attr attr = client_attr(CORE);
  attr.pinned = 0;
  control("clear");
  client.event = client_open(&attr, kCarrier);
  client_map_data(&client, kData);
  client_map_aux(&client, kAux, PROT_READ | PROT_WRITE);
  for (unsigned i = 0; i < kTimes; i++) {
    control("clear");
    control("START nth=1 H_HARDWARE");
    client_enable(&client);
    for (volatile unsigned delay = 0; delay < i * 20; delay++) continue;
    client_disable(&client);
    client_enable(&client);
    usleep(3000);
    client_consume(&client);
    killed += state() != kTracing && control("calls START") > 1;
    client_disable(&client);
  }
  wrong = client.announced[kErrorTold] > kTimes;
  tap_equal(killed, 0, "a refused START does not end the trace of a newer ENABLE");
  tap(client.announced[kErrorTold] > 0 && wrong == 0,
      "the driver announces each refusal at most once");
  show(&client);
  client_end(&client);
}

// The hypervisor is busy at the STOP of a DISABLE. ENABLE withdraws the request before the driver
// repeats STOP, so the macro traces all the time.
static void withdrawn_stop(void) {
  bool met = false;
  struct client client = {};
  for (int i = 0; i < 50 && !met; i++) {
    if (i != 0) client_end(&client);
    begin(&client);
    client_enable(&client);
    control("STOP from=1 H_LONG_BUSY_ORDER_10_MSEC");
    stay_on(kCarrier);
    client_disable(&client);
    client_enable(&client);
    stay_on(kAnyCpu);
    usleep(50000);
    met = control("calls STOP") == 1;
    control("clear");
    work_on(kTraced, kWork);
    client_drain(&client);
  }
  tap(met, "ENABLE withdraws a STOP that the hypervisor delays");
  tap(whole(&client) && client.announced[kGap] == 0, "the trace is complete, and has no gap");
  show(&client);
  client_end(&client);
}

int main(void) {
  begin_at_once();
  begin_late();
  begin_interrupted();
  late_resume();
  newer_enable();
  withdrawn_stop();
  tap_equal(control("configured"), 0, "no macro stays configured");
  return tap_end();
}
