// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/nest_trace/field_search.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/base/counted.h"

namespace htmtrace::nest {
namespace {

constexpr unsigned kRecordBits = 128;
constexpr unsigned kFirstFieldBit = 1;  // bit 0 marks a command
constexpr uint64_t kFewestSamples = 1000;
constexpr uint64_t kFewestPages = 16;  // with fewer pages, any rarely changing field could match
constexpr unsigned kBelievedPercent = 80;

bool most_of(uint64_t part, uint64_t whole) {
  return part * 100 >= whole * kBelievedPercent;
}

double share_percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

bool FieldEvidence::stable() const {
  for (size_t i = 0; i < group_commands.size(); i++) {
    if (!most_of(group_hits.at(i), group_commands.at(i))) return false;
  }
  return true;
}

bool FieldEvidence::believed() const {
  const double share =
      static_cast<double>(hits) / static_cast<double>(std::max<uint64_t>(commands, 1));
  return commands >= kFewestSamples && most_of(hits, commands) && hits >= 10 * other_hits &&
         share >= 10 * chance && (hits >= 2 * shifted_hits || pages >= 4 * shifted_pages) &&
         pages >= kFewestPages && stable();
}

FieldSearch::FieldSearch(std::vector<TranslationMap::Range> ranges) : ranges_(std::move(ranges)) {}

bool FieldSearch::known(uint64_t address) const {
  auto after = std::upper_bound(
      ranges_.begin(), ranges_.end(), address,
      [](uint64_t value, const TranslationMap::Range& range) { return value < range.real; });
  return after != ranges_.begin() && address - (after - 1)->real < (after - 1)->size_bytes;
}

uint64_t FieldSearch::hits(const InferredField& field) const {
  uint64_t hits = 0;
  for (const Sample& sample : samples_) hits += known(field.page_address(sample.record)) ? 1 : 0;
  return hits;
}

// The number of distinct pages in known memory.
uint64_t FieldSearch::pages(const InferredField& field) const {
  std::vector<uint64_t> pages;
  for (const Sample& sample : samples_) {
    const uint64_t page = field.page_address(sample.record);
    if (known(page)) pages.push_back(page);
  }
  std::sort(pages.begin(), pages.end());
  return static_cast<uint64_t>(
      std::distance(pages.begin(), std::unique(pages.begin(), pages.end())));
}

void FieldSearch::look_closer(FieldEvidence& evidence) const {
  for (const Sample& sample : samples_) {
    evidence.group_commands.at(sample.group)++;
    if (known(evidence.field.page_address(sample.record))) evidence.group_hits.at(sample.group)++;
  }
}

FieldEvidence FieldSearch::judge() const {
  FieldEvidence evidence;
  evidence.commands = samples_.size();
  if (samples_.empty() || ranges_.empty()) return evidence;
  // Use as many bits as the highest address needs. Fewer bits would truncate the address; the
  // record may not hold more bits.
  const uint64_t last = ranges_.back().real + (ranges_.back().size_bytes - 1);
  const auto address_bits = std::max<unsigned>(static_cast<unsigned>(std::bit_width(last)),
                                               InferredField::kPageShift + 1);
  const unsigned bits = address_bits - InferredField::kPageShift;
  std::array<uint64_t, kRecordBits> hits_at{};
  std::array<uint64_t, kRecordBits> pages_at{};
  for (unsigned at = kFirstFieldBit + bits - 1; at < kRecordBits; at++) {
    hits_at.at(at) = hits({.last_bit = at, .bits = bits});
  }
  const uint64_t most_hits = *std::max_element(hits_at.begin(), hits_at.end());
  if (most_hits == 0) return evidence;
  for (unsigned at = 0; at < kRecordBits; at++) {
    if (hits_at.at(at) * 2 < most_hits) continue;
    pages_at.at(at) = pages({.last_bit = at, .bits = bits});
    if (pages_at.at(at) <= evidence.pages) continue;
    evidence.field = {.last_bit = at, .bits = bits};
    evidence.hits = hits_at.at(at);
    evidence.pages = pages_at.at(at);
  }
  for (unsigned at = 0; at < kRecordBits; at++) {
    if (at == evidence.field.last_bit) continue;
    // A field that shares at least half of its bits is the same field at another position.
    const unsigned apart =
        at > evidence.field.last_bit ? at - evidence.field.last_bit : evidence.field.last_bit - at;
    if (apart * 2 <= bits) {
      evidence.shifted_hits = std::max(evidence.shifted_hits, hits_at.at(at));
      evidence.shifted_pages = std::max(evidence.shifted_pages, pages_at.at(at));
    } else if (hits_at.at(at) > evidence.other_hits &&
               pages({.last_bit = at, .bits = bits}) * 4 >= evidence.pages) {
      evidence.other_hits = hits_at.at(at);
      evidence.other_last_bit = at;
    }
  }
  double covered = 0;
  for (const TranslationMap::Range& range : ranges_) {
    covered += static_cast<double>(range.size_bytes);
  }
  evidence.chance = covered / std::ldexp(1.0, static_cast<int>(address_bits));
  look_closer(evidence);
  return evidence;
}

std::string describe(const FieldEvidence& e) {
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "search for the address by the memory map, in {}\n",
                 counted(e.commands, "command"));
  if (e.hits == 0) return text + "  no bits of the records fall into known memory\n";
  fmt::format_to(out,
                 "  bits {} to {} as address bits from 2^{} up: {:.2f}% in known memory, by chance "
                 "{:.4f}%; different pages: {}\n",
                 e.field.first_bit(), e.field.last_bit, InferredField::kPageShift,
                 share_percent(e.hits, e.commands), 100 * e.chance, e.pages);
  fmt::format_to(out, "  the same bits at another position: {:.2f}%, {}; ",
                 share_percent(e.shifted_hits, e.commands), counted(e.shifted_pages, "page"));
  if (e.other_hits == 0) {
    text += "no other field has a quarter of the pages\n";
  } else {
    fmt::format_to(out, "the best other field, to bit {}: {:.2f}%\n", e.other_last_bit,
                   share_percent(e.other_hits, e.commands));
  }
  text += "  by engine and third of the trace:";
  for (size_t i = 0; i < e.group_commands.size(); i++) {
    if (e.group_commands.at(i) == 0) {
      text += " -";
    } else {
      fmt::format_to(out, " {:.2f}%", share_percent(e.group_hits.at(i), e.group_commands.at(i)));
    }
  }
  text += e.believed() ? "\n  the layout is INFERRED, not known\n"
                       : "\n  the evidence is too weak to accept this layout\n";
  return text;
}

}  // namespace htmtrace::nest
