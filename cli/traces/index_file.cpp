// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/traces/index_file.h"

#include <fmt/core.h>

#include <system_error>
#include <utility>
#include <vector>

#include "cli/messages.h"

namespace htmtrace {
namespace {

constexpr uint64_t kMostIndexBytes = 1 << 30;

void tell_unused(const ChosenTrace& trace, const std::string& why) {
  print_warning(fmt::format("cannot use {}: {}; rebuild it: htmtrace index {}",
                            index_path(trace).string(), why, trace.path.string()));
}

// Returns nothing if the trace has no usable index.
template <class Index>
std::optional<Index> load(const ChosenTrace& trace, const InputFile& input,
                          std::optional<Index> (*unpack)(std::span<const std::byte>)) {
  if (trace.is_standard_input() || trace.inside) return std::nullopt;
  if (type_of_file(index_path(trace)) == std::filesystem::file_type::not_found) return std::nullopt;
  const auto identity = input.identity();
  if (!identity) return std::nullopt;
  const std::vector<std::byte> bytes = InputFile::open(index_path(trace)).read_all(kMostIndexBytes);
  std::optional<Index> index = unpack(bytes);
  if (!index) {
    tell_unused(trace, "it is damaged, or made for another trace type or htmtrace version");
  } else if (index->file != *identity) {
    tell_unused(trace, "the trace is newer than its index");
    index.reset();
  }
  return index;
}

std::optional<CoreStart> find_start(const ChosenTrace& trace, const InputFile& input,
                                    const Selection& selection, uint64_t limit, bool file_order,
                                    Lead lead) {
  const std::optional<CoreIndex> index = load(trace, input, unpack_core_index);
  // The index of a wrapped trace follows the trace order, not the file order.
  if (!index || (file_order && index->oldest != 0)) return std::nullopt;
  const CoreRestart* const restart = restart_for(*index, selection, limit, lead);
  if (restart == nullptr || index->oldest >= index->file.size_bytes ||
      restart->offset >= index->file.size_bytes) {
    return std::nullopt;
  }
  const auto pages = pages_before(*index, *restart);
  return CoreStart{
      .restart = *restart, .oldest = index->oldest, .pages = {pages.begin(), pages.end()}};
}

}  // namespace

std::filesystem::path index_path(const ChosenTrace& trace) {
  return trace.path.string() + ".index";
}

TraceBytes selected_bytes(const ChosenTrace& trace, InputFile& input, const Selection& selection,
                          uint64_t limit, bool file_order, Lead lead) {
  if (lead != Lead::kAll && may_begin_late(selection)) {
    auto start = find_start(trace, input, selection, limit, file_order, lead);
    if (start) return {input, std::move(*start)};
  }
  return {input, file_order || trace.is_standard_input()};
}

std::optional<NestIndex> find_nest_index(const ChosenTrace& trace, const InputFile& input,
                                         nest::Layout layout) {
  std::optional<NestIndex> index = load(trace, input, unpack_nest_index);
  if (index && index->layout != layout) {
    tell_unused(trace, "it was made for another layout");
    index.reset();
  }
  return index;
}

void tell_part(const InputFile& input) {
  print_note(fmt::format("{}: read in part, with its index; the statistics cover this part",
                         input.name()));
}

}  // namespace htmtrace
