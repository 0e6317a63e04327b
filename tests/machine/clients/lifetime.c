// SPDX-License-Identifier: GPL-2.0-or-later
// lifetime ring|group - objects that outlive an htm event: its AUX area in the ring of another
// event (ring), and the members of its group (group). The driver's module must stay loaded as long
// as such an object exists. Each test ends by unloading the module. A built-in driver is not a
// module, and has the checks of the objects only.
//
// The machine: carrier CPU 0; the core of CPU 1 is node 0, chip 1, core 4, and is traced.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/machine/clients/group.h"
#include "tests/machine/clients/tap.h"
#include "tests/machine/clients/traced_core.h"

enum { kData = 1 << 18, kAux = 1 << 18, kWork = 10 };

// Returns 0 or the errno.
static int unload(void) {
  return syscall(SYS_delete_module, "htm", O_NONBLOCK) == 0 ? 0 : errno;
}

static void tap_unload(int error, int expected, const char* what) {
  if (driver_is_built_in()) {
    tap(error == ENOENT, "%s # SKIP the driver is built in", what);
  } else {
    tap_equal(error, expected, what);
  }
}

// Opens an htm event that writes to the ring of another event.
static struct client open_on(const struct client* ring) {
  struct client client = *ring;
  const struct perf_event_attr attr = client_attr(CORE);
  client.event = client_open(&attr, kCarrier);
  if (client.event < 0) die("htm event");
  client.keep = true;
  if (event_ioctl(client.event, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)ring->event) != 0) {
    die("SET_OUTPUT");
  }
  return client;
}

static void trace(struct client* client, const char* whose) {
  client_enable(client);
  work_on(kTraced, kWork);
  const bool drained = client_drain(client);
  tap(drained && whole(client), "%s trace is complete", whose);
}

// `unloads`: also unload the module. If a driver lets the module go while the area exists, the
// kernel panics at the munmap, and KASAN cannot report an access to the freed session there.
static void ring(bool unloads) {
  struct client owner = {};
  struct perf_event_attr dummy = dummy_attr();
  dummy.sample_type = client_attr(CORE).sample_type;
  dummy.sample_id_all = 1;
  owner.event = open_event(&dummy, -1, kCarrier, -1);
  client_map_data(&owner, kData);

  struct client first = open_on(&owner);
  if (client_map_aux(&first, kAux, PROT_READ | PROT_WRITE) != 0) die("AUX area of the htm event");
  const off_t aux_offset = (off_t)owner.page->aux_offset;
  owner.aux = mmap(NULL, kAux, PROT_READ | PROT_WRITE, MAP_SHARED, owner.event, aux_offset);
  tap(owner.aux != MAP_FAILED, "the AUX area can also be mapped through the owner of the ring");
  if (owner.aux == MAP_FAILED) return;
  owner.aux_bytes = kAux;
  trace(&first, "the first event's");
  munmap(first.aux, kAux);
  close(first.event);
  tap_equal(control("configured"), 0, "the first event is closed");

  // The event that created the area is closed, and the area still exists.
  struct client second = open_on(&owner);
  trace(&second, "in the area of the closed event, another event's");
  close(second.event);
  if (unloads) {
    tap_unload(unload(), EWOULDBLOCK, "the module stays loaded while the AUX area exists");
  }
  munmap(owner.aux, kAux);
  munmap(owner.page, owner.page_bytes + kData);
  close(owner.event);
  if (unloads) {
    tap_unload(unload(), 0, "the module can be unloaded after the area is freed");
  }
}

static void group(void) {
  struct client leader;
  client_begin(&leader, CORE, kCarrier, kData, kAux);
  const struct perf_event_attr dummy = dummy_attr();
  const int member = open_event(&dummy, -1, kCarrier, leader.event);
  tap(member >= 0, "a software event joins the htm event's group");
  client_enable(&leader);
  client_end(&leader);
  tap_equal(control("configured"), 0, "the group's leader is closed");
  const int stays = unload();
  tap_unload(stays, EWOULDBLOCK, "the module stays loaded while a member of the group is open");
  event_ioctl(member, PERF_EVENT_IOC_DISABLE, 0);
  event_ioctl(member, PERF_EVENT_IOC_ENABLE, 0);
  close(member);
  // The member is freed after a grace period, and the driver notices this within about a second.
  int error = stays == 0 ? 0 : unload();
  for (int i = 0; i < 100 && error != 0 && !driver_is_built_in(); i++) {
    usleep(100000);
    error = unload();
  }
  tap_unload(error, 0, "the module can be unloaded after the member is closed");
}

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "ring") == 0) {
    ring(false);
    ring(true);
  } else if (argc == 2 && strcmp(argv[1], "group") == 0) {
    group();
  } else {
    fputs("usage: lifetime ring|group\n", stderr);
    return 2;
  }
  return tap_end();
}
