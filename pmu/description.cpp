// SPDX-License-Identifier: GPL-2.0-or-later
#include "pmu/description.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <charconv>
#include <fstream>
#include <optional>
#include <system_error>

#include "core/base/error.h"

namespace htmtrace {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kWordBits = 64;

std::string read_line(const fs::path& path) {
  errno = 0;
  std::ifstream file(path);
  std::string line;
  if (std::getline(file, line)) return line;
  const std::string failed = fmt::format("cannot read {}", path.string());
  throw errno != 0 ? Error(failed, errno) : Error(failed + ": the file is empty");
}

// Returns nothing if the folder does not exist: a PMU may lack `format` or `events`.
std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    files.push_back(entry->path());
  }
  if (failure && failure != std::errc::no_such_file_or_directory) {
    throw Error(fmt::format("cannot read {}", folder.string()), failure.value());
  }
  return files;
}

// Parses all of `text` as a decimal or 0x number.
std::optional<uint64_t> parse_number(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    base = 16;
  }
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

// Cuts `text` at the first `separator`; the rest stays in `text`.
std::string_view next_piece(std::string_view& text, char separator) {
  size_t at = text.find(separator);
  std::string_view piece = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return piece;
}

unsigned width(const FormatField::Range& range) {
  return range.high - range.low + 1;
}

uint64_t low_bits(unsigned count) {
  return count >= kWordBits ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}

std::optional<FormatField::Range> parse_range(std::string_view text) {
  std::string_view first = next_piece(text, '-');
  auto low = parse_number(first);
  auto high = text.empty() ? low : parse_number(text);
  if (!low || !high || *low > *high || *high >= kWordBits) return std::nullopt;
  return FormatField::Range{static_cast<unsigned>(*low), static_cast<unsigned>(*high)};
}

}  // namespace

uint64_t FormatField::max() const {
  unsigned bits = 0;
  for (const Range& range : ranges) bits += width(range);
  return low_bits(bits);
}

FormatField parse_format_field(std::string_view text, const std::string& where) {
  auto nonsense = [&, whole = std::string(text)] {
    return Error(fmt::format("cannot understand \"{}\"", whole)).on(where);
  };
  FormatField field;
  std::string_view word = next_piece(text, ':');
  if (!word.starts_with("config")) throw nonsense();
  word.remove_prefix(6);
  if (!word.empty()) {
    auto index = parse_number(word);
    if (!index || *index >= kConfigOffsets.size()) throw nonsense();
    field.word = *index;
  }
  while (!text.empty()) {
    auto range = parse_range(next_piece(text, ','));
    if (!range) throw nonsense();
    field.ranges.push_back(*range);
  }
  if (field.ranges.empty()) throw nonsense();
  return field;
}

bool PmuDescription::exists(const fs::path& root, const std::string& name) {
  const fs::path path = root / name / "type";
  std::error_code failure;
  const fs::file_type type = fs::status(path, failure).type();
  if (type == fs::file_type::none) {
    throw Error(fmt::format("cannot access {}", path.string()), failure.value());
  }
  return type != fs::file_type::not_found;
}

PmuDescription PmuDescription::read(const fs::path& root, const std::string& name) {
  PmuDescription pmu;
  const fs::path folder = root / name;
  pmu.name_ = name;
  const std::string type = read_line(folder / "type");
  auto number = parse_number(type);
  if (!number || *number > UINT32_MAX) {
    throw Error(fmt::format("cannot understand \"{}\"", type)).on((folder / "type").string());
  }
  pmu.type_ = static_cast<uint32_t>(*number);

  for (const fs::path& file : files_in(folder / "format")) {
    const std::string text = read_line(file);
    pmu.terms_[file.filename()] = text;
    pmu.fields_[file.filename()] = parse_format_field(text, file.string());
  }
  for (const fs::path& file : files_in(folder / "events")) {
    pmu.events_[file.filename()] = read_line(file);
  }
  return pmu;
}

std::vector<std::string> PmuDescription::event_names() const {
  std::vector<std::string> names;
  for (const auto& [event, terms] : events_) names.push_back(event);
  return names;
}

void PmuDescription::store(EventAttr& attr, const std::string& term, uint64_t value) const {
  auto found = fields_.find(term);
  if (found == fields_.end()) {
    throw Error(fmt::format("the kernel's {} driver has no term \"{}\"", name_, term));
  }
  const FormatField& field = found->second;
  if (value > field.max()) {
    throw Error(fmt::format("{}={} is too large: the {} driver accepts 0 to {}", term, value, name_,
                            field.max()));
  }
  uint64_t word = attr.config(field.word);
  for (const FormatField::Range& range : field.ranges) {
    const uint64_t mask = low_bits(width(range));
    word = (word & ~(mask << range.low)) | ((value & mask) << range.low);
    value = width(range) >= kWordBits ? 0 : value >> width(range);
  }
  attr.set_config(field.word, word);
}

void PmuDescription::store_event(EventAttr& attr, const std::string& event) const {
  auto found = events_.find(event);
  if (found == events_.end()) {
    throw Error(fmt::format("the kernel's {} driver has no event \"{}\"", name_, event))
        .on(fmt::format("events: {}", fmt::join(event_names(), " ")));
  }
  std::string_view terms = found->second;
  while (!terms.empty()) {
    std::string_view value = next_piece(terms, ',');
    const std::string term(next_piece(value, '='));
    auto number = value.empty() ? std::optional<uint64_t>(1) : parse_number(value);
    if (!number) {
      throw Error(fmt::format("cannot understand \"{}\"", found->second))
          .on(fmt::format("event {} of PMU {}", event, name_));
    }
    store(attr, term, *number);
  }
}

}  // namespace htmtrace
