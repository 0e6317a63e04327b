// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the disk of a test full.
#pragma once

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdint>

namespace htmtrace {

// Limits the size of files while this object lives: a full disk for one process.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(uint64_t bytes) {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &old_);
    rlimit limit = old_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    ::signal(SIGXFSZ, SIG_DFL);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit old_{};
};

}  // namespace htmtrace
