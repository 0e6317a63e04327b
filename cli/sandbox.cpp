// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/sandbox.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include "cli/syscall_filter.h"
#include "core/base/error.h"
#include "core/base/fd.h"
#include "output/io/scratch_file.h"

namespace htmtrace {
namespace {

namespace fs = std::filesystem;

// uapi/linux/landlock.h of later kernels than Debian 12's.
constexpr uint64_t kTruncate = 1 << 14;     // ABI 3
constexpr uint64_t kIoctlDevice = 1 << 15;  // ABI 5
constexpr uint64_t kBindAndConnectTcp = 3;  // ABI 4
constexpr uint64_t kSocketsAndSignals = 3;  // ABI 6: abstract sockets and signals
struct RulesetAttr {
  uint64_t files;
  uint64_t network;  // ABI 4
  uint64_t scoped;   // ABI 6
};

constexpr uint64_t kReadFile = LANDLOCK_ACCESS_FS_READ_FILE;
constexpr uint64_t kReadFolder = LANDLOCK_ACCESS_FS_READ_DIR;
constexpr uint64_t kWriteFile = LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate;
constexpr uint64_t kReplaceFiles = kReadFile | kReadFolder | kWriteFile |
                                   LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REMOVE_FILE;
constexpr uint64_t kReplaceFolders =
    kReplaceFiles | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_REMOVE_DIR;
// Rights that only folders have; the kernel refuses them for other files.
constexpr uint64_t kOfFolders = kReadFolder | LANDLOCK_ACCESS_FS_MAKE_REG |
                                LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |
                                LANDLOCK_ACCESS_FS_REMOVE_DIR;

// Facts about this machine and process, and the files of libraries that are loaded late.
constexpr const char* kSystemFolders[] = {"/proc", "/sys/devices/system", "/usr/lib", "/lib",
                                          "/lib64"};

class Ruleset {
 public:
  // Invalid if the kernel has no Landlock, or its administrator has disabled it.
  Ruleset() {
    const long abi =
        ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (abi < 1) return;
    handled_ = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;  // ABI 1: everything up to this right
    if (abi >= 2) handled_ |= LANDLOCK_ACCESS_FS_REFER;
    if (abi >= 3) handled_ |= kTruncate;
    if (abi >= 5) handled_ |= kIoctlDevice;
    const RulesetAttr attr{handled_, abi >= 4 ? kBindAndConnectTcp : 0,
                           abi >= 6 ? kSocketsAndSignals : 0};
    // Earlier kernels accept a longer structure if its rest is zero.
    fd_ = Fd(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0)));
  }

  // A file on an internal file system, such as a pipe, needs no rule and cannot have one (EBADFD).
  // A missing rule would make the command fail later for the wrong reason. Throws Error.
  void allow(const fs::path& path, uint64_t rights) const {
    if (!fd_) return;
    const Fd file(::open(path.c_str(), O_PATH | O_CLOEXEC));
    struct stat facts {};
    if (!file || ::fstat(file.get(), &facts) != 0) {
      if (errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == ELOOP) return;
      throw Error("cannot open " + path.string(), errno);
    }
    if (!S_ISDIR(facts.st_mode)) rights &= ~kOfFolders;
    const landlock_path_beneath_attr rule{rights & handled_, file.get()};
    if (::syscall(SYS_landlock_add_rule, fd_.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0 &&
        errno != EBADFD)
      throw Error("cannot allow " + path.string() + " in the sandbox", errno);
  }

  bool enter() const { return fd_ && ::syscall(SYS_landlock_restrict_self, fd_.get(), 0) == 0; }

 private:
  Fd fd_;
  uint64_t handled_ = 0;
};

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : ".";
}

// A device or a pipe is written, and never replaced. All other outputs replace the file, or fail
// with an error of their own.
void allow_output(const Ruleset& rules, const fs::path& path) {
  std::error_code failure;
  if (fs::is_other(path, failure)) {
    rules.allow(path, kWriteFile);
  } else {
    rules.allow(folder_of(path), kReplaceFiles);
  }
}

void allow_output_folder(const Ruleset& rules, fs::path path) {
  std::error_code failure;
  path = fs::absolute(path, failure).lexically_normal();
  if (failure) throw Error("cannot find the current folder", failure.value());
  while (!fs::exists(path, failure) && path.has_relative_path()) path = path.parent_path();
  rules.allow(path, kReplaceFolders);
}

bool confine_files(const Reach& reach) {
  const Ruleset rules;
  for (const char* folder : kSystemFolders) rules.allow(folder, kReadFile | kReadFolder);
  rules.allow("/etc/ld.so.cache", kReadFile);
  rules.allow("/dev/null", kReadFile | kWriteFile);
  for (const fs::path& file : reach.files) rules.allow(file, kReadFile);
  for (const fs::path& folder : reach.folders) rules.allow(folder, kReadFile | kReadFolder);
  for (const fs::path& folder : reach.listed) rules.allow(folder, kReadFolder);
  const auto is_file = [](const fs::path& path) { return !path.empty() && path != "-"; };
  for (const fs::path& path : reach.outputs) {
    if (is_file(path)) allow_output(rules, path);
  }
  for (const fs::path& path : reach.output_folders) {
    if (is_file(path)) allow_output_folder(rules, path);
  }
  if (reach.scratch) {
    for (const std::string& folder : ScratchFile::folders()) rules.allow(folder, kReplaceFiles);
  }
  return rules.enter();
}

// No command that reads files needs these calls.
bool confine_system_calls() {
  SyscallFilter filter;
  filter.refuse_other_architectures();
  filter.refuse_ioctl({TIOCSTI, TIOCLINUX});
  // The network, and programs on this machine.
  filter.refuse({SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_accept4});
  // Other programs and processes.
  filter.refuse({SYS_execve, SYS_execveat, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp,
                 SYS_kill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_pidfd_open,
                 SYS_pidfd_getfd, SYS_pidfd_send_signal, SYS_setns, SYS_unshare});
#if !defined(__SANITIZE_ADDRESS__)
  filter.refuse({SYS_ptrace});  // the leak sanitizer stops the threads with it
#endif
  // Owners, permissions and attributes of files, which Landlock does not know.
  filter.refuse({SYS_fchmodat, SYS_fchown, SYS_fchownat, SYS_truncate, SYS_setxattr, SYS_lsetxattr,
                 SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr,
                 SYS_open_by_handle_at});
#if defined(SYS_chmod)
  filter.refuse({SYS_chmod, SYS_chown, SYS_lchown});
#endif
  // The rest of the kernel, above all for root.
  filter.refuse({SYS_mount,           SYS_umount2,        SYS_pivot_root,  SYS_chroot,
                 SYS_move_mount,      SYS_fsopen,         SYS_open_tree,   SYS_bpf,
                 SYS_perf_event_open, SYS_io_uring_setup, SYS_userfaultfd, SYS_add_key,
                 SYS_request_key,     SYS_keyctl,         SYS_init_module, SYS_finit_module,
                 SYS_delete_module,   SYS_kexec_load,     SYS_reboot,      SYS_swapon,
                 SYS_swapoff,         SYS_syslog,         SYS_acct,        SYS_quotactl,
                 SYS_settimeofday,    SYS_clock_settime,  SYS_adjtimex,    SYS_sethostname,
                 SYS_setdomainname});
  return filter.install() == 0;
}

}  // namespace

// The filter comes last, because Landlock's calls need no exception then.
Confined enter_sandbox(const Reach& reach) {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return {};
  Confined confined;
  confined.files = confine_files(reach);
  confined.system_calls = confine_system_calls();
  return confined;
}

}  // namespace htmtrace
