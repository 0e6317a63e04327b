// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/record/symbol_saver.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "cli/messages.h"
#include "cli/record/workload_share.h"
#include "core/base/error.h"
#include "ringbuf/perf_ring.h"

namespace htmtrace {
namespace {

// When to read the pages of a workload: the first delay, and the longest.
constexpr std::chrono::milliseconds kFirstLook{50};
constexpr std::chrono::seconds kRarestLook{60};

}  // namespace

SymbolSources::SymbolSources(SymbolChoice choice) : pagemap(open_own_pagemap()) {
  if (choice == SymbolChoice::kNone) return;
  try {
    kallsyms.emplace(InputFile::open("/proc/kallsyms"));
  } catch (const Error& error) {
    if (choice == SymbolChoice::kAll) throw;
    print_warning(fmt::format("kernel code will have no names: {}", error.what()));
  }
}

SymbolSaver::SymbolSaver(std::filesystem::path folder, Existing existing, SymbolChoice choice,
                         SymbolSources& sources, std::optional<pid_t> workload)
    : folder_(std::move(folder)), existing_(existing), choice_(choice), sources_(sources) {
  if (choice_ != SymbolChoice::kAll) return;
  if (workload) pages_.emplace("/proc", *workload, page_size());
  files_.emplace(folder_, existing_,
                 SymbolFiles::Parts{.kallsyms = true, .maps = true, .pages = pages_.has_value()});
}

void SymbolSaver::publish() {
  if (files_) files_->begin();
}

void SymbolSaver::discard() {
  if (files_) files_->discard();
}

// Reads the workload's memory first: there are many processes, and the workload may end soon.
void SymbolSaver::begin() {
  if (choice_ != SymbolChoice::kAll) return;
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
  files_->add_maps("the trace had begun");
}

// A workload that has ended has no pages. htmtrace reads them early, to catch a short workload, and
// then ever more rarely, to spare a long one.
void SymbolSaver::read_pages() {
  const auto now = Clock::now();
  const auto since = now - begin_;
  pages_->look(std::chrono::duration_cast<std::chrono::milliseconds>(since));
  next_look_ = now + std::min<Clock::duration>(since, kRarestLook);
}

void SymbolSaver::finish(const WorkloadWatch* watch) {
  if (choice_ == SymbolChoice::kAll) return save_all(watch);
  try {
    save_cheap(watch);
  } catch (const Error& error) {
    discard();
    print_warning(fmt::format("reports will lack names: {}", error.what()),
                  "to record without names, pass --no-symbols");
  }
}

// The second copy has the symbols of code that was loaded during the trace.
void SymbolSaver::save_all(const WorkloadWatch* watch) {
  files_->add_maps("the trace had ended");
  if (pages_) {
    read_pages();
    next_look_.reset();
    report_pages();
    if (watch != nullptr) {
      if (watch->trouble().empty() && !watch->lost()) pages_->set_parents(watch->parents());
      save_code(*watch, *pages_);
    }
    files_->add_pages(sources_.pagemap.get(), *pages_);
  }
  save_kernel();
  files_->finish();
}

void SymbolSaver::save_cheap(const WorkloadWatch* watch) {
  const bool has_code = watch != nullptr && watch->trouble().empty();
  if (watch != nullptr && !has_code) {
    print_warning("the code of the workload will have no names: " + watch->trouble());
  }
  files_.emplace(
      folder_, existing_,
      SymbolFiles::Parts{
          .kallsyms = sources_.kallsyms.has_value(), .maps = has_code, .pages = has_code});
  if (has_code) {
    ProcessPages pages("/proc", 0, page_size());
    save_code(*watch, pages);
    files_->add_pages(sources_.pagemap.get(), pages);
    if (pages.cut()) {
      print_warning(
          "the workload mapped more code than htmtrace looks for in memory: some of its names will "
          "not be proven");
    }
  }
  if (sources_.kallsyms) save_kernel();
  files_->finish();
}

// Lists the code that the workload mapped. Adds its files to `pages`.
void SymbolSaver::save_code(const WorkloadWatch& watch, ProcessPages& pages) {
  if (watch.lost()) {
    print_warning("some code of the workload will have no names: the kernel dropped records of it");
  }
  if (watch.cut()) {
    print_warning(fmt::format(
        "some code of the workload will have no names: htmtrace saves at most {} mappings",
        kMostCodeMappings));
  }
  const ProgramMaps maps = read_program_files(watch.mappings(), watch.begun());
  files_->add_to_maps(to_text(maps));
  for (const CodeMapping& mapping : watch.mappings()) pages.add_file(mapping);
}

void SymbolSaver::save_kernel() {
  if (files_->add_kallsyms(*sources_.kallsyms)) return;
  print_warning("the kernel hides its addresses from this process: kernel code will have no names",
                "run htmtrace record as root, and check kernel.kptr_restrict");
}

void SymbolSaver::report_pages() const {
  if (pages_->hidden()) {
    print_warning(
        "cannot read the physical addresses of the workload's memory: the kernel hides them from "
        "this process; names of its data will not be proven, and bus addresses will have no names",
        "run htmtrace record as root, without --user");
  } else if (pages_->processes() == 0) {
    print_warning(
        "cannot read the memory of the workload: it ended too early; names of its data will not be "
        "proven, and bus addresses will have no names");
  }
  if (pages_->cut()) {
    print_warning(
        "the workload has more memory than htmtrace saves: some of it will have no names");
  }
}

}  // namespace htmtrace
