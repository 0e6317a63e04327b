// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/page/html_page.h"
#include "output/report/flame_graph.h"

namespace htmtrace {
namespace {

constexpr const char* kStyle = R"css(
:root{color-scheme:light dark;--back:#fff;--text:#1b1f24;--faint:#57606a;--line:#d0d7de;
--track:#f2f2f2;--head:#f6f8fa;--link:#0550ae;--warn:#fff4d6;--warnline:#bf8700;--hit:#b4009e}
@media (prefers-color-scheme:dark){:root{--back:#15181d;--text:#e3e6ea;--faint:#9aa4af;--line:#3a424c;
--track:#23282f;--head:#1d2229;--link:#79b8ff;--warn:#3a2f10;--warnline:#d4a72c;--hit:#ff8af0}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem clamp(.6rem,2vw,2rem) 2rem;max-width:110rem;background:var(--back);
color:var(--text);font:15px/1.45 system-ui,sans-serif}
h1{font-size:1.35rem;margin:0}h2{font-size:1.1rem;margin:2rem 0 .5rem;scroll-margin-top:3.5rem}
header p{margin:.1rem 0 .8rem;overflow-wrap:anywhere}
.basis p,.note{margin:.15rem 0;color:var(--faint)}.note{margin:.4rem 0}
.warning{background:var(--warn);border-left:4px solid var(--warnline);padding:.5rem .8rem;margin:.8rem 0}
.warning ul{margin:.2rem 0;padding-left:1.2rem}.warning li{overflow-wrap:anywhere}
nav{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;margin:.8rem 0}a{color:var(--link)}
.search{position:sticky;top:0;z-index:1;display:flex;flex-wrap:wrap;gap:.5rem;align-items:center;
background:var(--back);padding:.5rem 0;border-bottom:1px solid var(--line)}
.search[hidden]{display:none}
input{font:inherit;color:inherit;background:var(--head);border:1px solid var(--line);border-radius:5px;
padding:.3rem .6rem;flex:1 1 10rem;min-width:0;max-width:32rem}
output{color:var(--faint)}
:focus-visible{outline:2px solid var(--link);outline-offset:1px}
.scroll{overflow:auto;max-height:75vh;max-width:100%;border:1px solid var(--line);border-radius:5px;margin:.5rem 0}
pre.scroll{padding:.6rem;font-size:12.5px}
table{border-collapse:collapse;width:100%;font-size:13.5px}
caption{text-align:left;padding:.4rem .6rem;color:var(--faint)}
th,td{padding:.15rem .6rem;text-align:left;vertical-align:top}
td{border-top:1px solid var(--line)}
thead th{position:sticky;top:0;background:var(--head);white-space:nowrap}
th button{all:unset;cursor:pointer;font-weight:600}th button:focus-visible{outline:2px solid var(--link)}
th[aria-sort] button::after{content:" \2195";color:var(--faint)}
th[aria-sort=ascending] button::after{content:" \2191"}th[aria-sort=descending] button::after{content:" \2193"}
.n{width:1%;text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.c{font-family:ui-monospace,monospace;font-size:12.5px;overflow-wrap:anywhere}
th.c{font:inherit;font-weight:600}td.c{min-width:18ch}
tbody tr:hover{background:var(--track)}
.scroll svg{display:block}
.flames>svg{cursor:pointer}.flames>svg:focus{outline:none}
.flames>svg:focus rect,.flames>svg:hover rect{stroke:var(--text);stroke-width:2.5}
.flames .above{opacity:.55}.searching>svg:not(.hit)>rect{opacity:.3}
.hit>rect{stroke:var(--hit);stroke-width:2.5}
.timeline{min-width:30rem}
.key{display:inline-block;width:.8em;height:.8em;margin-left:.6em}
svg .paper{fill:none}svg .track{fill:var(--track)}
.heat text{fill:var(--text)}.heat text[fill]{fill:var(--faint)}
@media (max-width:40rem){table{font-size:12.5px}th,td{padding:.15rem .35rem}}
@media print{.search{display:none}.scroll{max-height:none;overflow:visible}}
)css";

}  // namespace

std::string page_style() {
  return kStyle + flame_style() + ".flames rect{stroke:var(--back)}\n";
}

}  // namespace htmtrace
