// SPDX-License-Identifier: GPL-2.0-or-later
// Draws the timeline of one trace: a column for each window. The upper part has the shares of the
// privileges, the lower part the ticks for each instruction, and a mark below reports losses.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "core/base/counted.h"
#include "output/io/percent.h"
#include "output/io/shares.h"
#include "output/io/xml_text.h"
#include "output/report/timeline_report.h"

namespace htmtrace {
namespace {

// Sizes are in pixels.
constexpr unsigned kSharesHeight = 60;  // height of the upper part
constexpr unsigned kTicksHeight = 60;   // height of the lower part
constexpr unsigned kPartGap = 8;        // between the parts
constexpr unsigned kLossesHeight = 8;
constexpr unsigned kChartHeight =
    kSharesHeight + kPartGap + kTicksHeight + kPartGap + kLossesHeight;

// In the order of Privilege; shown bottom up.
constexpr std::array<const char*, kPrivileges> kPrivilegeColors = {"#b0b0b0", "#5b9bd5", "#e8893c",
                                                                   "#9a6fc4", "#c0504d"};

class Chart {
 public:
  explicit Chart(const Timeline& timeline) : timeline_(timeline) {}

  std::string draw() {
    put("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"timeline\" width=\"100%\" "
        "height=\"{}\">\n",
        kChartHeight);
    for (size_t i = 0; i < timeline_.windows().size(); i++) {
      most_ = std::max(most_, ticks_each(timeline_, i).value_or(0));
    }
    for (size_t i = 0; i < timeline_.windows().size(); i++) put_window(i);
    return text_ + "</svg>\n";
  }

 private:
  template <class... Values>
  void put(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
  }

  void put_window(size_t index) {
    const Timeline::Window& window = timeline_.windows()[index];
    const double width = 100.0 / static_cast<double>(timeline_.windows().size());
    const uint64_t first = timeline_.first() + index * timeline_.window_instructions();
    put("<svg x=\"{:.4f}%\" width=\"{:.4f}%\" height=\"{}\"><title>{} from number {}, {} reported",
        width * static_cast<double>(index), width, kChartHeight,
        counted(timeline_.instructions_of(index), "instruction"), first, window.reported);
    for (size_t k = 0; k < kPrivileges; k++) {
      if (window.by_privilege.at(k) == 0) continue;
      put("\n{}: {}", kPrivilegeNames.at(k), share(window.by_privilege.at(k), window.reported));
    }
    const auto each = ticks_each(timeline_, index);
    if (timeline_.ticks() != 0 && each) put("\n{} ticks each", decimal(*each));
    put("\n{}\n{}</title><rect class=\"track\" width=\"100%\" height=\"100%\" fill=\"#f2f2f2\"/>",
        counted(window.data_accesses, "data access"), counted(window.losses, "loss"));
    put_shares(window);
    if (timeline_.ticks() != 0 && most_ != 0) {
      const double height =
          kTicksHeight * static_cast<double>(each.value_or(0)) / static_cast<double>(most_);
      put("<rect y=\"{:.1f}\" width=\"100%\" height=\"{:.1f}\" fill=\"#4f9d69\"/>",
          kSharesHeight + kPartGap + kTicksHeight - height, height);
    }
    if (window.losses != 0) {
      put("<rect y=\"{}\" width=\"100%\" height=\"{}\" fill=\"#d62728\"/>",
          kChartHeight - kLossesHeight, kLossesHeight);
    }
    put("</svg>\n");
  }

  void put_shares(const Timeline::Window& window) {
    double top = kSharesHeight;
    for (size_t k = 0; k < kPrivileges; k++) {
      const double height =
          kSharesHeight * percent(window.by_privilege.at(k), window.reported) / 100;
      if (height == 0) continue;
      top -= height;
      put("<rect y=\"{:.1f}\" width=\"100%\" height=\"{:.1f}\" fill=\"{}\"/>", top, height,
          kPrivilegeColors.at(k));
    }
  }

  const Timeline& timeline_;
  uint64_t most_ = 0;  // of ticks_each()
  std::string text_;
};

}  // namespace

std::string timeline_chart(const Timeline& timeline) {
  return Chart(timeline).draw();
}

std::string timeline_legend() {
  std::string text;
  for (size_t k = 0; k < kPrivileges; k++) {
    fmt::format_to(std::back_inserter(text),
                   "<span class=\"key\" style=\"background:{}\"></span> {} ",
                   kPrivilegeColors.at(k), kPrivilegeNames.at(k));
  }
  return text +
         "<span class=\"key\" style=\"background:#4f9d69\"></span> ticks for each instruction "
         "<span class=\"key\" style=\"background:#d62728\"></span> losses";
}

}  // namespace htmtrace
