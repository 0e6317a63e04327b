// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/io/xml_text.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "output/report/colors.h"

namespace htmtrace {

TEST_CASE("markup, control characters and bytes that are not UTF-8 do not reach SVG and HTML") {
  CHECK(xml_text("a<b>&\"c\"'d'") == "a&lt;b&gt;&amp;&quot;c&quot;&#39;d&#39;");
  CHECK(xml_text(std::string("a\0b\x1b\n\x7f", 6)) == "a\\x00b\\x1b\\n\\x7f");
  CHECK(xml_text("\xc2\x9b") == "\\xc2\\x9b");
  CHECK(xml_text("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x94\xa5") ==
        "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x94\xa5");
  CHECK(xml_text("\xff"
                 "a\xc3") ==
        "\xef\xbf\xbd"
        "a\xef\xbf\xbd");
  CHECK(xml_text("\xed\xa0\x80") == "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");  // a surrogate
  CHECK(xml_text("\xef\xbf\xbe\xef\xbf\xbf") == "\xef\xbf\xbd\xef\xbf\xbd");
  CHECK(xml_text("") == "");
}

TEST_CASE("a long text loses its middle, and no character is cut") {
  CHECK(short_xml_text("abcdefghij", 10) == "abcdefghij");
  CHECK(short_xml_text("abcdefghijk", 10) == "abcd...ijk");
  CHECK(short_xml_text("<<<<<<<<<<<", 5) == "&lt;...&lt;");
  for (size_t most = 0; most < 40; most++) {
    std::string text;
    for (int i = 0; i < 20; i++) text += "\xe2\x82\xac";
    const std::string cut = short_xml_text(text, most);
    CHECK(cut.find("\xef\xbf\xbd") == std::string::npos);
    CHECK(cut.size() <= std::max<size_t>(most, 3));
  }
}

TEST_CASE("colors mark headings and large shares") {
  CHECK(colored("") == "");
  CHECK(colored("1 trace\n\nhot code\n  12  7.50%  f\n") ==
        "1 trace\n\n\x1b[1mhot code\x1b[m\n  12  \x1b[31m7.50%\x1b[m  f\n");
  CHECK(colored("  12  0.50%  f 9.00%\n") == "  12  \x1b[32m0.50%\x1b[m  f 9.00%\n");
  CHECK(colored("  12  0.49%  f") == "  12  0.49%  f");
  CHECK(colored("not in a table: 151 (99.00%)") == "not in a table: 151 (99.00%)");
}

}  // namespace htmtrace
