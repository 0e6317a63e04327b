// SPDX-License-Identifier: GPL-2.0-or-later
// A library for LD_PRELOAD that makes the n-th call of a kind fail. It counts the calls of every
// kind in the file $FAULTS_COUNTS, from the beginning of main() on. The environment chooses the
// fault:
//   FAULTS_KIND    name of a kind in kKinds; without it, nothing fails
//   FAULTS_NUMBER  the number of the first failing call, counted from 1
//   FAULTS_ERRNO   errno of the failing call; 0: read and write transfer only half of the bytes
//   FAULTS_FOREVER if set, all later calls of the kind fail, too
//   FAULTS_STACK   if set, prints the stack of the first failing call to stderr
// Writes to stderr never fail, because the test reads the message there. A failing close() closes
// the descriptor, as close(2) does. Calls inside of libc (the writes of its buffered streams) do
// not arrive here, so the functions of those streams fail themselves.
//
// AddressSanitizer allocates without malloc(3) in operator new. Only for its sake, operator new is
// here, too.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/faults/simulated_driver.h"

enum kind {
  kOpen,
  kRead,
  kWrite,
  kSync,
  kRename,
  kClose,
  kTruncate,
  kAllocate,
  kMap,
  kMalloc,
  kThread,
  kFolder,
  kStatus,
  kRemove,
  kKinds
};

static const char* const kNames[kKinds] = {
    [kOpen] = "open",          [kRead] = "read",          [kWrite] = "write",
    [kSync] = "fsync",         [kRename] = "rename",      [kClose] = "close",
    [kTruncate] = "ftruncate", [kAllocate] = "fallocate", [kMap] = "mmap",
    [kMalloc] = "malloc",      [kThread] = "thread",      [kFolder] = "mkdir",
    [kStatus] = "stat",        [kRemove] = "unlink",
};

// Written by every process and thread of the run. tests/faults/injection.py reads the file.
struct counts {
  _Atomic uint64_t calls[kKinds];
  _Atomic uint64_t injected;
};

static struct counts unmapped;
static struct counts* counts = &unmapped;
static _Atomic bool armed;  // main() has begun
static bool sanitized;
static int failing_kind = -1;
static uint64_t failing_number;
static int failing_errno;
static bool forever, stack;

static void print_stack(void) {
  void* frames[64];
  backtrace_symbols_fd(frames, backtrace(frames, 64), STDERR_FILENO);
}

// Counts a call. Returns whether the call fails; errno is then set.
static bool fails(enum kind kind) {
  if (!armed) return false;
  const uint64_t number = ++counts->calls[kind];
  if ((int)kind != failing_kind || number < failing_number) return false;
  if (number != failing_number && !forever) return false;
  if (++counts->injected == 1 && stack) print_stack();
  errno = failing_errno;
  return true;
}

#define NEXT(name)               \
  static __typeof__(&name) next; \
  if (!next) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

// ---- descriptors

static mode_t mode_of(int flags, va_list arguments) {
  return flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
}

#define DEFINE_OPEN(name)                                               \
  int name(const char* path, int flags, ...) {                          \
    NEXT(name);                                                         \
    va_list arguments;                                                  \
    va_start(arguments, flags);                                         \
    const mode_t mode = mode_of(flags, arguments);                      \
    va_end(arguments);                                                  \
    return fails(kOpen) ? -1 : next(simulated_path(path), flags, mode); \
  }
DEFINE_OPEN(open)
DEFINE_OPEN(open64)

#define DEFINE_OPENAT(name)                                                     \
  int name(int folder, const char* path, int flags, ...) {                      \
    NEXT(name);                                                                 \
    va_list arguments;                                                          \
    va_start(arguments, flags);                                                 \
    const mode_t mode = mode_of(flags, arguments);                              \
    va_end(arguments);                                                          \
    return fails(kOpen) ? -1 : next(folder, simulated_path(path), flags, mode); \
  }
DEFINE_OPENAT(openat)
DEFINE_OPENAT(openat64)

#define DEFINE(type, name, kind, failure, parameters, ...) \
  type name parameters {                                   \
    NEXT(name);                                            \
    return fails(kind) ? failure : next(__VA_ARGS__);      \
  }

DEFINE(FILE*, fopen, kOpen, NULL, (const char* path, const char* mode), simulated_path(path), mode)
DEFINE(FILE*, fopen64, kOpen, NULL, (const char* path, const char* mode), simulated_path(path),
       mode)
DEFINE(FILE*, fdopen, kOpen, NULL, (int fd, const char* mode), fd, mode)
DEFINE(int, mkostemp, kOpen, -1, (char* pattern, int flags), pattern, flags)
DEFINE(int, mkostemp64, kOpen, -1, (char* pattern, int flags), pattern, flags)
DEFINE(int, mkstemp, kOpen, -1, (char* pattern), pattern)
DEFINE(int, mkstemp64, kOpen, -1, (char* pattern), pattern)
DEFINE(DIR*, opendir, kOpen, NULL, (const char* path), simulated_path(path))
DEFINE(DIR*, fdopendir, kOpen, NULL, (int fd), fd)

// Without errno, the failure would be the end of the folder.
#define DEFINE_READDIR(type, name)                              \
  type* name(DIR* folder) {                                     \
    NEXT(name);                                                 \
    return failing_errno && fails(kRead) ? NULL : next(folder); \
  }
DEFINE_READDIR(struct dirent, readdir)
DEFINE_READDIR(struct dirent64, readdir64)

DEFINE(int, fsync, kSync, -1, (int fd), fd)
DEFINE(int, fdatasync, kSync, -1, (int fd), fd)
DEFINE(int, syncfs, kSync, -1, (int fd), fd)
DEFINE(int, rename, kRename, -1, (const char* from, const char* to), from, to)
DEFINE(int, renameat, kRename, -1, (int from_at, const char* from, int to_at, const char* to),
       from_at, from, to_at, to)
DEFINE(int, renameat2, kRename, -1,
       (int from_at, const char* from, int to_at, const char* to, unsigned int flags), from_at,
       from, to_at, to, flags)
DEFINE(int, link, kRename, -1, (const char* from, const char* to), from, to)
DEFINE(int, linkat, kRename, -1,
       (int from_at, const char* from, int to_at, const char* to, int flags), from_at, from, to_at,
       to, flags)
DEFINE(int, ftruncate, kTruncate, -1, (int fd, off_t size), fd, size)
DEFINE(int, ftruncate64, kTruncate, -1, (int fd, off64_t size), fd, size)
DEFINE(int, truncate, kTruncate, -1, (const char* path, off_t size), path, size)
DEFINE(int, truncate64, kTruncate, -1, (const char* path, off64_t size), path, size)
DEFINE(int, fallocate, kAllocate, -1, (int fd, int mode, off_t begin, off_t size), fd, mode, begin,
       size)
DEFINE(int, fallocate64, kAllocate, -1, (int fd, int mode, off64_t begin, off64_t size), fd, mode,
       begin, size)
DEFINE(int, posix_fallocate, kAllocate, errno, (int fd, off_t begin, off_t size), fd, begin, size)

#define DEFINE_MMAP(name, offset_type)                                                            \
  void* name(void* address, size_t size, int protection, int flags, int fd, offset_type offset) { \
    NEXT(name);                                                                                   \
    if (fails(kMap)) return MAP_FAILED;                                                           \
    if (is_simulated(fd)) return simulated_map(fd, size, offset);                                 \
    return next(address, size, protection, flags, fd, offset);                                    \
  }
DEFINE_MMAP(mmap, off_t)
DEFINE_MMAP(mmap64, off64_t)

int ioctl(int fd, unsigned long request, ...) {
  NEXT(ioctl);
  va_list arguments;
  va_start(arguments, request);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  return is_simulated(fd) ? simulated_ioctl(fd, request) : next(fd, request, argument);
}

long syscall(long number, ...) {
  NEXT(syscall);
  va_list arguments;
  va_start(arguments, number);
  long parts[6];
  for (int i = 0; i < 6; i++) parts[i] = va_arg(arguments, long);
  va_end(arguments);
  if (number != SYS_perf_event_open)
    return next(number, parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]);
  return fails(kOpen) ? -1 : simulated_open((const void*)parts[0]);
}

DEFINE(int, mkdir, kFolder, -1, (const char* path, mode_t mode), simulated_path(path), mode)
DEFINE(int, mkdirat, kFolder, -1, (int folder, const char* path, mode_t mode), folder, path, mode)
DEFINE(char*, mkdtemp, kFolder, NULL, (char* pattern), pattern)
DEFINE(int, stat, kStatus, -1, (const char* path, struct stat* status), simulated_path(path),
       status)
DEFINE(int, lstat, kStatus, -1, (const char* path, struct stat* status), simulated_path(path),
       status)
DEFINE(int, fstat, kStatus, -1, (int fd, struct stat* status), fd, status)
DEFINE(int, fstatat, kStatus, -1, (int folder, const char* path, struct stat* status, int flags),
       folder, path, status, flags)
DEFINE(int, stat64, kStatus, -1, (const char* path, struct stat64* status), simulated_path(path),
       status)
DEFINE(int, lstat64, kStatus, -1, (const char* path, struct stat64* status), simulated_path(path),
       status)
DEFINE(int, fstat64, kStatus, -1, (int fd, struct stat64* status), fd, status)
DEFINE(int, fstatat64, kStatus, -1,
       (int folder, const char* path, struct stat64* status, int flags), folder, path, status,
       flags)
DEFINE(int, unlink, kRemove, -1, (const char* path), path)
DEFINE(int, unlinkat, kRemove, -1, (int folder, const char* path, int flags), folder, path, flags)
DEFINE(int, remove, kRemove, -1, (const char* path), path)
DEFINE(int, rmdir, kRemove, -1, (const char* path), path)
DEFINE(int, pthread_create, kThread, errno,
       (pthread_t * thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument),
       thread, attributes, run, argument)

int close(int fd) {
  NEXT(close);
  const bool failed = fd > STDERR_FILENO && fails(kClose);
  simulated_close(fd);
  const int result = next(fd);
  if (!failed) return result;
  errno = failing_errno;
  return -1;
}

// A call transfers all bytes, half of them, or fails.
#define DEFINE_TRANSFER(name, kind, parameters, size, half, ...)                      \
  ssize_t name parameters {                                                           \
    NEXT(name);                                                                       \
    if (!((kind) == kWrite && fd == STDERR_FILENO) && fails(kind)) {                  \
      if (failing_errno || (size) < 2) return failing_errno ? -1 : next(__VA_ARGS__); \
      half;                                                                           \
    }                                                                                 \
    return next(__VA_ARGS__);                                                         \
  }
#define HALF_OF(size) (size) /= 2

ssize_t read(int fd, void* to, size_t size) {
  NEXT(read);
  if (is_simulated(fd)) return failing_errno && fails(kRead) ? -1 : simulated_read(fd, to, size);
  if (fails(kRead)) {
    if (failing_errno) return -1;
    size = (size + 1) / 2;
  }
  return next(fd, to, size);
}
DEFINE_TRANSFER(pread, kRead, (int fd, void* to, size_t size, off_t at), size, HALF_OF(size), fd,
                to, size, at)
DEFINE_TRANSFER(pread64, kRead, (int fd, void* to, size_t size, off64_t at), size, HALF_OF(size),
                fd, to, size, at)
DEFINE_TRANSFER(write, kWrite, (int fd, const void* from, size_t size), size, HALF_OF(size), fd,
                from, size)
DEFINE_TRANSFER(pwrite, kWrite, (int fd, const void* from, size_t size, off_t at), size,
                HALF_OF(size), fd, from, size, at)
DEFINE_TRANSFER(pwrite64, kWrite, (int fd, const void* from, size_t size, off64_t at), size,
                HALF_OF(size), fd, from, size, at)

static struct iovec first_half(const struct iovec* pieces) {
  return (struct iovec){pieces->iov_base, pieces->iov_len / 2};
}
#define HALF_OF_FIRST                            \
  const struct iovec first = first_half(pieces); \
  pieces = first.iov_len ? &first : pieces;      \
  number = 1

DEFINE_TRANSFER(readv, kRead, (int fd, const struct iovec* pieces, int number), pieces->iov_len,
                HALF_OF_FIRST;
                return next(fd, pieces, number), fd, pieces, number)
DEFINE_TRANSFER(writev, kWrite, (int fd, const struct iovec* pieces, int number), pieces->iov_len,
                HALF_OF_FIRST;
                return next(fd, pieces, number), fd, pieces, number)
DEFINE_TRANSFER(pwritev2, kWrite,
                (int fd, const struct iovec* pieces, int number, off_t at, int flags),
                pieces->iov_len, HALF_OF_FIRST;
                return next(fd, pieces, number, at, flags), fd, pieces, number, at, flags)

// ---- buffered streams

// A stream of fopencookie() has no descriptor, and writes through functions of the program: they
// fail as other writes do.
static bool cannot_fail(FILE* stream) {
  return stream == stderr || (stream && fileno(stream) < 0);
}

size_t fwrite(const void* from, size_t size, size_t number, FILE* stream) {
  NEXT(fwrite);
  if (cannot_fail(stream) || !failing_errno || !fails(kWrite))
    return next(from, size, number, stream);
  stream->_flags |= 0x20;  // _IO_ERR_SEEN in libio.h of glibc: ferror() is true
  return 0;
}

int fflush(FILE* stream) {
  NEXT(fflush);
  if (cannot_fail(stream) || !failing_errno || !fails(kWrite)) return next(stream);
  if (stream) stream->_flags |= 0x20;
  return EOF;
}

int fclose(FILE* stream) {
  NEXT(fclose);
  const bool failed = !cannot_fail(stream) && fails(kClose);
  const int result = next(stream);
  if (!failed) return result;
  errno = failing_errno;
  return EOF;
}

// ---- memory

// dlsym() allocates before `next` is known. Nobody frees such memory to the system.
static char early[1 << 16];
static size_t early_used;

static void* early_memory(size_t size) {
  const size_t begin = (early_used + 15) & ~(size_t)15;
  if (size > sizeof(early) - begin) _exit(125);
  early_used = begin + size;
  return early + begin;
}

static bool is_early(const void* memory) {
  return (const char*)memory >= early && (const char*)memory < early + sizeof(early);
}

// Volatile, because the declaration of dlsym() says that it never calls back.
static volatile bool looking;  // for `next`, while only one thread exists
#define NEXT_ALLOCATION(name)                          \
  static __typeof__(&name) next;                       \
  if (!next && !looking) {                             \
    looking = true;                                    \
    next = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
    looking = false;                                   \
  }

// libdw 0.188 uses the result of malloc() without a check (Dwarf_Abbrev_Hash_init), so its calls of
// malloc() do not fail. Those of libelf do, and libdw's calls of realloc() and calloc().
static uintptr_t libdw_begin, libdw_end;

static int find_libdw(struct dl_phdr_info* object, size_t size, void* unused) {
  (void)size;
  (void)unused;
  if (strstr(object->dlpi_name, "/libdw") == NULL) return 0;
  libdw_begin = object->dlpi_addr;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const uintptr_t end =
        object->dlpi_addr + object->dlpi_phdr[i].p_vaddr + object->dlpi_phdr[i].p_memsz;
    if (object->dlpi_phdr[i].p_type == PT_LOAD && end > libdw_end) libdw_end = end;
  }
  return 1;
}

static bool is_libdw(const void* caller) {
  return (uintptr_t)caller - libdw_begin < libdw_end - libdw_begin;
}

void* malloc(size_t size) {
  NEXT_ALLOCATION(malloc)
  if (!next) return early_memory(size);
  if (is_libdw(__builtin_return_address(0))) return next(size);
  return fails(kMalloc) ? NULL : next(size);
}

void* calloc(size_t number, size_t size) {
  NEXT_ALLOCATION(calloc)
  if (!next) return early_memory(number * size);
  return fails(kMalloc) ? NULL : next(number, size);
}

void* realloc(void* memory, size_t size) {
  NEXT_ALLOCATION(realloc)
  return fails(kMalloc) ? NULL : next(memory, size);
}

int posix_memalign(void** memory, size_t alignment, size_t size) {
  NEXT(posix_memalign);
  return fails(kMalloc) ? ENOMEM : next(memory, alignment, size);
}

void* aligned_alloc(size_t alignment, size_t size) {
  NEXT(aligned_alloc);
  return fails(kMalloc) ? NULL : next(alignment, size);
}

void free(void* memory) {
  NEXT_ALLOCATION(free)
  if (memory && !is_early(memory) && next) next(memory);
}

#define DEFINE_NEW(name, failure, parameters, ...)   \
  void* name parameters;                             \
  void* name parameters {                            \
    NEXT(name);                                      \
    if (sanitized && fails(kMalloc)) return failure; \
    return next(__VA_ARGS__);                        \
  }

// As the operator new of libstdc++ does it.
static void* throw_bad_alloc(void) {
  void (*(*get_handler)(void))(void) = dlsym(RTLD_DEFAULT, "_ZSt15get_new_handlerv");
  void (*const handler)(void) = get_handler ? get_handler() : NULL;
  if (handler) handler();
  void (*throw)(void) = dlsym(RTLD_DEFAULT, "_ZSt17__throw_bad_allocv");
  throw();
  return NULL;
}

DEFINE_NEW(_Znwm, throw_bad_alloc(), (size_t size), size)
DEFINE_NEW(_Znam, throw_bad_alloc(), (size_t size), size)
DEFINE_NEW(_ZnwmSt11align_val_t, throw_bad_alloc(), (size_t size, size_t alignment), size,
           alignment)
DEFINE_NEW(_ZnamSt11align_val_t, throw_bad_alloc(), (size_t size, size_t alignment), size,
           alignment)
DEFINE_NEW(_ZnwmRKSt9nothrow_t, NULL, (size_t size, const void* nothrow), size, nothrow)
DEFINE_NEW(_ZnamRKSt9nothrow_t, NULL, (size_t size, const void* nothrow), size, nothrow)

// ---- the beginning

static int (*real_main)(int, char**, char**);

static int armed_main(int argc, char** argv, char** environment) {
  armed = true;
  return real_main(argc, argv, environment);
}

static void read_environment(void) {
  const char* file = getenv("FAULTS_COUNTS");
  const char* kind = getenv("FAULTS_KIND");
  const char* number = getenv("FAULTS_NUMBER");
  const char* reason = getenv("FAULTS_ERRNO");
  const int fd = file ? open(file, O_RDWR | O_CLOEXEC) : -1;
  if (fd >= 0) {
    void* shared = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared != MAP_FAILED) counts = shared;
    close(fd);
  }
  for (int i = 0; kind && i < kKinds; i++) {
    if (!strcmp(kind, kNames[i])) failing_kind = i;
  }
  failing_number = number ? strtoull(number, NULL, 10) : 0;
  failing_errno = reason ? atoi(reason) : EIO;
  forever = getenv("FAULTS_FOREVER");
  stack = getenv("FAULTS_STACK");
  if (stack) print_stack();  // backtrace() allocates only once
  sanitized = dlsym(RTLD_DEFAULT, "__asan_init");
  simulated_driver_begin();
  unsetenv("LD_PRELOAD");  // programs that a run starts are not part of the test
}

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(void),
                      void (*finish)(void), void (*loader)(void), void* end);
int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(void),
                      void (*finish)(void), void (*loader)(void), void* end) {
  NEXT(__libc_start_main);
  read_environment();
  dl_iterate_phdr(find_libdw, NULL);
  real_main = main;
  return next(armed_main, argc, argv, init, finish, loader, end);
}
