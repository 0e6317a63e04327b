// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/source_lines/line_texts.h"

#include <fmt/format.h>

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
}

void LineTexts::clear() {
  slots_.assign(slots_.size(), {});
  used_ = 0;
  texts_.clear();
  bytes_ = 0;
  by_begin_.clear();
}

void LineTexts::put(const Slot& slot) {
  size_t place = secret_place(slot.key.hash(), slots_.size());
  while (slots_[place].key.ea != kFree) place = (place + 1) & (slots_.size() - 1);
  slots_[place] = slot;
  used_++;
}

void LineTexts::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  used_ = 0;
  for (const Slot& slot : old) {
    if (slot.key.ea != kFree) put(slot);
  }
}

const LineTexts::Texts& LineTexts::find(const Instruction& instruction, const Key& key) {
  if (bytes_ >= kMostBytes) clear();
  if (used_ * 2 >= slots_.size()) {
    if (slots_.size() >= kMostSlots) {
      clear();
    } else {
      grow();
    }
  }
  const EffectiveAddr address = cursor_->code(instruction);
  const DebugInfo::Span span = files_->find(address, frames_);
  const auto [place, added] = by_begin_.try_emplace(span.begin, 0);
  if (added) {
    place->second = static_cast<uint32_t>(texts_.size());
    const bool proven = !owned::is_unproven(address.value);
    texts_.push_back({.line = line_(frames_, proven), .inlined = inlined_(frames_, proven)});
    bytes_ += sizeof(Texts) + texts_.back().line.size() + texts_.back().inlined.size();
  }
  put({.key = key, .number = place->second});
  return texts_[place->second];
}

}  // namespace htmtrace
