// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/syscall_filter.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstddef>

namespace htmtrace {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_PPC64LE;
#elif defined(__powerpc64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_PPC64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#elif defined(__s390x__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_S390X;
#else
constexpr uint32_t kArchitecture = 0;  // install() returns EINVAL
#endif

// arch/x86/entry/syscalls/syscall_32.tbl and arch/powerpc/kernel/syscalls/syscall.tbl.
constexpr uint32_t kIoctlOf32Bits = 54;
// arch/x86/include/uapi/asm/unistd.h, __X32_SYSCALL_BIT: the x32 calls of the same architecture.
constexpr uint32_t kX32 = 0x40000000;

// The second argument of ioctl(2) has 32 bits.
constexpr uint32_t kRequestOffset =
    offsetof(seccomp_data, args) + sizeof(uint64_t) +
    (std::endian::native == std::endian::big ? sizeof(uint32_t) : 0);

constexpr uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;

class Program {
 public:
  void load(uint32_t offset) { add(BPF_LD | BPF_W | BPF_ABS, offset, 0, 0); }
  void finish(uint32_t result) { add(BPF_RET | BPF_K, result, 0, 0); }
  void refuse_if(uint16_t comparison, uint32_t value) {
    add(BPF_JMP | comparison | BPF_K, value, 0, 1);
    finish(kRefuse);
  }
  // Skips `count` instructions unless the loaded value is `value`.
  void skip_unless(uint32_t value, size_t count) {
    add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, static_cast<uint8_t>(count));
  }
  // Refuses ioctl `number` with these requests, and allows it with all others.
  void check_ioctl(uint32_t number, const std::vector<uint32_t>& requests) {
    skip_unless(number, 2 + 2 * requests.size());
    load(kRequestOffset);
    for (const uint32_t request : requests) refuse_if(BPF_JEQ, request);
    finish(SECCOMP_RET_ALLOW);
  }

  std::vector<sock_filter>& code() { return code_; }

 private:
  void add(uint16_t code, uint32_t value, uint8_t if_true, uint8_t if_false) {
    code_.push_back({code, if_true, if_false, value});
  }

  std::vector<sock_filter> code_;
};

}  // namespace

void SyscallFilter::refuse(std::initializer_list<int> numbers) {
  for (const int number : numbers) numbers_.push_back(static_cast<uint32_t>(number));
}

void SyscallFilter::refuse_ioctl(std::initializer_list<uint32_t> requests) {
  requests_.insert(requests_.end(), requests);
}

int SyscallFilter::install() const {
  if (kArchitecture == 0) return EINVAL;
  Program other;
  if (only_native_) {
    other.finish(kRefuse);
  } else {
    other.load(offsetof(seccomp_data, nr));
    other.check_ioctl(kIoctlOf32Bits, requests_);
    other.finish(SECCOMP_RET_ALLOW);
  }
  Program program;
  program.load(offsetof(seccomp_data, arch));
  // The native part follows the part for other architectures.
  program.code().push_back(
      {BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint8_t>(other.code().size()), 0, kArchitecture});
  program.code().insert(program.code().end(), other.code().begin(), other.code().end());
  program.load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
  if (only_native_) program.refuse_if(BPF_JGE, kX32);
#endif
  for (const uint32_t number : numbers_) program.refuse_if(BPF_JEQ, number);
  program.check_ioctl(SYS_ioctl, requests_);
  program.finish(SECCOMP_RET_ALLOW);
  const sock_fprog whole{static_cast<unsigned short>(program.code().size()), program.code().data()};
  // Without the flag, kernels before 5.16 also turn off a speculation of the processor, which slows
  // down decoding and changes the traced workload.
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &whole) ==
                 0
             ? 0
             : errno;
}

}  // namespace htmtrace
