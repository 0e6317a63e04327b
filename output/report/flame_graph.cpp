// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/report/flame_graph.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "core/base/counted.h"
#include "output/io/percent.h"
#include "output/io/xml_text.h"

namespace htmtrace {
namespace {

using Stack = StackTree::Stack;

// Sizes are in pixels.
constexpr unsigned kFlameRow = 17;
constexpr unsigned kFlameFrame = 16;  // the rest separates the rows
constexpr unsigned kFlameWidth = 1200;
constexpr unsigned kFlameMargin = 10;
constexpr unsigned kFlameTitles = 78;

// A frame that is narrower than this share of the picture has no text.
constexpr double kLeastNamedPercent = 1.2;

// Longer names are shortened.
constexpr size_t kNameBytes = 200;

// Warm colors on which black text is legible. A function has the same color everywhere.
constexpr std::array<const char*, 8> kFlameColors = {"#f9c46b", "#f6b26b", "#f4a582", "#f3d17a",
                                                     "#efa35c", "#f0b8a0", "#e8c48a", "#f7bd94"};

size_t color_of(const std::string& name) {
  // FNV-1a: the picture must not depend on the C++ library.
  uint32_t hash = 2166136261U;
  for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619U;
  return hash % kFlameColors.size();
}

class Flames {
 public:
  explicit Flames(const CallTreeReport& report) : report_(report), tree_(report.tree) {}

  std::string draw() {
    const std::vector<Stack> ordered = report_.in_order();
    unsigned rows = 1;
    for (const Stack stack : ordered) rows = std::max(rows, 1 + tree_.depth(stack));
    put("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flames\" width=\"100%\" height=\"{}\" "
        "font-family=\"monospace\" font-size=\"11\">\n",
        rows * kFlameRow);
    put_frame(0, 100, 0, "all", "all stacks", tree_.total(StackTree::kRoot), "0 own");
    std::unordered_map<Stack, uint64_t> begin;  // of a stack; then of the next function below it
    for (const Stack stack : ordered) {
      uint64_t& at = begin[tree_.parent(stack)];
      const uint64_t here = std::exchange(at, at + tree_.total(stack));
      begin[stack] = here;
      const std::string& name = tree_.name(stack);
      const std::string style = tree_.is_mark(stack) ? "mark" : fmt::format("k{}", color_of(name));
      put_frame(
          share(here), share(tree_.total(stack)), tree_.depth(stack), style, name,
          tree_.total(stack),
          fmt::format("{} own{}", tree_.own(stack),
                      report_.has_calls(stack) ? ", " + counted(tree_.calls(stack), "call") : ""));
    }
    return text_ + "</svg>\n";
  }

 private:
  template <class... Values>
  void put(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
  }

  double share(uint64_t instructions) const {
    return percent(instructions, tree_.total(StackTree::kRoot));
  }

  // The inner <svg> cuts the name at the end of the frame.
  void put_frame(double x, double width, unsigned row, const std::string& style,
                 const std::string& name, uint64_t total, const std::string& counts) {
    const std::string safe = short_xml_text(name, kNameBytes);
    put("<svg class=\"{}\" x=\"{:.5f}%\" y=\"{}\" width=\"{:.5f}%\" height=\"{}\"><title>{}\n{} "
        "({:.2f}%), {}</title><rect width=\"100%\" height=\"100%\"/>",
        style, x, row * kFlameRow, width, kFlameFrame, safe, counted(total, "instruction"),
        share(total), counts);
    if (width >= kLeastNamedPercent) put("<text x=\"3\" y=\"12\">{}</text>", safe);
    put("</svg>\n");
  }

  const CallTreeReport& report_;
  const StackTree& tree_;
  std::string text_;
};

}  // namespace

std::string flame_style() {
  std::string style =
      ".flames rect{stroke:#fff;stroke-width:.6}.flames text{fill:#1a1a1a}"
      ".all>rect{fill:#dcdcdc}.mark>rect{fill:#c4c4c4}";
  for (size_t i = 0; i < kFlameColors.size(); i++) {
    style += fmt::format(".k{}>rect{{fill:{}}}", i, kFlameColors.at(i));
  }
  return style;
}

std::string flame_graph(const CallTreeReport& report) {
  return Flames(report).draw();
}

std::string CallTreeReport::to_svg() const {
  const std::string flames = Flames(*this).draw();
  unsigned rows = 1;
  for (const Stack stack : shown) rows = std::max(rows, 1 + tree.depth(stack));
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" font-family=\"monospace\" font-size=\"11\">\n"
      "<style>{2}</style>\n<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
      kFlameWidth, kFlameTitles + rows * kFlameRow + kFlameMargin, flame_style());
  const auto out = std::back_inserter(text);
  fmt::format_to(out,
                 "<text x=\"{}\" y=\"20\" font-size=\"14\" font-weight=\"bold\">instructions by "
                 "call stack</text>\n",
                 kFlameMargin);
  unsigned y = 36;
  for (const std::string& line :
       {fmt::format("{}: {}", counted(traces, "trace"), htmtrace::describe(totals)),
        htmtrace::describe(stacks), omission()}) {
    if (line.empty()) continue;
    fmt::format_to(out, "<text x=\"{}\" y=\"{}\" fill=\"#555555\">{}</text>\n", kFlameMargin, y,
                   xml_text(line));
    y += 14;
  }
  fmt::format_to(out, "<svg x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\">\n{}</svg>\n</svg>\n",
                 kFlameMargin, kFlameTitles, kFlameWidth - 2 * kFlameMargin, rows * kFlameRow,
                 flames);
  return text;
}

}  // namespace htmtrace
