// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/source_lines/line_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace htmtrace {

std::string line_text(const std::vector<SourceFrame>& frames, bool proven) {
  if (frames.empty() || frames.front().file.empty()) return {};
  return fmt::format("{}:{}{}", frames.front().file, frames.front().line, proof_mark(proven));
}

std::string inlined_text(const std::vector<SourceFrame>& frames, bool proven) {
  std::string text;
  for (size_t i = 0; i + 1 < frames.size(); i++) {
    const SourceFrame& call = frames[i + 1];
    const std::string_view name = frames[i].function, file = call.file;
    fmt::format_to(std::back_inserter(text), "{}{}{}@{}:{}", text.empty() ? "" : ";",
                   name.empty() ? "?" : name, proof_mark(proven), file.empty() ? "?" : file,
                   call.line);
  }
  return text;
}

LineTexts::LineTexts(const SymbolTable* symbols, SourceFiles* files, Write line, Write inlined)
    : files_(files), line_(line), inlined_(inlined) {
  if (files == nullptr) return;
  cursor_.emplace(*symbols);
  slots_.resize(kFirstSlots);
  clear();
}

void LineTexts::clear() {
  std::ranges::fill(slots_, 0);
  blocks_.assign(1, {});
  current_ = 0;
  texts_.assign(sizeof(Sizes), '\0');  // kNoTexts
  by_begin_.clear();
}

size_t LineTexts::slot_of(const Key& key) const {
  size_t slot = secret_place(key.hash(), slots_.size());
  while (slots_[slot] != 0 && blocks_[slots_[slot]].key != key) {
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slot;
}

void LineTexts::grow() {
  slots_.assign(slots_.size() * 2, 0);
  for (size_t i = 1; i < blocks_.size(); i++) {
    slots_[slot_of(blocks_[i].key)] = static_cast<uint32_t>(i);
  }
}

void LineTexts::choose_block(const Key& key) {
  size_t slot = slot_of(key);
  if (slots_[slot] == 0) {
    if (blocks_.size() >= kMostBlocks) clear();
    if (blocks_.size() * 2 >= slots_.size()) grow();
    slot = slot_of(key);
    slots_[slot] = static_cast<uint32_t>(blocks_.size());
    blocks_.push_back({.key = key, .known = {}});
  }
  current_ = slots_[slot];
}

LineTexts::Texts LineTexts::find(const Instruction& instruction) {
  if (texts_.size() + by_begin_.size() * kNodeBytes >= kMostBytes) {
    clear();
    choose_block(key_of(instruction));
  }
  const EffectiveAddr address = cursor_->code(instruction);
  const DebugInfo::Span span = files_->find(address, frames_);
  uint32_t texts = kNoTexts;
  if (!frames_.empty()) {
    const auto [element, added] = by_begin_.try_emplace(span.begin, kNoTexts);
    if (added) element->second = add_texts(!owned::is_unproven(address.value));
    texts = element->second;
  }
  blocks_[current_].known[index_of(instruction)] = {.words = words_of(instruction), .texts = texts};
  return texts_at(texts);
}

// Returns the offset of the texts of frames_.
uint32_t LineTexts::add_texts(bool proven) {
  const std::string line = line_(frames_, proven), inlined = inlined_(frames_, proven);
  const Sizes sizes{.line = static_cast<uint32_t>(line.size()),
                    .inlined = static_cast<uint32_t>(inlined.size())};
  const auto offset = static_cast<uint32_t>(texts_.size());
  texts_.append(reinterpret_cast<const char*>(&sizes), sizeof sizes);
  texts_ += line;
  texts_ += inlined;
  return offset;
}

}  // namespace htmtrace
