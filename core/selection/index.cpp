// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/selection/index.h"

#include <algorithm>

#include "core/base/crc32c.h"
#include "core/base/packed_numbers.h"
#include "core/base/target.h"

namespace htmtrace {
namespace {

// htmtrace-index(5), FORMAT. The version also changes with the results of the decoder, because the
// counts of older indexes are then wrong.
constexpr uint64_t kIndexMagic = 0x5845444e494d5448;  // "HTMINDEX"
constexpr uint64_t kIndexVersion = 3;
constexpr size_t kIndexWordBytes = sizeof(uint64_t);
constexpr unsigned kDistanceShift = 32;

class IndexWriter {
 public:
  IndexWriter(HtmType kind, const FileIdentity& file) {
    put({kIndexMagic, kIndexVersion, static_cast<uint64_t>(kind), file.size_bytes, file.modified_ns,
         file.beginning});
  }
  void put(std::initializer_list<uint64_t> words) {
    for (const uint64_t word : words) pack_word(word, bytes_);
  }
  std::vector<std::byte> finish() {
    put({crc32c(bytes_)});
    return std::move(bytes_);
  }

 private:
  std::vector<std::byte> bytes_;
};

// Reads the output of an IndexWriter. Rejects counts that exceed the remaining bytes.
class IndexReader {
 public:
  IndexReader(HtmType kind, std::span<const std::byte> bytes)
      : left_words_(bytes.size() / kIndexWordBytes), reader_(bytes) {
    const bool whole = bytes.size() % kIndexWordBytes == 0 && left_words_ > 1;
    ok_ = whole && NumberReader(bytes.last(kIndexWordBytes)).word() ==
                       crc32c(bytes.first(bytes.size() - kIndexWordBytes));
    ok_ = ok_ && word() == kIndexMagic && word() == kIndexVersion &&
          word() == static_cast<uint64_t>(kind);
  }
  uint64_t word() {
    if (left_words_ == 0) ok_ = false;
    if (!ok_) return 0;
    left_words_--;
    return reader_.word();
  }
  // The count of elements that take `words` words each.
  size_t count(size_t words) {
    const uint64_t count = word();
    if (count > left_words_ / words) ok_ = false;
    return ok_ ? static_cast<size_t>(count) : 0;
  }
  FileIdentity file() {
    FileIdentity file;
    file.size_bytes = word();
    file.modified_ns = word();
    file.beginning = word();
    return file;
  }
  bool finish() {
    word();  // the checksum
    return ok_ && left_words_ == 0;
  }

 private:
  size_t left_words_;
  NumberReader reader_;
  bool ok_ = false;
};

// The binary search requires ascending offsets.
template <class Restarts>
bool in_order(const Restarts& restarts) {
  return std::adjacent_find(restarts.begin(), restarts.end(), [](const auto& a, const auto& b) {
           return a.offset >= b.offset;
         }) == restarts.end();
}

// The last element that satisfies `early`, or null. All elements up to a boundary satisfy `early`.
template <class Restart, class Early>
const Restart* last_of(const std::vector<Restart>& restarts, const Early& early) {
  const auto end = std::partition_point(restarts.begin(), restarts.end(), early);
  return end == restarts.begin() ? nullptr : &*(end - 1);
}

bool only_last(const Selection& selection) {
  Selection all = selection;
  all.last = Selection::kAny;
  return selection.last != Selection::kAny && all.everything();
}

// No mark of this value precedes the returned offset.
uint64_t offset_of_mark(const CoreIndex& index, unsigned value) {
  for (const CoreIndex::FirstMark& mark : index.marks) {
    if (mark.value == value) return mark.offset;
  }
  return Selection::kAny;
}

// A decoder that starts at or before the returned offset sees all relevant marks.
uint64_t last_with_marks(const CoreIndex& index, const Selection& selection) {
  const auto& mark = selection.from_mark ? selection.from_mark : selection.to_mark;
  return mark ? offset_of_mark(index, *mark) : Selection::kAny;
}

}  // namespace

std::vector<std::byte> pack(const CoreIndex& index) {
  IndexWriter writer(HtmType::kCore, index.file);
  writer.put({index.oldest, index.instructions, index.restarts.size()});
  for (const CoreRestart& restart : index.restarts) {
    writer.put({restart.offset, restart.place.instructions, restart.place.ticks, restart.pages});
  }
  writer.put({index.marks.size()});
  for (const CoreIndex::FirstMark& mark : index.marks) writer.put({mark.value, mark.offset});
  writer.put({index.pages.size()});
  for (const Power8Page& page : index.pages) writer.put({page.effective, page.real});
  return writer.finish();
}

std::vector<std::byte> pack(const NestIndex& index) {
  IndexWriter writer(HtmType::kNest, index.file);
  writer.put({static_cast<uint64_t>(index.layout)});
  for (const std::vector<nest::Restart>& restarts : index.restarts) {
    writer.put({restarts.size()});
    for (const nest::Restart& restart : restarts) {
      writer.put({restart.offset, restart.time, restart.timer_heard ? 1U : 0U, restart.latest,
                  restart.waiting.size()});
      for (const nest::Restart::Waiting& one : restart.waiting) {
        writer.put({uint64_t{one.distance} << kDistanceShift | one.key});
      }
    }
  }
  return writer.finish();
}

std::optional<CoreIndex> unpack_core_index(std::span<const std::byte> bytes) {
  IndexReader reader(HtmType::kCore, bytes);
  CoreIndex index;
  index.file = reader.file();
  index.oldest = reader.word();
  index.instructions = reader.word();
  index.restarts.resize(reader.count(4));
  for (CoreRestart& restart : index.restarts) {
    restart.offset = reader.word();
    restart.place.instructions = reader.word();
    restart.place.ticks = reader.word();
    restart.pages = reader.word();
  }
  index.marks.resize(reader.count(2));
  for (CoreIndex::FirstMark& mark : index.marks) {
    mark.value = reader.word();
    mark.offset = reader.word();
  }
  index.pages.resize(reader.count(2));
  for (Power8Page& page : index.pages) {
    page.effective = reader.word();
    page.real = reader.word();
  }
  const auto has_its_pages = [&index](const CoreRestart& restart) {
    return restart.pages <= index.pages.size();
  };
  if (!reader.finish() || !in_order(index.restarts) ||
      !std::all_of(index.restarts.begin(), index.restarts.end(), has_its_pages)) {
    return std::nullopt;
  }
  return index;
}

std::optional<NestIndex> unpack_nest_index(std::span<const std::byte> bytes) {
  IndexReader reader(HtmType::kNest, bytes);
  NestIndex index;
  index.file = reader.file();
  const uint64_t layout = reader.word();
  if (layout > static_cast<uint64_t>(nest::Layout::kPower9)) return std::nullopt;
  index.layout = static_cast<nest::Layout>(layout);
  for (std::vector<nest::Restart>& restarts : index.restarts) {
    restarts.resize(reader.count(5));
    for (nest::Restart& restart : restarts) {
      restart.offset = reader.word();
      restart.time = reader.word();
      restart.timer_heard = reader.word() != 0;
      restart.latest = reader.word();
      restart.waiting.resize(reader.count(1));
      for (nest::Restart::Waiting& one : restart.waiting) {
        const uint64_t word = reader.word();
        one.key = static_cast<uint32_t>(word);
        one.distance = static_cast<uint32_t>(word >> kDistanceShift);
      }
    }
    if (!in_order(restarts)) return std::nullopt;
  }
  if (!reader.finish()) return std::nullopt;
  return index;
}

std::span<const Power8Page> pages_before(const CoreIndex& index, const CoreRestart& restart) {
  return std::span(index.pages).first(restart.pages);
}

bool may_begin_late(const Selection& selection) {
  return selection.ticks.first != 0 || selection.numbers.first != 0 || selection.from_mark ||
         only_last(selection);
}

const CoreRestart* restart_for(const CoreIndex& index, const Selection& selection, uint64_t limit,
                               Lead lead) {
  const Selection& s = selection;
  const uint64_t mark = last_with_marks(index, s);
  const uint64_t left = only_last(s) && limit >= index.instructions && s.last < index.instructions
                            ? index.instructions - s.last
                            : 0;
  const CoreRestart* furthest = nullptr;
  const auto consider = [&](const CoreRestart* restart) {
    if (restart == nullptr || (furthest != nullptr && restart->offset <= furthest->offset)) return;
    furthest = restart;
  };
  consider(
      last_of(index.restarts, [&](const CoreRestart& r) { return r.place.ticks < s.ticks.first; }));
  consider(last_of(index.restarts, [&](const CoreRestart& r) {
    return r.place.instructions <= std::max(s.numbers.first, left);
  }));
  if (s.from_mark) {
    consider(last_of(index.restarts, [&](const CoreRestart& r) { return r.offset <= mark; }));
  }
  const auto too_far = [&](const CoreRestart& r) {
    return r.offset > mark || r.place.instructions > limit;
  };
  const auto step_back = [&] {
    furthest = furthest == index.restarts.data() ? nullptr : furthest - 1;
  };
  while (furthest != nullptr && too_far(*furthest)) step_back();
  if (lead == Lead::kNone || furthest == nullptr) return furthest;
  // If the ticks of two restarts differ, a stamp between them reported ticks.
  const uint64_t ticks = furthest->place.ticks;
  while (ticks != 0 && furthest != nullptr && furthest->place.ticks == ticks) step_back();
  return furthest;
}

NestStretch stretch_for(const NestIndex& index, const Selection& selection) {
  NestStretch stretch;
  for (size_t i = 0; i < index.restarts.size(); i++) {
    const std::vector<nest::Restart>& restarts = index.restarts[i];
    stretch.from[i] = last_of(restarts, [&](const nest::Restart& restart) {
      return restart.latest < selection.ticks.first;
    });
    // From this restart on, no time is earlier than restart.time.
    const auto behind = std::find_if(
        restarts.begin(), restarts.end(),
        [&](const nest::Restart& restart) { return restart.time > selection.ticks.last; });
    if (behind != restarts.end()) stretch.until[i] = behind->offset;
  }
  return stretch;
}

}  // namespace htmtrace
