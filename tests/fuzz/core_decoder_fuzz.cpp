// SPDX-License-Identifier: GPL-2.0-or-later
// Decodes any bytes as a core trace. The first byte selects the size of the pieces. The result must
// not depend on this size, on whether events or only counts are requested, or on an index. Every
// byte must be accounted for.
#include <cstdint>
#include <cstdlib>

#include "core/core_trace/decoder.h"
#include "core/selection/indexer.h"

namespace {

// Digests order and content of all events into one number.
class DigestSink {
 public:
  void instruction(const htmtrace::Instruction& i) {
    add(i.offset);
    if (i.has_ea) add(i.ea.value);
    if (i.has_ra) add(i.ra.value);
    if (i.has_opcode) add(i.opcode);
    if (i.has_prefix) add(i.prefix);
    add(i.modes.bits & i.modes.known);
    for (unsigned k = 0; k < i.data_count; k++) {
      add(i.data[k].ea.value);
      if (i.data[k].has_ra) add(i.data[k].ra.value);
    }
  }
  void walk(const htmtrace::Walk& walk) {
    add(walk.offset ^ walk.ea.value ^ walk.ra.value ^ walk.partition);
    add(walk.guest_shift * 1000U + walk.host_shift * 10U + (walk.complete ? 1U : 0U));
    for (const htmtrace::WalkLeg& leg : walk.legs) {
      add(leg.guest ^ leg.host);
      for (const uint64_t entry : leg.entries) add(entry);
    }
  }
  void stamp(const htmtrace::Stamp& stamp) { add(stamp.offset ^ stamp.word); }
  void defect(const htmtrace::Defect& defect) { add(defect.offset << 8 ^ defect.size_bytes); }

  uint64_t digest = 0;

 private:
  void add(uint64_t value) { digest = (digest ^ value) * 0x9e3779b97f4a7c15 + 1; }
};

template <class Sink>
htmtrace::CoreStatistics decode(std::span<const std::byte> trace, size_t piece, bool walks,
                                Sink& sink) {
  const htmtrace::TranslationMap map;
  htmtrace::CoreDecoder decoder(map, sink);
  if (walks) decoder.follow_walks();
  for (size_t at = 0; at < trace.size(); at += piece) {
    decoder.feed(trace.subspan(at, std::min(piece, trace.size() - at)));
  }
  decoder.finish();
  if (decoder.statistics().accounted_bytes() != trace.size()) std::abort();
  return decoder.statistics();
}

uint64_t digest(std::span<const std::byte> trace, size_t piece) {
  DigestSink sink;
  decode(trace, piece, true, sink);
  return sink.digest;
}

// Digests the events after a position of the trace.
class DigestBehind : public DigestSink {
 public:
  explicit DigestBehind(uint64_t from) : from_(from) {}
  void instruction(const htmtrace::Instruction& i) {
    if (i.offset >= from_) DigestSink::instruction(i);
  }
  void stamp(const htmtrace::Stamp& stamp) {
    if (stamp.offset >= from_) DigestSink::stamp(stamp);
  }
  void defect(const htmtrace::Defect&) {
  }  // a defect ahead of the position may be reported after it

 private:
  uint64_t from_;
};

// Tests one position of an index with as many positions as possible.
void check_restart(std::span<const std::byte> trace, size_t which) {
  htmtrace::CoreIndexer indexer(1);
  indexer.take(trace);
  const htmtrace::CoreIndex index = indexer.finish();
  if (index.restarts.empty()) return;
  const htmtrace::CoreRestart& restart = index.restarts.at(which % index.restarts.size());
  DigestBehind whole(restart.offset);
  decode(trace, trace.size(), false, whole);
  DigestBehind part(restart.offset);
  const htmtrace::TranslationMap map;
  htmtrace::CoreDecoder decoder(map, part);
  decoder.start_at(restart.offset, pages_before(index, restart));
  decoder.feed(trace.subspan(restart.offset));
  decoder.finish();
  if (part.digest != whole.digest) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto trace = std::as_bytes(std::span(data + 1, size - 1));
  if (digest(trace, 1 + data[0]) != digest(trace, size)) std::abort();
  // The counting decoder must count the same.
  DigestSink all;
  htmtrace::CountingSink counts;
  if (decode(trace, 1 + data[0], false, counts) != decode(trace, size, false, all)) std::abort();
  check_restart(trace, data[0]);
  return 0;
}
