// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/analysis/symbol_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>

#include "core/base/error.h"

namespace htmtrace {
namespace {

using Symbol = SymbolTable::Symbol;

constexpr uint64_t kLastAddress = std::numeric_limits<uint64_t>::max();

uint64_t end_of(uint64_t begin, uint64_t size_bytes) {
  return size_bytes > kLastAddress - begin ? kLastAddress : begin + size_bytes;
}

// Among symbols for the same bytes, the best symbol sorts last and stays.
bool is_worse(const Symbol& a, const Symbol& b) {
  const bool a_untyped = a.kind == SymbolTable::Kind::kUntyped;
  const bool b_untyped = b.kind == SymbolTable::Kind::kUntyped;
  return std::tie(a.binding, a_untyped, a.name) > std::tie(b.binding, b_untyped, b.name);
}

// A symbol without a size names no bytes if another symbol at its address has a size.
bool comes_first(const Symbol& a, const Symbol& b) {
  if (a.address != b.address) return a.address < b.address;
  if (a.size_bytes != b.size_bytes) {
    return b.size_bytes == 0 ? false : a.size_bytes == 0 || a.size_bytes > b.size_bytes;
  }
  return is_worse(a, b);
}

}  // namespace

bool SymbolTable::Program::has_word(uint64_t address, uint32_t word) const {
  const auto after = std::ranges::upper_bound(texts, address, {}, &Text::address);
  if (after == texts.begin()) return false;
  const Text& text = *std::prev(after);
  const uint64_t place = (address - text.address) / sizeof(uint32_t);
  return place < text.words.size() && text.words[place] == word;
}

const uint32_t* SymbolTable::Program::words_at(uint64_t address, uint64_t size_bytes) const {
  const auto after = std::ranges::upper_bound(texts, address, {}, &Text::address);
  if (after == texts.begin()) return nullptr;
  const Text& text = *std::prev(after);
  const uint64_t place = (address - text.address) / sizeof(uint32_t);
  const uint64_t count = size_bytes / sizeof(uint32_t);
  const bool has_all = place < text.words.size() && text.words.size() - place >= count &&
                       (after == texts.end() || after->address - address >= size_bytes);
  return has_all ? text.words.data() + place : nullptr;
}

std::optional<SymbolTable::Program::Word> SymbolTable::Program::word_from(uint64_t address) const {
  auto text = std::ranges::upper_bound(texts, address, {}, &Text::address);
  if (text != texts.begin()) {
    const Text& before = *std::prev(text);
    const uint64_t place = (address - before.address) / sizeof(uint32_t);
    if (place < before.words.size()) return Word{address, before.words[place]};
  }
  while (text != texts.end() && text->words.empty()) ++text;
  if (text == texts.end()) return std::nullopt;
  return Word{text->address, text->words.front()};
}

bool SymbolTable::Program::has_offset(uint64_t address, uint64_t offset) const {
  for (const Load& load : loads) {
    // The kernel maps whole pages: the first and the last page of a segment also hold adjacent
    // bytes of the file.
    constexpr uint64_t kPage = 0x10000;
    if (address + kPage - load.address < load.size_bytes + 2 * kPage &&
        address - load.address == offset - load.offset) {
      return true;
    }
  }
  return false;
}

void SymbolTable::begin_program(Program program) {
  if (programs_.size() == kMostPrograms) {
    throw Error(fmt::format("cannot use the symbols of {}: more than {} files", program.file,
                            kMostPrograms));
  }
  std::ranges::sort(program.texts, {}, &Text::address);
  programs_.push_back(std::move(program));
  layers_.emplace_back();
  current_ = layers_.size() - 1;
}

void SymbolTable::drop_programs(size_t count) {
  programs_.erase(programs_.begin() + static_cast<std::ptrdiff_t>(count), programs_.end());
  layers_.erase(layers_.begin() + static_cast<std::ptrdiff_t>(count + 1), layers_.end());
  std::erase_if(files_, [count](const File& file) {
    return file.program != File::kNoProgram && file.program >= count;
  });
  current_ = 0;
}

bool SymbolTable::keep_common(const SymbolTable& other) {
  std::vector<Symbol>& own = layers_.front().symbols;
  const std::vector<Symbol>& others = other.layers_.front().symbols;
  // The kind of a symbol decides what it names, and which of several symbols names an address.
  using Key = std::tuple<uint64_t, std::string_view, Section, Binding>;
  const auto key = [](const Symbol& symbol) {
    return Key(symbol.address, symbol.name, symbol.section, symbol.binding);
  };
  const auto keys_of = [&](const std::vector<Symbol>& symbols) {
    std::vector<Key> keys;
    keys.reserve(symbols.size());
    for (const Symbol& symbol : symbols) keys.push_back(key(symbol));
    std::ranges::sort(keys);
    return keys;
  };
  const auto has = [&](const std::vector<Key>& keys, const Symbol& symbol) {
    return std::ranges::binary_search(keys, key(symbol));
  };
  const std::vector<Key> own_keys = keys_of(own), other_keys = keys_of(others);
  const Symbol end{.name = {}, .kind = Kind::kUntyped, .binding = Binding::kLocal};
  bool differs = false;
  std::vector<uint64_t> ends;
  for (const Symbol& symbol : others) {
    if (has(own_keys, symbol)) continue;
    differs = differs || !symbol.name.empty();
    if (ends.empty() || ends.back() != symbol.address) ends.push_back(symbol.address);
  }
  bool keeps_names = false;
  for (Symbol& symbol : own) {
    if (symbol.name.empty()) continue;
    if (has(other_keys, symbol)) {
      keeps_names = true;
      continue;
    }
    differs = true;
    const uint64_t address = symbol.address;
    symbol = end;
    symbol.address = address;
  }
  if (!keeps_names) {
    own.clear();
    return differs;
  }
  budget_.take(grown_bytes<Symbol>(ends.size()));
  for (const uint64_t address : ends) own.emplace_back(end).address = address;
  return differs;
}

void SymbolTable::finish() {
  for (Layer& layer : layers_) layer.finish();
  number_files();
}

void SymbolTable::set_pages(PageOwners pages) {
  pages_ = std::move(pages);
  pages_version_++;
  number_files();
}

void SymbolTable::number_files() {
  std::vector<uint32_t> files;
  for (Program& program : programs_) {
    program.number = number_in(pages_, program);
    files.push_back(program.number);
  }
  near_ = pages_.near(files);
}

// Makes one pass over the beginnings. `open` holds the symbols with a size that have begun and may
// not have ended. The last symbol that has not ended names the bytes that follow.
void SymbolTable::Layer::finish() {
  std::sort(symbols.begin(), symbols.end(), comes_first);
  std::vector<size_t> open;
  uint64_t at = 0;  // all earlier addresses have their names
  const auto name_up_to = [&](uint64_t stop) {
    while (!open.empty() && at < stop) {
      const Symbol& symbol = symbols[open.back()];
      const uint64_t end = end_of(symbol.address, symbol.size_bytes);
      if (end <= at) {
        open.pop_back();
        continue;
      }
      const uint64_t until = std::min(end, stop);
      if (!places.empty() && places.back().symbol == open.back() && places.back().end == at) {
        places.back().end = until;
      } else {
        places.push_back({.begin = at, .end = until, .symbol = open.back()});
      }
      at = until;
    }
    at = std::max(at, stop);
  };
  for (size_t i = 0; i < symbols.size(); i++) {
    Symbol& symbol = symbols[i];
    name_up_to(symbol.address);
    if (symbol.size_bytes != 0) {
      open.push_back(i);
      continue;
    }
    // A symbol without a size names only bytes without another symbol. At one address, the last
    // such symbol counts.
    while (!open.empty() &&
           end_of(symbols[open.back()].address, symbols[open.back()].size_bytes) <= at) {
      open.pop_back();
    }
    const bool is_last = i + 1 == symbols.size() || symbols[i + 1].address != symbol.address;
    if (!open.empty() || !is_last || symbol.name.empty()) continue;
    uint64_t end = end_of(symbol.address, kMostBytes);
    if (symbol.limit != 0) end = std::min(end, symbol.limit);
    if (i + 1 < symbols.size()) end = std::min(end, symbols[i + 1].address);
    if (end <= symbol.address) continue;
    symbol.size_bytes = end - symbol.address;
    places.push_back({.begin = symbol.address, .end = end, .symbol = i});
    at = end;
  }
  name_up_to(kLastAddress);
  for (size_t i = places.size(); i-- > 0;) symbols[places[i].symbol].named_at = places[i].begin;
}

void SymbolTable::add(Symbol symbol) {
  std::string& name = symbol.name;
  if (name.size() > kMostNameBytes) [[unlikely]] {
    name.resize(kMostNameBytes);
    name.shrink_to_fit();
  }
  if (has_controls(name)) name = without_controls(name);
  if (name.find(' ') != std::string::npos) [[unlikely]] {
    // Text output omits the blanks of a name, so the bytes around blanks could form a control
    // character. Such a name loses its blanks.
    std::string word = name;
    std::erase(word, ' ');
    if (std::string plain = without_controls(word); plain != word) name = std::move(plain);
  }
  layers_[current_].symbols.push_back(std::move(symbol));
}

SymbolTable::Span SymbolTable::Layer::span_of(uint64_t address) const {
  auto after =
      std::upper_bound(places.begin(), places.end(), address,
                       [](uint64_t value, const Place& place) { return value < place.begin; });
  Span span{.begin = 0, .end = after == places.end() ? kLastAddress : after->begin};
  if (after == places.begin()) return span;
  const Place& place = *--after;
  if (address < place.end) return {place.begin, place.end, &symbols[place.symbol]};
  span.begin = place.end;
  return span;
}

SymbolTable::Span SymbolTable::span_of(EffectiveAddr address) const {
  const uint64_t who = programs_.empty() ? 0 : owned::owner(address.value);
  if (who == 0) {
    // An address without an owner: search all programs.
    Span span = layers_[0].span_of(address.value);
    for (size_t i = 1; i < layers_.size(); i++) {
      const Span own = layers_[i].span_of(address.value);
      if (own.symbol != nullptr) return own;
      if (span.symbol == nullptr) {
        span = {std::max(span.begin, own.begin), std::min(span.end, own.end), nullptr};
      }
    }
    if (span.symbol != nullptr || programs_.empty()) return span;
    // No address with an owner is in the gap.
    if (owned::is_user(address.value)) {
      span.end = std::min(span.end, uint64_t{1} << owned::kShift);
    } else {
      span.begin = std::max(span.begin, owned::kFirstWithout);
    }
    return span;
  }
  const size_t program = owned::program(who);
  const uint64_t plain = owned::plain(address.value);
  Span span = layers_[0].span_of(plain);
  if (program < programs_.size()) {
    const Span own = layers_[program + 1].span_of(plain);
    span = own.symbol != nullptr
               ? own
               : Span{std::max(span.begin, own.begin), std::min(span.end, own.end), span.symbol};
  }
  // The end must not include the owner's bits.
  constexpr uint64_t kLastUser = (uint64_t{1} << owned::kShift) - 1;
  return {owned::with(span.begin, who), owned::with(std::min(span.end, kLastUser), who),
          span.symbol};
}

const SymbolTable::Symbol* SymbolTable::find(EffectiveAddr address) const {
  return span_of(address).symbol;
}

const SymbolTable::Symbol* SymbolTable::find_code(EffectiveAddr address) const {
  return code_span_of(address).symbol;
}

SymbolTable::Span SymbolTable::code_span_of(EffectiveAddr address) const {
  Span span = span_of(address);
  if (span.symbol != nullptr && span.symbol->section == Section::kData) span.symbol = nullptr;
  return span;
}

const SymbolTable::Symbol* SymbolTable::find_unowned(EffectiveAddr address) const {
  return layers_[0].span_of(address.value).symbol;
}

const SymbolTable::File* SymbolTable::file_of(EffectiveAddr address) const {
  const uint64_t owner = programs_.empty() ? 0 : owned::owner(address.value);
  if (owner == owned::kForeign) return nullptr;
  const uint64_t plain = owned::plain(address.value);
  for (const File& file : files_) {
    if (owner != 0 && file.program != owned::program(owner)) continue;
    if (plain - file.begin < file.end - file.begin) return &file;
  }
  return nullptr;
}

size_t SymbolTable::size() const {
  size_t size = 0;
  for (const Layer& layer : layers_) size += layer.symbols.size();
  return size;
}

uint64_t symbol_key(const SymbolTable::Span& span, EffectiveAddr address) {
  if (span.symbol == nullptr) return 0;
  const uint64_t owner = address.value - owned::plain(address.value);
  return span.symbol->named_at + owner;
}

std::string symbol_text(const SymbolTable::Symbol& symbol, uint64_t address) {
  const uint64_t distance = owned::plain(address) - symbol.address;
  const char* const mark = owned::is_unproven(address) ? "?" : "";
  if (distance == 0) return symbol.name + mark;
  return fmt::format("{}+{:#x}{}", symbol.name, distance, mark);
}

}  // namespace htmtrace
