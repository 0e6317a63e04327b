// SPDX-License-Identifier: GPL-2.0-or-later
// Decodes any bytes as a nest trace. The first byte selects the layout and the size of the pieces.
// The result must not depend on this size, and every byte must be accounted for.
#include <cstdint>
#include <cstdlib>

#include "core/nest_trace/counter.h"
#include "core/nest_trace/decoder.h"
#include "core/nest_trace/layout.h"
#include "output/print/nest_printer.h"

namespace {

using htmtrace::nest::Event;
using htmtrace::nest::Layout;

uint64_t decode(std::span<const std::byte> trace, Layout layout, size_t piece,
                htmtrace::NestPrinter& printer) {
  htmtrace::nest::Decoder decoder(layout, 1);
  uint64_t digest = 0;
  const auto take_ready = [&] {
    const std::span<const Event> ready = decoder.ready();
    for (const Event& event : ready) {
      digest = (digest ^ event.offset ^ event.time << 8 ^ event.response ^
                static_cast<uint64_t>(event.kind) << 56) *
                   0x9e3779b97f4a7c15 +
               event.port;
      printer.event(event, std::nullopt);
    }
    decoder.drop(ready.size());
  };
  for (size_t at = 0; at < trace.size(); at += piece) {
    decoder.take(trace.subspan(at, std::min(piece, trace.size() - at)), at);
    take_ready();
  }
  decoder.finish();
  take_ready();
  if (decoder.statistics().accounted_bytes() != trace.size()) std::abort();
  return digest;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto trace = std::as_bytes(std::span(data + 1, size - 1));
  const auto layout = static_cast<Layout>(data[0] % 3);
  using Format = htmtrace::NestPrinter::Format;
  const auto format = static_cast<Format>(data[0] / 3 % 3);
  static htmtrace::TextOutput output =
      htmtrace::TextOutput::create("/dev/null", htmtrace::Existing::kReplace);
  htmtrace::NestPrinter printer(output, layout, {.format = format, .stamps = true, .target = "x"});
  const size_t piece = htmtrace::nest::kRecordBytes * (1 + data[0] / 9);
  if (decode(trace, layout, piece, printer) !=
      decode(trace, layout, std::max<size_t>(trace.size(), 1), printer)) {
    std::abort();
  }
  htmtrace::nest::judge_layout(trace);
  const htmtrace::TranslationMap map;
  htmtrace::nest::Counter counter(layout, 1, map);
  counter.take(trace);
  if (counter.statistics().accounted_bytes() != trace.size()) std::abort();
  return 0;
}
