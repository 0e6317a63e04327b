// SPDX-License-Identifier: GPL-2.0-or-later
#include "pmu/htm_errors.h"

#include <doctest/doctest.h>

#include <cerrno>

namespace htmtrace {
namespace {

const TraceTarget kTarget{.node = 0, .chip = 1, .core = 12};

std::string whole(const Error& error) {
  std::string text = error.what();
  for (const auto& subject : error.subjects()) text += "\n  " + subject;
  for (const auto& hint : error.hints()) text += "\n  hint: " + hint;
  return text;
}

bool says(const Error& error, const char* words) {
  return whole(error).find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("a refused open states event, target, carrier CPU and remedy") {
  const Error error = explain_open_failure(EACCES, kTarget, 0);
  CHECK(std::string(error.what()) ==
        "cannot open event htm/htm_core,nodeindex=0,nodalchipindex=1,coreindexonchip=12/: "
        "Permission denied");
  CHECK(says(error, "target: node=0,chip=1,core=12,type=core  carrier cpu: 0"));
  CHECK(says(error, "hint: grant CAP_PERFMON or run as root (kernel.perf_event_paranoid is "));
}

TEST_CASE("each hypervisor refusal has its own message") {
  CHECK(says(explain_open_failure(EPERM, kTarget, 0), "H_AUTHORITY"));
  CHECK(says(explain_open_failure(EPERM, kTarget, 0), "VET"));
  CHECK(says(explain_open_failure(EALREADY, kTarget, 0), "H_STATE"));
  CHECK(says(explain_open_failure(EINVAL, kTarget, 0), "H_PARAMETER"));
  CHECK(says(explain_open_failure(ENXIO, kTarget, 0), "H_P2"));
  CHECK(says(explain_open_failure(ENODEV, kTarget, 0), "H_NOT_AVAILABLE"));
  CHECK(says(explain_open_failure(EBUSY, kTarget, 0), "another event traces this target"));
  CHECK(says(explain_open_failure(EMFILE, kTarget, 0), "ulimit -n"));
}

TEST_CASE("a missing CPU is not reported as a hypervisor refusal") {
  const Error error = explain_open_failure(ENODEV, kTarget, 100000);
  CHECK(says(error, "cpu 100000 is not online"));
  CHECK_FALSE(says(error, "H_NOT_AVAILABLE"));
}

// --cpu of htmtrace locate is another option, and doctor has none.
TEST_CASE("hints on the carrier CPU name the command of the option --cpu") {
  for (const Error& error :
       {explain_open_failure(EBUSY, kTarget, 0), explain_open_failure(ENODEV, kTarget, 100000),
        explain_silence(kTarget, 100000)}) {
    CAPTURE(error.what());
    CHECK(says(error, "htmtrace record --cpu LIST"));
  }
}

TEST_CASE("a refusal after the open names the operation and the code") {
  const Error error = explain_refusal(5, EPERM, -10, kTarget, 3);
  CHECK(std::string(error.what()) ==
        "the hypervisor refused START with H_AUTHORITY (-10): Operation not permitted");
  CHECK(says(error, "carrier cpu: 3"));
  CHECK(describe_return_code(-4711) == "an unknown code (-4711)");
  CHECK(says(explain_refusal(99, EIO, -1, kTarget, 3), "operation 99"));
}

}  // namespace htmtrace
