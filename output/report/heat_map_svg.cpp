// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a heat map as one self-contained SVG file. A tooltip shows the count of each cell.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "core/base/counted.h"
#include "core/base/size_text.h"
#include "output/io/percent.h"
#include "output/io/xml_text.h"
#include "output/report/heat_map_report.h"

namespace htmtrace {
namespace {

// All sizes are in pixels.
constexpr unsigned kCellWidth = 7;
constexpr unsigned kCellHeight = 14;
constexpr unsigned kGap = 4;         // between rows that are not adjacent
constexpr unsigned kLeft = 200;      // addresses and shares
constexpr unsigned kTop = 84;        // titles and times
constexpr unsigned kBottom = 60;     // legend
constexpr unsigned kNames = 360;     // to the right
constexpr unsigned kLeastMap = 320;  // minimum width, which the titles need

// From pale to dark, so that the colors can also be distinguished in grayscale.
constexpr std::array<const char*, kHeatLevels> kColours = {"#fdf1c7", "#fddf95", "#fcc563",
                                                           "#faa43a", "#f27f1e", "#db5a14",
                                                           "#b83a14", "#8a2116", "#55121a"};

class Drawing {
 public:
  explicit Drawing(const HeatMapReport& report)
      : report_(report), map_(report.maps.map()), shown_(shown_rows(map_, report.top)) {}

  std::string draw() {
    const unsigned across = std::max(static_cast<unsigned>(map_.windows()) * kCellWidth, kLeastMap);
    begin(kLeft + across + kNames, height());
    put_titles();
    put_times(across);
    unsigned y = kTop;
    uint64_t expected = shown_.rows.empty() ? 0 : shown_.rows.front().address;
    for (const HeatMap::Row& row : shown_.rows) {
      if (row.address != expected) y += kGap;
      expected = row.address + map_.unit_bytes();
      put_row(row, y);
      y += kCellHeight;
    }
    if (shown_.others != 0) put_others(y + kGap);
    put_legend(height() - kBottom + 24);
    return text_ + "</svg>\n";
  }

 private:
  unsigned height() const {
    unsigned gaps = 0;
    for (size_t i = 1; i < shown_.rows.size(); i++) {
      gaps += shown_.rows[i].address != shown_.rows[i - 1].address + map_.unit_bytes() ? kGap : 0;
    }
    const auto rows = static_cast<unsigned>(shown_.rows.size()) + (shown_.others != 0 ? 1 : 0);
    return kTop + rows * kCellHeight + gaps + kGap + kBottom;
  }

  template <class... Values>
  void put(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
  }

  void label(unsigned x, unsigned y, const char* style, std::string_view words) {
    put("<text x=\"{}\" y=\"{}\"{}>{}</text>\n", x, y, style, xml_text(words));
  }

  void begin(unsigned width, unsigned height) {
    put("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
        "viewBox=\"0 0 {0} {1}\" font-family=\"monospace\" font-size=\"11\">\n"
        "<rect class=\"paper\" width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
        width, height);
  }

  // The number of remark lines is not limited. Only the first lines fit.
  void put_titles() {
    label(8, 20, " font-size=\"14\" font-weight=\"bold\"",
          fmt::format("{} by {} address over {}", report_.what, report_.kind,
                      plural(report_.axis())));
    label(8, 36, "",
          fmt::format("rows of {}, columns of {}; {} in the map", exact_size(map_.unit_bytes()),
                      counted(map_.window(), report_.axis()), map_.total()));
    unsigned y = 50;
    std::string_view rest = report_.remarks;
    for (int i = 0; i < 2 && !rest.empty(); i++) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      label(8, y, " fill=\"#555555\"", rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      y += 13;
    }
  }

  void put_times(unsigned across) {
    const auto used = static_cast<unsigned>(map_.windows()) * kCellWidth;
    label(kLeft, kTop - 5, "", std::to_string(map_.first_time()));
    const uint64_t end = map_.first_time() + map_.windows() * map_.window();
    label(kLeft + (used > 160 ? used : across), kTop - 5, " text-anchor=\"end\"",
          std::to_string(end));
  }

  void put_cells(std::span<const uint64_t> windows, unsigned y, const std::string& place) {
    for (size_t i = 0; i < windows.size(); i++) {
      if (windows[i] == 0) continue;
      const uint64_t from = map_.first_time() + i * map_.window();
      put("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"><title>{} {}\n{} to "
          "{} {}\n{}</title></rect>\n",
          kLeft + static_cast<unsigned>(i) * kCellWidth, y, kCellWidth, kCellHeight,
          kColours.at(heat_level(windows[i], shown_.most) - 1), windows[i], report_.what, from,
          from + map_.window() - 1, plural(report_.axis()), place);
    }
  }

  void put_row(const HeatMap::Row& row, unsigned y) {
    const std::string name = report_.name(row);
    const std::string address = fmt::format("{:016x}", row.address);
    put_left(y, "", address, row.count);
    put_background(y);
    put_cells(row.windows, y, xml_text(name.empty() ? address : address + " " + name));
    if (!name.empty()) label(right(), y + 11, "", name);
  }

  void put_others(unsigned y) {
    put_left(y, " fill=\"#555555\"", "others", shown_.others_count);
    put_background(y);
    put_cells(shown_.rest, y, "rows that are not shown");
    label(right(), y + 11, " fill=\"#555555\"", counted(shown_.others, "other row"));
  }

  void put_left(unsigned y, const std::string& style, std::string_view what, uint64_t count) {
    label(8, y + 11, style.c_str(), what);
    label(kLeft - 6, y + 11, (style + " text-anchor=\"end\"").c_str(),
          fmt::format("{:.2f}%", percent(count, map_.total())));
  }

  void put_background(unsigned y) {
    put("<rect class=\"track\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#f2f2f2\"/>\n",
        kLeft, y, map_.windows() * kCellWidth, kCellHeight - 1);
  }

  unsigned right() const { return kLeft + static_cast<unsigned>(map_.windows()) * kCellWidth + 8; }

  void put_legend(unsigned y) {
    label(8, y + 11, "", "in one cell, logarithmic: 1");
    for (unsigned i = 0; i < kHeatLevels; i++) {
      put("<rect x=\"{}\" y=\"{}\" width=\"16\" height=\"14\" fill=\"{}\"/>\n", kLeft + i * 16, y,
          kColours.at(i));
    }
    label(kLeft + kHeatLevels * 16 + 6, y + 11, "", std::to_string(shown_.most));
  }

  const HeatMapReport& report_;
  const HeatMap& map_;
  ShownRows shown_;
  std::string text_;
};

}  // namespace

std::string HeatMapReport::to_svg() const {
  return Drawing(*this).draw();
}

}  // namespace htmtrace
