// SPDX-License-Identifier: GPL-2.0-or-later
// The rows of one group of a Parquet file, collected column by column.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/core_trace/events.h"
#include "output/export/row_schema.h"

namespace htmtrace::parquet {

// A column of values. The list of accesses has three.
struct Leaf {
  std::vector<std::string> path;
  FieldKind kind = FieldKind::kLong;  // not kAccesses
  bool repeated = false;              // within the list
  uint8_t most_level = 0;             // the definition level of a value; 0: always present
  std::span<const std::string_view> names = {};
};

std::vector<Leaf> leaves_of(const RowSchema& schema);

inline constexpr size_t kMostTexts = 1 << 16;

// Distinct texts, numbered in the order of their first use.
class Texts {
 public:
  uint64_t number_of(std::string_view text) {
    const auto known = numbers_.find(text);
    if (known != numbers_.end()) return known->second;
    all_.emplace_back(text);
    numbers_.emplace(text, all_.size() - 1);
    return all_.size() - 1;
  }
  const std::vector<std::string>& all() const { return all_; }
  void clear() {
    all_.clear();
    numbers_.clear();
  }

 private:
  std::vector<std::string> all_;
  std::map<std::string, uint64_t, std::less<>> numbers_;
};

// A vector whose push() is always inlined.
template <class Value>
class Values {
 public:
  [[gnu::always_inline]] void push(Value value) {
    if (size_ == values_.size()) [[unlikely]]
      grow();
    values_[size_++] = value;
  }
  std::span<const Value> all() const { return std::span(values_).first(size_); }
  void clear() { size_ = 0; }

 private:
  [[gnu::noinline]] void grow() { values_.resize(std::max<size_t>(2 * values_.size(), 1 << 10)); }

  std::vector<Value> values_;
  size_t size_ = 0;
};

class Rows {
 public:
  struct Column {
    Values<uint64_t> values;  // those that are present; of names and texts, the numbers
    Values<uint8_t> levels;   // unless a value is always present: the definition levels
    Texts texts;
  };

  explicit Rows(size_t leaves) : columns_(leaves) {}

  // One call for each field of the schema, and then end_row().
  void number(uint64_t value) { next().values.push(value); }
  void optional(bool known, uint64_t value) {
    Column& column = next();
    column.levels.push(known ? 1 : 0);
    if (known) column.values.push(value);
  }
  void text(std::string_view text) { put_text(next(), text); }
  // Adds null if the text is empty.
  void optional_text(std::string_view text) {
    Column& column = next();
    column.levels.push(text.empty() ? 0 : 1);
    if (!text.empty()) put_text(column, text);
  }
  void accesses(std::span<const DataAccess> accesses) {
    Column& ea = next();
    Column& ra = next();
    Column& la = next();
    repeats_.push(0);
    if (accesses.empty()) {
      for (Column* column : {&ea, &ra, &la}) column->levels.push(0);
      return;
    }
    for (size_t i = 0; i < accesses.size(); i++) {
      const DataAccess& access = accesses[i];
      if (i != 0) repeats_.push(1);
      ea.levels.push(1);
      ea.values.push(access.ea.value);
      ra.levels.push(access.has_ra ? 2 : 1);
      if (access.has_ra) ra.values.push(access.ra.value);
      la.levels.push(access.has_la ? 2 : 1);
      if (access.has_la) la.values.push(access.la.value);
    }
  }
  void end_row() {
    next_ = 0;
    count_++;
  }

  size_t count() const { return count_; }
  // A column has as many texts as a dictionary can hold.
  bool is_full() const { return is_full_; }
  const std::vector<Column>& columns() const { return columns_; }
  // The repetition levels of the list's columns: 0 begins a row.
  std::span<const uint8_t> repeats() const { return repeats_.all(); }
  // Keeps the memory.
  void clear();

 private:
  Column& next() { return columns_[next_++]; }
  void put_text(Column& column, std::string_view text) {
    column.values.push(column.texts.number_of(text));
    is_full_ = is_full_ || column.texts.all().size() == kMostTexts;
  }

  std::vector<Column> columns_;
  Values<uint8_t> repeats_;
  size_t next_ = 0;  // leaf of the current row
  size_t count_ = 0;
  bool is_full_ = false;
};

}  // namespace htmtrace::parquet
