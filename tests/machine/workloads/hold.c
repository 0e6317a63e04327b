// SPDX-License-Identifier: GPL-2.0-or-later
// hold CONFIG CPU DIR PROGRAM [ARGUMENT]... - a client of the htm PMU that shares no code with
// htmtrace. Traces PROGRAM, and writes the trace to DIR/htm.bin and the memory map to
// DIR/translation. Then it creates DIR/delivered, and keeps the event open until DIR/release
// exists. The macro stays configured meanwhile, so that other programs can read it.
//
// CONFIG is attr.config (kmod/ABI), and CPU the carrier CPU.
#define _GNU_SOURCE
#include <endian.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kDataBytes = 1 << 20, kAuxBytes = 1 << 20 };
// A block of the memory map has a header of 32 bytes, with the number of entries at 16, and entries
// of 32 bytes.
enum { kBlockHeader = 32, kBlockEntry = 32, kBlockCount = 16 };

struct client {
  int event;
  struct perf_event_mmap_page* page;
  const uint8_t* data;
  const uint8_t* aux;
  FILE* trace;
  FILE* translation;
};

static void die(const char* what) {
  perror(what);
  exit(1);
}

static unsigned read_type(void) {
  unsigned type;
  FILE* file = fopen("/sys/bus/event_source/devices/htm/type", "r");
  if (file == NULL || fscanf(file, "%u", &type) != 1) die("hold: type of the htm PMU");
  fclose(file);
  return type;
}

static FILE* create(const char* folder, const char* name) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/%s", folder, name);
  FILE* file = fopen(path, "w");
  if (file == NULL) die(path);
  return file;
}

static void open_event(struct client* client, uint64_t config, int cpu) {
  struct perf_event_attr attr = {
      .type = read_type(),
      .size = sizeof(attr),
      .config = config,
      .sample_period = 1,
      .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_RAW,
      .disabled = 1,
      .pinned = 1,
      .aux_watermark = kAuxBytes / 2,
  };
  client->event = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
  if (client->event < 0) die("hold: perf_event_open");
  const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
  client->page =
      mmap(NULL, page_bytes + kDataBytes, PROT_READ | PROT_WRITE, MAP_SHARED, client->event, 0);
  if (client->page == MAP_FAILED) die("hold: data ring");
  client->data = (const uint8_t*)client->page + page_bytes;
  client->page->aux_offset = page_bytes + kDataBytes;
  client->page->aux_size = kAuxBytes;
  client->aux = mmap(NULL, kAuxBytes, PROT_READ | PROT_WRITE, MAP_SHARED, client->event,
                     (off_t)client->page->aux_offset);
  if (client->aux == MAP_FAILED) die("hold: AUX ring");
}

static void run_program(char** arguments) {
  const pid_t child = fork();
  if (child < 0) die("hold: fork");
  if (child == 0) {
    execvp(arguments[0], arguments);
    perror(arguments[0]);
    _exit(127);
  }
  int status;
  if (waitpid(child, &status, 0) < 0 || status != 0) die("hold: the program");
}

static void copy_out(const uint8_t* ring, size_t size, uint64_t from, void* to, size_t length) {
  for (size_t i = 0; i < length; i++) ((uint8_t*)to)[i] = ring[(from + i) % size];
}

// With the sample_type above, a sample has a header, a u64 identifier, a u32 size, and one block.
static void take_sample(struct client* client, uint64_t at, size_t length) {
  static uint8_t sample[1 << 16];
  copy_out(client->data, kDataBytes, at, sample, length);
  const uint8_t* block = sample + sizeof(struct perf_event_header) + 12;
  uint64_t count;
  memcpy(&count, block + kBlockCount, sizeof(count));
  const size_t bytes = kBlockHeader + kBlockEntry * be64toh(count);
  if (fwrite(block, 1, bytes, client->translation) != bytes) die("hold: translation");
}

// Returns whether the ring had data.
static int take_records(struct client* client) {
  const uint64_t head = __atomic_load_n(&client->page->data_head, __ATOMIC_ACQUIRE);
  uint64_t tail = client->page->data_tail;
  const int any = head != tail;
  while (tail < head) {
    struct perf_event_header header;
    copy_out(client->data, kDataBytes, tail, &header, sizeof(header));
    if (header.type == PERF_RECORD_SAMPLE) take_sample(client, tail, header.size);
    tail += header.size;
  }
  __atomic_store_n(&client->page->data_tail, tail, __ATOMIC_RELEASE);
  return any;
}

// A buffer is necessary, because the kernel refuses direct input or output with a perf mapping.
static int take_trace(struct client* client) {
  const uint64_t head = __atomic_load_n(&client->page->aux_head, __ATOMIC_ACQUIRE);
  static uint8_t buffer[1 << 16];
  uint64_t tail = client->page->aux_tail;
  const int any = head != tail;
  while (tail < head) {
    const size_t offset = tail % kAuxBytes;
    size_t length = kAuxBytes - offset;
    if (length > head - tail) length = head - tail;
    if (length > sizeof(buffer)) length = sizeof(buffer);
    memcpy(buffer, client->aux + offset, length);
    if (fwrite(buffer, 1, length, client->trace) != length) die("hold: trace");
    tail += length;
  }
  __atomic_store_n(&client->page->aux_tail, tail, __ATOMIC_RELEASE);
  return any;
}

// Drain both rings before each read. The trace ends when a read returns 0 and delivers nothing.
static void drain(struct client* client) {
  uint64_t value = 1;
  int any = 1;
  while (value != 0 || any) {
    if (read(client->event, &value, sizeof(value)) != sizeof(value)) die("hold: read of the event");
    any = take_records(client);
    any |= take_trace(client);
  }
  if (fclose(client->trace) != 0 || fclose(client->translation) != 0) die("hold: files");
}

int main(int argc, char** argv) {
  if (argc < 5) {
    fputs("usage: hold CONFIG CPU DIR PROGRAM [ARGUMENT]...\n", stderr);
    return 2;
  }
  const char* const folder = argv[3];
  struct client client = {.trace = create(folder, "htm.bin"),
                          .translation = create(folder, "translation")};
  open_event(&client, strtoull(argv[1], NULL, 0), atoi(argv[2]));
  if (ioctl(client.event, PERF_EVENT_IOC_ENABLE, 0) != 0) die("hold: enable");
  run_program(argv + 4);
  drain(&client);
  fclose(create(folder, "delivered"));
  char release[4096];
  snprintf(release, sizeof(release), "%s/release", folder);
  while (access(release, F_OK) != 0) usleep(20000);
  return 0;
}
