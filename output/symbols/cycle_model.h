// SPDX-License-Identifier: GPL-2.0-or-later
// Predicts how many cycles POWER10 needs for basic blocks, with llvm-mca of LLVM.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "core/core_trace/events.h"

namespace htmtrace {

// A child process runs llvm-mc and llvm-mca. This process can therefore enter the sandbox, in which
// it cannot run programs, before it predicts cycles.
class CycleModel {
 public:
  // Throws Error if a program is not in PATH or does not start.
  CycleModel();
  CycleModel(const CycleModel&) = delete;
  CycleModel& operator=(const CycleModel&) = delete;
  ~CycleModel();

  // The version of LLVM and the processor, for example "LLVM 14.0.6, pwr10".
  const std::string& name() const { return name_; }

  // Returns the cycles of one execution of each block in a loop, in the order of the blocks. The
  // value is empty if LLVM does not know an instruction of the block. The instructions must have
  // opcodes. Call it once. Throws Error if a program fails.
  std::vector<std::optional<double>> predict(std::span<const std::vector<Instruction>> blocks);

 private:
  pid_t child_ = -1;
  Fd requests_;
  Fd answers_;
  std::string name_;
};

}  // namespace htmtrace
