// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/record/symbol_saver.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/messages.h"

namespace htmtrace {
namespace {

// When to read the pages of a workload: the first delay, and the longest.
constexpr std::chrono::milliseconds kFirstLook{50};
constexpr std::chrono::seconds kRarestLook{60};

}  // namespace

SymbolSaver::SymbolSaver(const std::filesystem::path& folder, Existing existing, InputFile kallsyms,
                         std::optional<pid_t> workload)
    : files_(folder, existing, std::move(kallsyms), workload.has_value()) {
  if (workload) {
    pages_.emplace("/proc", *workload, static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)));
  }
}

// Reads the workload's memory first: there are many processes, and the workload may end soon.
void SymbolSaver::begin() {
  begin_ = Clock::now();
  state_ = pages_ ? State::kPagesDue : State::kMapsDue;
  if (pages_) next_look_ = begin_ + kFirstLook;
}

void SymbolSaver::look() {
  if (next_look_ && Clock::now() >= *next_look_) {
    read_pages();
    if (state_ == State::kPagesDue) state_ = State::kMapsDue;
  }
  if (state_ != State::kMapsDue) return;
  state_ = State::kMapsSaved;
  files_.add_maps("the trace had begun");
}

// A workload that has ended has no pages. htmtrace reads them early, to catch a short workload, and
// then ever more rarely, to spare a long one.
void SymbolSaver::read_pages() {
  const auto now = Clock::now();
  const auto since = now - begin_;
  pages_->look(std::chrono::duration_cast<std::chrono::milliseconds>(since));
  next_look_ = now + std::min<Clock::duration>(since, kRarestLook);
}

// The second copy has the symbols of code that was loaded during the trace.
void SymbolSaver::finish() {
  files_.add_maps("the trace had ended");
  if (pages_) save_pages();
  if (!files_.finish()) {
    print_warning(
        "the kernel hides its addresses from this process: kernel code will have no names",
        "run htmtrace record as root, and check kernel.kptr_restrict");
  }
}

void SymbolSaver::save_pages() {
  read_pages();
  next_look_.reset();
  if (pages_->hidden()) {
    print_warning(
        "cannot read the physical addresses of the workload's memory: the kernel hides them from "
        "this process; program names will not be proven, and bus addresses will have no names",
        "run htmtrace record as root, without --user");
  } else if (pages_->processes() == 0) {
    print_warning(
        "cannot read the memory of the workload: it ended too early; program names will not be "
        "proven, and bus addresses will have no names");
  }
  if (pages_->cut()) {
    print_warning(
        "the workload has more memory than htmtrace saves: some of it will have no names");
  }
  files_.add_pages(*pages_);
}

}  // namespace htmtrace
