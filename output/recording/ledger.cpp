// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/recording/ledger.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/base/counted.h"

namespace htmtrace {

void Ledger::add(const Loss& loss, const Moment& when) {
  auto same = std::ranges::find_if(entries_, [&](const Entry& entry) {
    return entry.target.empty() && entry.loss.place == loss.place &&
           entry.loss.cause == loss.cause && entry.loss.unit == loss.unit;
  });
  if (same == entries_.end())
    same = entries_.insert(entries_.end(), Entry{{}, loss, 0, when, when});
  else
    same->loss.amount += loss.amount;
  same->last = when;
  same->occurrences++;
}

void Ledger::add_all(const std::string& target, const Ledger& other) {
  for (Entry entry : other.entries_) {
    entry.target = target;
    entries_.push_back(std::move(entry));
  }
}

std::string Ledger::summary() const {
  if (entries_.empty()) return "nothing lost";
  std::string text = "lost: ";
  const char* separator = "";
  for (const Entry& entry : entries_) {
    const std::string place =
        entry.target.empty() ? entry.loss.place : entry.target + " " + entry.loss.place;
    text += fmt::format("{}{} ({}: {})", separator, describe_amount(entry.loss), place,
                        entry.loss.cause);
    separator = ", ";
  }
  return text;
}

std::string describe_amount(const Loss& loss) {
  switch (loss.unit) {
    case LossUnit::kBytes:
      return counted(loss.amount, "byte");
    case LossUnit::kRecords:
      return counted(loss.amount, "record");
    case LossUnit::kEntries:
      return counted(loss.amount, "entry");
    case LossUnit::kUnknown:
      break;
  }
  return "unknown amount";
}

}  // namespace htmtrace
