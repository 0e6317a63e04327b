// SPDX-License-Identifier: GPL-2.0-or-later
// Source lines and inlined functions in the reports on code.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "output/io/json_writer.h"
#include "output/source_lines/debug_info.h"

namespace htmtrace {

// The last component of a path.
inline std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// "a.c:7"; empty if the file is unknown.
inline std::string short_line(const SourceFrame& frame) {
  if (frame.file.empty()) return {};
  return fmt::format("{}:{}", file_name(frame.file), frame.line);
}

// "inner inlined at b.c:12, outer inlined at a.c:20"; empty without inlined functions.
inline std::string inlined_chain(const std::vector<SourceFrame>& frames) {
  std::string text;
  for (size_t i = 0; i + 1 < frames.size(); i++) {
    const std::string call = short_line(frames[i + 1]);
    text += fmt::format("{}{} inlined at {}", text.empty() ? "" : ", ",
                        frames[i].function.empty() ? "?" : frames[i].function,
                        call.empty() ? "?" : call);
  }
  return text;
}

// "b.h:7 (inner inlined at a.c:12)". Empty if the line is unknown.
inline std::string short_chain(const std::vector<SourceFrame>& frames) {
  if (frames.empty()) return {};
  const std::string line = short_line(frames.front()), chain = inlined_chain(frames);
  return chain.empty() ? line : fmt::format("{} ({})", line.empty() ? "?" : line, chain);
}

// Writes the members file, line and inlined of an instruction.
inline void write_frames(JsonWriter& json, const std::vector<SourceFrame>& frames) {
  if (frames.empty() || frames.front().file.empty()) {
    json.null("file");
  } else {
    json.text("file", frames.front().file);
    json.number("line", uint64_t{frames.front().line});
  }
  json.begin_array("inlined");
  for (size_t i = 0; i + 1 < frames.size(); i++) {
    json.begin_object();
    json.text("function", frames[i].function);
    json.text("call_file", frames[i + 1].file);
    json.number("call_line", uint64_t{frames[i + 1].line});
    json.end_object();
  }
  json.end_array();
}

}  // namespace htmtrace
