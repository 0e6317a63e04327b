#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_tables.py CHECK FILE...: compares htmtrace's reports with the truth that names-compare computed
from the executed instructions, or with a program's construction. Exit status 0: the report is right."""
import csv
import json
import re
import subprocess
import sys

PLACE = re.compile(r"(\(no name\)|[^\s()]+(?: \[\w+\])?)\((\d+)\) ?")
OTHERS = re.compile(r"(?:and )?(at least )?(\d+) others?\((\d+)\)")
problems = []
unproven = [0]


def wrong(text):
    problems.append(text)


def finish():
    for text in problems[:30]:
        print(text)
    if unproven[0]:
        print(f"{unproven[0]} accesses have names that are marked as not proven")
    print(f"{len(problems)} differences")
    sys.exit(1 if problems else 0)


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def parse_list(text):
    """Return [(name, count)] and the count of others."""
    others = 0
    match = OTHERS.search(text)
    if match:
        others = int(match.group(3))
        text = text[: match.start()]
    return [(name, int(count)) for name, count in PLACE.findall(text)], others


def truth_list(text):
    counts = []
    for part in text.split(",") if text else []:
        names, count = part.rsplit("=", 1)
        counts.append((set(names.split("@")[0].split("|")), int(count)))
    return counts


def truth_tables(folder):
    code = {}
    with open(f"{folder}/code") as file:
        for line in file:
            names, instructions, accesses = line.split()
            code[names] = (int(instructions), int(accesses))
    data = {}
    for unit in (128, 65536):
        with open(f"{folder}/data-{unit}") as file:
            for line in file:
                address, count, sites, objects = line.split()
                data[unit, int(address, 16)] = (int(count), truth_list(sites), truth_list(objects))
    return code, data


def bare(name):
    return name.split(" [")[0].rstrip("?")


def compare_list(what, shown, others, whole, truth):
    if sum(count for _, count in shown) + others != whole:
        wrong(f"{what}: the list does not add up to {whole}: {shown}, others {others}")
    for name, count in shown:
        right = [c for names, c in truth if bare(name) in names]
        if count not in right:
            wrong(f"{what}: {name} has {count}, truth {right}")
    if others == 0 and len(shown) != len(truth):
        wrong(f"{what}: {len(shown)} listed, truth {len(truth)}: {shown} {truth}")


def compare_objects(what, shown, truth, program):
    """Compare only the program's objects: the names of the kernel's data have other sources."""
    for name, count in shown:
        if name.endswith("?"):  # The kernel accessed memory whose owner is not known.
            unproven[0] += count
        elif bare(name) in program and count not in [c for names, c in truth if bare(name) in names]:
            wrong(f"{what}: {name} has {count} accesses, truth {truth}")
    for names, count in truth:
        if names & program and not any(bare(name) in names for name, _ in shown):
            wrong(f"{what}: {names} with {count} accesses is missing")


def compare_tables(folder, code, data):
    """code: [(name, address, instructions, accesses)], data: [(unit, address, count, error, sites, objects)]"""
    true_code, true_data = truth_tables(folder)
    by_name = {}
    for names, work in true_code.items():
        names, _, address = names.partition("@")
        for name in names.split("|"):
            by_name[name, address or name] = work
    for name, address, instructions, accesses in code:
        true = by_name.get((bare(name), address))
        if (instructions, accesses) != true:
            wrong(f"code {name} {address}: {instructions} {accesses}, truth {true}")
    if len(code) != len(true_code):
        wrong(f"{len(code)} rows of code, truth {len(true_code)}")
    program = {
        name
        for _, _, objects in true_data.values()
        for names, _ in objects
        for name in names
        if name.endswith("_array") or name.startswith("array_") or name.startswith("foreign_")
    }
    seen = 0
    for unit, address, count, error, sites, objects in data:
        what = f"data {unit} {address:x}"
        if error:
            wrong(f"{what}: the table is not exact")
        true = true_data.get((unit, address))
        if true is None or true[0] != count:
            wrong(f"{what}: {count} accesses, truth {true and true[0]}")
            continue
        seen += 1
        compare_list(what, *sites, count, true[1])
        compare_objects(what, objects, true[2], program)
    if seen != len(true_data):
        wrong(f"{seen} rows of data, truth {len(true_data)}")


def one_or_list(row):
    """Return the objects of a row: one object with an offset, or a list."""
    text = row["symbol"]
    if PLACE.match(text):
        return parse_list(text)[0]
    mark = "?" if text.endswith("?") else ""
    return [(text.split("+0x")[0].rstrip("?") + mark, int(row["count"]))] if text else []


def tables_csv(folder, path):
    code, data = [], []
    for row in rows_of(path):
        if row["table"] == "code":
            address = row["ea"][2:]
            code.append((row["symbol"] or address, address, int(row["count"]), int(row["data_accesses"])))
        elif row["table"] == "data-logical":
            data.append(
                (
                    int(row["unit_bytes"]),
                    int(row["address"], 16),
                    int(row["count"]),
                    int(row["error"]),
                    parse_list(row["touched_by"]),
                    one_or_list(row),
                )
            )
    compare_tables(folder, code, data)


def tables_json(folder, path):
    with open(path) as file:
        report = json.load(file)
    code = [
        (row["symbol"] or row["ea"][2:], row["ea"][2:], row["instructions"], row["data_accesses"])
        for row in report["code"]["top"]
    ]
    data = []
    for table in report["data"]:
        for row in table["top"]:
            sites = [(site["symbol"] or site["ea"][2:], site["accesses"]) for site in row["touched_by"]]
            objects = [(thing["symbol"] or "", thing["accesses"]) for thing in row["objects"]]
            others = row["touched_by_others"]["accesses"]
            data.append(
                (
                    table["unit_bytes"],
                    int(row["address"], 16),
                    row["accesses"],
                    table["error"],
                    (sites, others),
                    objects,
                )
            )
    compare_tables(folder, code, data)


def timeline(folder, path):
    windows = {}
    with open(f"{folder}/windows") as file:
        for line in file:
            number, instructions, accesses = map(int, line.split())
            windows[number] = (instructions, accesses)
    for row in rows_of(path):
        first = int(row["first"]) // 1024
        last = (int(row["first"]) + int(row["instructions"]) + 1023) // 1024
        true = [sum(windows.get(i, (0, 0))[k] for i in range(first, last)) for k in (0, 1)]
        if [int(row["reported"]), int(row["data_accesses"])] != true:
            wrong(f"window {row['first']}: {row['reported']} {row['data_accesses']}, truth {true}")
    if sum(int(row["reported"]) for row in rows_of(path)) != sum(w[0] for w in windows.values()):
        wrong("the windows do not add up")


def symbols_of(program, nm):
    lines = subprocess.run([nm, program], check=True, capture_output=True, text=True).stdout
    return {fields[2]: int(fields[0], 16) for fields in map(str.split, lines.splitlines()) if len(fields) == 3}


def arrays(path, program, nm):
    """Compare with the counts that arrays.c states."""
    start = symbols_of(program, nm)
    by_function = {}
    lines = {}
    for row in rows_of(path):
        if row["table"] != "data-effective":
            continue
        address = int(row["address"], 16)
        sites, others = parse_list(row["touched_by"])
        for array, size in (("small_array", 4096), ("middle_array", 256 << 10), ("large_array", 4 << 20)):
            if start[array] <= address < start[array] + size:
                lines[array] = lines.get(array, 0) + 1
                for name, count in sites:
                    key = (array, name)
                    by_function[key] = by_function.get(key, 0) + count
                if others:
                    wrong(f"{row['address']}: {others} accesses are not listed")
    want = {
        ("small_array", "rd_small"): 64 * 160,
        ("small_array", "rd_second"): 64 * 118,
        ("small_array", "rd_third"): 64 * 111,
        ("small_array", "rd_fourth"): 64 * 80,
        ("small_array", "wr_small"): 64 * 40,
        ("small_array", "rd_seldom"): 2 * 66,
        ("middle_array", "rd_middle"): 2048,
        ("middle_array", "wr_middle"): 2048,
        ("large_array", "wr_large"): 64,
        ("large_array", "rd_large"): 1024,
    }
    for key, count in want.items():
        if by_function.get(key) != count:
            wrong(f"{key}: {by_function.get(key)}, by construction {count}")
    if lines.get("middle_array") != 64:
        wrong(f"pages of middle_array: {lines.get('middle_array')}")


def cut(path):
    """Each row with more than four functions must count the rest."""
    cut_rows = 0
    with open(path) as file:
        for line in file:
            match = re.match(r" *(\d+) +[\d.]+% +(\d+) +(\d+) +(\d+)  [0-9a-f]{16}  [0-9a-f]{16}  (.*)", line)
            if not match:
                continue
            text = match.group(5).split("  in ")[0]
            sites, others = parse_list(text)
            if len(sites) > 4:
                wrong(f"more than four: {text}")
            if sum(count for _, count in sites) + others != int(match.group(1)):
                wrong(f"does not add up to {match.group(1)}: {text}")
            cut_rows += 1 if others else 0
    if cut_rows == 0:
        wrong("no list is cut")


def successors(folder, path, program, nm):
    start = symbols_of(program, nm)
    true = {}
    with open(f"{folder}/edges") as file:
        for line in file:
            address, count = line.split()
            true[int(address, 16)] = int(count)
    ways = [start["way_1"] + 8 * i for i in range(12)]
    found = {}
    for row in rows_of(path):
        begin = int(row["ea"], 16)
        if not start["next_target"] - 16 <= begin <= start["the_branch"]:
            continue
        if row["to"] == "others":
            wrong(f"{row['ea']}: successors are left out")
        elif row["to"].startswith("0x") and int(row["to"], 16) in ways:
            found[int(row["to"], 16)] = found.get(int(row["to"], 16), 0) + int(row["followed"])
    for number, way in enumerate(ways):
        if found.get(way) != true.get(way):
            wrong(f"target {number + 1}: {found.get(way)}, truth {true.get(way)}")
        # An interrupt between the branch and its target leads elsewhere.
        if not 40 * (number + 1) - 3 <= true.get(way, 0) <= 40 * (number + 1):
            wrong(f"target {number + 1}: {true.get(way)}, by construction {40 * (number + 1)}")


def phases(path):
    seen = {}
    for row in rows_of(path):
        match = re.match(r"array_(first|second|third)\b", row["symbol"])
        if match:
            name = match.group(1)
            begin, end, count = seen.get(name, (None, None, 0))
            time = int(row["time"])
            seen[name] = (time if begin is None else min(begin, time), max(end or 0, time), count + int(row["count"]))
    for name in ("first", "second", "third"):
        if name not in seen or seen[name][2] != 4000:
            wrong(f"array_{name}: {seen.get(name)}, by construction 4000 accesses")
    if not problems and not seen["first"][1] <= seen["second"][0] <= seen["second"][1] <= seen["third"][0]:
        wrong(f"the phases are not in order: {seen}")


# The last two of the 15 instructions of _start may run after the end of the recording.
STEPS = {
    "first": 12005,
    "second": 8005,
    "outer": 7,
    "inner": 6000,
    "untyped_step": 2,
    "untyped_loop": 5001,
    "many_ways": 31254,
}


def steps(path, third):
    want = dict(STEPS, third=int(third))
    found = {row["symbol"]: int(row["count"]) for row in rows_of(path) if row["table"] == "code"}
    for name, count in want.items():
        if found.get(name) != count:
            wrong(f"{name}: {found.get(name)} instructions, by construction {count}")


def passages(path, number, length, cut):
    """All complete passages have this number of instructions; the end of the trace cuts the others."""
    with open(path) as file:
        report = json.load(file)
    lengths = report["instructions"]
    found = (report["complete"], report["cut"], lengths["least"], lengths["most"], lengths["sum"])
    number, length, cut = int(number), int(length), int(cut)
    if found != (number, cut, length, length, number * length):
        wrong(f"{report['from']} to {report['to']}: {found}, by construction {number} passages of {length}")
    histogram = {row["from"]: row["exact"] for row in lengths["histogram"] if row["exact"]}
    if histogram != {1 << length.bit_length() - 1: number}:
        wrong(f"{report['from']} to {report['to']}: {histogram}")
    # Stamps are sparse, so that ticks are lower bounds; no stamp reports a loss.
    ticks = report["ticks"]
    if ticks["exact"] + sum(row["at_least"] for row in ticks["histogram"]) != number + cut:
        wrong(f"{report['from']} to {report['to']}: the ticks do not add up: {ticks}")


def difference(path):
    found = {row["name"]: row for row in rows_of(path) if row["table"] == "code"}
    for name, count in dict(STEPS, third=8005).items():
        row = found.get(name)
        after = 32005 if name == "third" else count
        if row is None or (int(row["before"]), int(row["after"])) != (count, after):
            wrong(f"{name}: {row}, by construction {count} and {after}")
    objects = {row["symbol"] or row["name"] for row in rows_of(path) if row["table"] == "data"}
    for name in ("array_first", "array_second", "array_third"):
        if not any(text.startswith(name) for text in objects):
            wrong(f"{name} is in no table of data")


CHECKS = {
    "tables-csv": tables_csv,
    "tables-json": tables_json,
    "timeline": timeline,
    "arrays": arrays,
    "cut": cut,
    "successors": successors,
    "phases": phases,
    "steps": steps,
    "passages": passages,
    "difference": difference,
}

if __name__ == "__main__":
    CHECKS[sys.argv[1]](*sys.argv[2:])
    finish()
