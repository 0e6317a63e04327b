# SPDX-License-Identifier: GPL-2.0-or-later
"""check_page.py calls|svg|page|nest FILE [REFERENCE]: checks a file of `htmtrace report`.

calls: a call tree as JSON; REFERENCE is the number of instructions in all stacks.
svg: a flame graph. page, nest: an HTML page; REFERENCE is the report as JSON.
"""
import base64
import hashlib
import html.parser
import json
import re
import sys
import xml.etree.ElementTree as ElementTree

VOID = {"meta", "input", "br"}
SVG = "{http://www.w3.org/2000/svg}"


class Page(html.parser.HTMLParser):
    """Checks that elements are balanced, and collects tables, texts and attributes."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.ids, self.links, self.tables, self.titles = [], [], [], [], [], []
        self.cell = None
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append(tag)
        if "id" in attrs:
            self.ids.append(attrs["id"])
        if "href" in attrs:
            self.links.append(attrs["href"])
        assert "src" not in attrs and not any(name.startswith("on") for name in attrs), attrs
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th", "title"):
            self.cell = ""
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open, self.getpos())
        self.open.pop()
        if tag in ("td", "th"):
            self.tables[-1][-1].append(self.cell)
        if tag == "title":
            self.titles.append(self.cell)

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data


def check_characters(text):
    bad = re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]", text)
    assert not bad, f"control character at {bad.start()}"


def read(path):
    with open(path, encoding="utf-8", errors="strict", newline="") as file:
        text = file.read()
    check_characters(text)
    return text


def check_calls(path, instructions):
    report = json.loads(read(path))
    stacks = report["stacks"]
    assert report["format"] == "htmtrace-call-tree" and report["stacks_not_shown"] == 0
    assert report["instructions"] == int(instructions) == sum(stack["own"] for stack in stacks)
    below = [0] * len(stacks)
    for place, stack in enumerate(stacks):
        if stack["caller"] is None:
            assert stack["depth"] == 1
            continue
        assert stack["caller"] < place and stack["depth"] == stacks[stack["caller"]]["depth"] + 1
        below[stack["caller"]] += stack["instructions"]
    for place, stack in enumerate(stacks):
        assert stack["instructions"] == stack["own"] + below[place], stack
        assert (stack["calls"] is None) == (stack["mark"] or stack["inlined"]) and stack["calls"] != 0, stack
    assert any(stack["mark"] and stack["function"] == "[unknown callers]" for stack in stacks)


def check_frames(frames):
    """The frames of a row do not overlap, and each lies below a frame that holds it."""
    rows = {}
    for frame in frames:
        x, width = (float(frame.get(name).rstrip("%")) for name in ("x", "width"))
        rows.setdefault(int(frame.get("y")), []).append((x, x + width))
        assert re.search(r"\n\d+ instructions? \(\d+\.\d\d%\), \d+ own(, \d+ calls?)?$", frame.find(SVG + "title").text)
    assert len(rows) > 3
    above = None
    for _, row in sorted(rows.items()):
        row.sort()
        assert all(left[1] <= right[0] + 1e-3 for left, right in zip(row, row[1:])), row
        if above:
            for begin, end in row:
                assert any(a - 1e-3 <= begin and end <= b + 1e-3 for a, b in above)
        above = row


def check_svg(path):
    text = read(path)
    root = ElementTree.fromstring(text)
    assert root.tag == SVG + "svg" and not list(root.iter(SVG + "script")) and "href" not in text
    flames = [element for element in root.iter(SVG + "svg") if element.get("class") == "flames"]
    assert len(flames) == 1
    check_frames(list(flames[0]))
    assert "]]>--><kernel>" in "".join(root.itertext())


def check_frame(text):
    """The page needs nothing else, and only its own script runs."""
    page = Page(text)
    assert page.open == [] and page.tags.count("script") == 1 and page.tags.count("h1") == 1
    assert not re.search(r"\bhttps?://(?!www\.w3\.org/2000/svg[\"'])|\burl\(|@import", text)
    assert not {"link", "img", "iframe", "object", "base", "form"} & set(page.tags)
    assert len(page.ids) == len(set(page.ids))
    assert page.links and all(link[1:] in page.ids for link in page.links), page.links
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL)[1]
    digest = "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src '{digest}'" in text, f"output/page/script.cpp requires the hash {digest}"
    assert "prefers-color-scheme:dark" in text and 'name="viewport"' in text
    return page


def table_of(page, *titles):
    found = [table for table in page.tables if all(title in table[0] for title in titles)]
    assert found, titles
    return [dict(zip(table[0], line)) for table in found for line in table[1:]]


def check_page(path, reference):
    text = read(path)
    page = check_frame(text)
    with open(reference, encoding="utf-8") as file:
        report = json.load(file)
    code = [(line["instructions"], line["address"], line["function"]) for line in table_of(page, "function", "address")]
    wanted = [(str(line["instructions"]), line["ea"][2:], line["symbol"] or "") for line in report["code"]["top"]]
    assert code == wanted and any("<script>" in name for _, _, name in code)
    data = [(line["accesses"], line["address"]) for line in table_of(page, "accesses", "touched by")]
    assert data == [(str(line["accesses"]), line["address"][2:]) for table in report["data"] for line in table["top"]]
    assert sum(int(line["instructions"]) for line in table_of(page, "privilege")) == report["instructions"]
    frames = re.search(r'<svg [^>]*class="flames".*?\n</svg>\n', text, re.DOTALL)[0]
    check_frames(list(ElementTree.fromstring(frames)))
    assert any("</script><script>alert(1)</script>" in title for title in page.titles)
    assert "class=\"timeline\"" in text and "data accesses by logical address over" in text


def check_nest(path, reference):
    page = check_frame(read(path))
    with open(reference, encoding="utf-8") as file:
        report = json.load(file)
    lines = [(line["commands"], line["address"]) for line in table_of(page, "commands", "address")]
    wanted = [(str(line["commands"]), line["address"][2:]) for table in report["tables"] for line in table["top"]]
    assert wanted and set(wanted) <= set(lines)


{"calls": check_calls, "svg": check_svg, "page": check_page, "nest": check_nest}[sys.argv[1]](*sys.argv[2:])
