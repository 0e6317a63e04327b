#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_counts.py core|nest HTMTRACE TRACE...: compares what `htmtrace report` prints with full counts.

Counts the events that `htmtrace decode --format json` prints, in memory without a limit, and compares the counts
with the JSON and the text of reports with and without enough memory. Where a report prints a bound, every count must
keep it."""

import collections
import json
import re
import subprocess
import sys

htmtrace = None
NO_NAME = "(no name)"


def run(*arguments):
    process = subprocess.run([htmtrace, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if process.returncode not in (0, 3):
        sys.exit(f"{arguments}: status {process.returncode}: {process.stderr}")
    return process.stdout


def decoded(*arguments):
    return [json.loads(line) for line in run("decode", "--format", "json", *arguments).splitlines()]


class Row:
    """The full counts of one row."""

    def __init__(self):
        self.numbers = collections.Counter()
        self.lists = collections.defaultdict(collections.Counter)


def check(condition, *why):
    if not condition:
        raise AssertionError(" ".join(str(word) for word in why))


def check_list(what, shown, others, other_values, more_values, full, counted, top, error):
    """`shown` are pairs; `counted` is the number of events in the row's list, as the report counts the row."""
    total = sum(count for _, count in shown) + others
    check(total <= counted and counted - total <= error, what, "sum", total, "of", counted, "error", error)
    check(len({name for name, _ in shown}) == len(shown), what, "has a name twice", shown)
    check([count for _, count in shown] == sorted((count for _, count in shown), reverse=True), what, "order", shown)
    for name, count in shown:
        check(count <= full[name] <= count + error, what, name, count, "truly", full[name], "error", error)
    hidden = sorted((count for name, count in full.items() if name not in dict(shown)), reverse=True)
    if more_values:
        check(not hidden or hidden[0] <= others + error, what, "hides", hidden[:1], "others", others)
        check(other_values <= len(hidden) or error, what, "at least", other_values, "of", len(hidden))
        return
    if error == 0:
        check(len(hidden) == other_values, what, "others", other_values, "truly", len(hidden))
        check(others == sum(hidden), what, "others have", others, "truly", sum(hidden))
        check(len(shown) == min(top, len(full)), what, "shows", len(shown), "of", len(full), "top", top)
        if shown and hidden:
            check(hidden[0] <= shown[-1][1], what, "hides", hidden[0], "shows", shown[-1])


def check_table(what, rows, key_of, count_key, number_keys, full, error, top):
    """Each row's count, and the rows that are missing."""
    shown = {}
    for row in rows:
        key = key_of(row)
        check(key in full, what, "row", key, "does not exist")
        check(key not in shown, what, "row", key, "twice")
        shown[key] = row[count_key]
        for name in (count_key, *number_keys):
            true = full[key].numbers[name]
            check(row[name] <= true <= row[name] + error, what, key, name, row[name], "truly", true, "error", error)
    missing = [row.numbers[count_key] for key, row in full.items() if key not in shown]
    counts = [row[count_key] for row in rows]
    check(counts == sorted(counts, reverse=True), what, "order")
    if len(rows) < top:
        check(all(count <= error for count in missing), what, "misses a row of", max(missing, default=0), "error", error)
    elif missing and rows:
        check(max(missing) <= counts[-1] + error, what, "misses a row of", max(missing), "error", error)
    if error == 0:
        check(len(rows) == min(top, len(full)), what, "rows", len(rows), "of", len(full))


def json_list(row, key, others_key, count_key, name_of):
    others = row[others_key]
    return ([(name_of(each), each[count_key]) for each in row[key]], others[count_key], others["values"],
            others["more_values"])


NAME_COUNT = re.compile(r"(\S+)\((\d+)\)")
OTHERS = re.compile(r"and (at least )?(\d+) others?\((\d+)\)$")


def text_list(text):
    """The parts of "a(10) b(7) and at least 3 others(9)"."""
    text = text.strip()
    others = OTHERS.search(text)
    if others:
        text = text[:others.start()]
    shown = [(name, int(count)) for name, count in NAME_COUNT.findall(text)]
    if not others:
        return shown, 0, 0, False
    return shown, int(others[3]), int(others[2]), others[1] is not None


# Core traces

class Symbols:
    def __init__(self, path):
        self.table = []
        if path:
            with open(path, encoding="utf-8") as lines:
                for line in lines:
                    address, _, name = line.split()
                    self.table.append((int(address, 16), name))
            self.table.sort()

    def find(self, address):
        """The name of a kernel address: the symbols of kallsyms reach to the next one."""
        if address < 1 << 63:
            return None
        low, high = 0, len(self.table)
        while low < high:
            middle = (low + high) // 2
            if self.table[middle][0] <= address:
                low = middle + 1
            else:
                high = middle
        return self.table[low - 1][1] if low else None


def is_branch(opcode):
    primary, extended = opcode >> 26, opcode >> 1 & 1023
    return primary in (16, 18, 17) or (primary == 19 and extended in (16, 528, 560, 18, 50, 82, 274, 370, 402))


def breaks_flow(stamp):
    return stamp["kind"] in ("record", "pause", "complete") or any(
        key in stamp for key in ("records_dropped", "record_counter_overflow", "unknown_indication"))


def core_blocks(events):
    full = collections.defaultdict(Row)
    block = None  # its address, and its instructions

    def close(successor):
        nonlocal block
        if block is None:
            return
        row = full[f"0x{block[0]:016x}"]
        row.numbers["instructions"] += block[1]
        row.numbers["executions"] += 1
        row.numbers["longest"] = max(row.numbers["longest"], block[1])
        if successor is None:
            row.numbers["unknown_successors"] += 1
        else:
            row.lists["successors"][f"0x{successor:016x}"] += 1
        block = None

    ended, following = True, None
    for event in events:
        if event["type"] == "stamp":
            if breaks_flow(event):
                close(None)
                ended = True
            continue
        if "ea" not in event or "op" not in event:
            close(None)
            ended = True
            continue
        ea = int(event["ea"], 16)
        if ended or ea != following:
            close(ea)
            block = [ea, 0]
        block[1] += 1
        following = ea + len(event["op"]) // 2
        ended = len(event["op"]) == 8 and is_branch(int(event["op"], 16))
    close(None)
    return full


def core_data(events, kind, unit, symbols):
    full = collections.defaultdict(Row)
    without = 0
    for event in events:
        if event["type"] != "instruction":
            continue
        for access in event.get("data", []):
            address = access.get(kind)
            if address is None:
                without += 1
                continue
            row = full[f"0x{int(address, 16) & ~(unit - 1):016x}"]
            row.numbers["accesses"] += 1
            for name in ("load", "store", "atomic"):
                row.numbers[name + "s"] += event["class"] == name
            if "ea" in event:
                ea = int(event["ea"], 16)
                row.lists["sites"][symbols.find(ea) or f"{ea & ~127:016x}"] += 1
    return full, without


def core_code(events, symbols):
    full = collections.defaultdict(Row)
    for event in events:
        if event["type"] == "instruction" and "ea" in event:
            ea = int(event["ea"], 16)
            row = full[symbols.find(ea) or f"{ea & ~127:016x}"]
            row.numbers["instructions"] += 1
            row.numbers["data_accesses"] += len(event.get("data", []))
    return full


def site_name(each):
    return each["symbol"] or each["ea"][2:]


TABLE = re.compile(r"^hot data by (\w+) address, units of (\d+ \w+)(?: \(constant memory: .* at most (\d+)\))?$")
TEXT_ROW = re.compile(r"^ +(\d+) +[\d.]+% +(\d+) +(\d+) +(\d+)  (\w{16})  \S{16}(?:  (.*?))?(?:  in .*)?$")
UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def text_tables(text):
    """Yields kind, unit, error and rows of each table of data."""
    table = None
    for line in text.splitlines():
        heading = TABLE.match(line)
        if heading:
            number, unit = heading[2].split()
            table = (heading[1], int(number) * UNITS[unit], int(heading[3] or 0), [])
            yield table
        elif table and not line:
            table = None
        elif table and (row := TEXT_ROW.match(line)):
            table[3].append({"address": "0x" + row[5], "accesses": int(row[1]), "loads": int(row[2]),
                             "stores": int(row[3]), "atomics": int(row[4]), "sites": row[6] or ""})


def check_core(trace, symbol_file):
    events = decoded("--stamps", trace)
    symbols = Symbols(symbol_file)
    named = ["--kallsyms", symbol_file] if symbol_file else []
    keys = {"logical": "la", "real": "ra", "effective": "ea"}
    numbers = ("loads", "stores", "atomics")
    sites = ("touched_by", "touched_by_others", "accesses", site_name)
    limited = 0
    units = (128, 4096, 65536)
    unit_list = ",".join(map(str, units))
    for kind, key in keys.items():
        full = {unit: core_data(events, key, unit, symbols) for unit in units}
        for entries, top in ((1 << 20, 7), (1 << 20, 1000000), (16, 1000000), (64, 5), (300, 20)):
            options = [*named, "--address", kind, "--unit", unit_list, "--entries", str(entries), "--top", str(top)]
            report = json.loads(run("report", "--format", "json", *options, trace))
            for table in report["data"]:
                rows, without = full[table["unit_bytes"]]
                what = f"{trace} {kind} {table['unit_bytes']} entries {entries} top {top}"
                error = table["error"]
                limited += error != 0
                check(report["data_without_address"] == without, what, "without address")
                check_table(what, table["top"], lambda row: row["address"], "accesses", numbers, rows, error, top)
                for row in table["top"]:
                    counts = rows[row["address"]].lists["sites"]
                    known = row["accesses"] - (rows[row["address"]].numbers["accesses"] - sum(counts.values()))
                    check_list(f"{what} {row['address']} touched by", *json_list(row, *sites), counts, known, top, error)
            code = report["code"]
            full_code = core_code(events, symbols)
            check_table(f"{trace} code entries {entries}", code["top"], site_name, "instructions", ("data_accesses",),
                        full_code, code["error"], top)
            tables = list(text_tables(run("report", *options, trace)))
            check([table[1] for table in tables] == list(units), "tables of the text", tables)
            for (_, unit, error, rows), from_json in zip(tables, report["data"]):
                what = f"{trace} text {kind} {unit} entries {entries}"
                check(error == from_json["error"] and len(rows) == len(from_json["top"]), what, "differs from JSON")
                check_table(what, rows, lambda row: row["address"], "accesses", numbers, full[unit][0], error, top)
                for row in rows:
                    counts = full[unit][0][row["address"]].lists["sites"]
                    known = row["accesses"] - (full[unit][0][row["address"]].numbers["accesses"] - sum(counts.values()))
                    check_list(f"{what} {row['address']} touched by", *text_list(row["sites"]), counts, known, 4, error)
    full = core_blocks(events)
    successors = ("successors", "other_successors", "executions", lambda each: each["ea"])
    for entries, top in ((1 << 20, 7), (1 << 20, 1000000), (16, 1000000), (64, 5), (300, 20)):
        options = [*named, "--blocks", "--entries", str(entries), "--top", str(top)]
        report = json.loads(run("report", "--format", "json", *options, trace))
        what = f"{trace} blocks entries {entries} top {top}"
        error = report["error"]
        limited += error != 0
        check(report["executions"] == sum(row.numbers["executions"] for row in full.values()), what, "executions")
        check_table(what, report["blocks"], lambda row: row["ea"], "instructions",
                    ("executions", "unknown_successors"), full, error, top)
        for row in report["blocks"]:
            check(row["longest"] <= full[row["ea"]].numbers["longest"], what, row["ea"], "longest")
            check_list(f"{what} {row['ea']} successors", *json_list(row, *successors),
                       full[row["ea"]].lists["successors"], row["executions"] - row["unknown_successors"], top, error)
    return limited


# Bus traces

def source_name(event):
    return f"g{event['group']}.c{event['chip']}.{event['unit_name']}:{event['unit']:03x}"


def command_name(event):
    return event.get("command", f"{event['ttype']:02x}{event['tsize']:02x}")


def nest_rows(events, kind, unit):
    full = collections.defaultdict(Row)
    for event in events:
        if event["type"] != "command" or kind not in event:
            continue
        row = full[f"0x{int(event[kind], 16) & ~(unit - 1):016x}"]
        row.numbers["commands"] += 1
        row.numbers["retries"] += "rty" in event.get("response", "")
        row.lists["from"][source_name(event)] += 1
        row.lists["by"][command_name(event)] += 1
    return full


NEST_TABLE = re.compile(
    r"^hot (\w+) addresses on the bus, units of (\d+) bytes(?: \(constant memory: .* at most (\d+)\))?$")
NEST_ROW = re.compile(r"^ +(\d+) +[\d.]+% +(\d+)  (\w{16})  ([^;]*); (.*?)(?:  in .*)?$")


def nest_tables(text):
    table = None
    for line in text.splitlines():
        heading = NEST_TABLE.match(line)
        if heading:
            table = (int(heading[2]), int(heading[3] or 0), [])
            yield table
        elif table and (row := NEST_ROW.match(line)):
            table[2].append({"address": "0x" + row[3], "commands": int(row[1]), "retries": int(row[2]),
                             "from": row[4], "by": row[5]})


def check_chips(what, report, events):
    counts = collections.Counter(f"g{event['group']}.c{event['chip']}" for event in events if event["type"] == "command")
    check(report["all_commands"] == sum(counts.values()), what, "all commands")
    shown = {each["chip"]: each["commands"] for bus in report["buses"] for each in bus["from"]}
    check(shown == dict(counts), what, "commands by chip", shown, dict(counts))


def check_nest(trace, layout):
    events = decoded("--layout", layout, trace)
    limited = 0
    name = lambda each: each["name"]
    units = (64, 128, 4096, 1 << 28)
    for kind, key in (("logical", "la"), ("real", "ra")):
        full = {unit: nest_rows(events, key, unit) for unit in units}
        for entries, top in ((1 << 20, 3), (1 << 20, 1000000), (16, 1000000), (16, 5)):
            options = ["--layout", layout, "--address", kind, "--unit", ",".join(map(str, units)), "--entries",
                       str(entries), "--top", str(top)]
            report = json.loads(run("report", "--format", "json", *options, trace))
            check_chips(trace, report, events)
            with_address = [event for event in events if event["type"] == "command" and "ra" in event]
            check(report["commands"] == len(with_address), trace, "commands with an address")
            tables = list(nest_tables(run("report", *options, trace)))
            check([table[0] for table in tables] == list(units), "tables of the text")
            for table, (_, text_error, text_rows) in zip(report["tables"], tables):
                rows, error = full[table["unit_bytes"]], table["error"]
                limited += error != 0
                what = f"{trace} {kind} {table['unit_bytes']} entries {entries} top {top}"
                check(text_error == error and len(text_rows) == len(table["top"]), what, "text differs from JSON")
                for form, found in (("json", table["top"]), ("text", text_rows)):
                    check_table(f"{what} {form}", found, lambda row: row["address"], "commands", ("retries",), rows,
                                error, top)
                    for row in found:
                        for column in ("from", "by"):
                            parts = (json_list(row, column, column + "_others", "commands", name) if form == "json"
                                     else text_list(row[column]))
                            check_list(f"{what} {form} {row['address']} {column}", *parts,
                                       rows[row["address"]].lists[column], row["commands"],
                                       top if form == "json" else 4, error)
            for row in report.get("partitions", []):
                for column in ("from", "by"):
                    shown = sum(each["commands"] for each in row[column]) + row[column + "_others"]["commands"]
                    check(shown == row["commands"], trace, "partition", row["partition"], column)
    return limited


def main():
    global htmtrace
    kind, htmtrace, trace, argument = sys.argv[1:]
    try:
        limited = check_core(trace, argument if argument != "-" else None) if kind == "core" else check_nest(
            trace, argument)
    except AssertionError as failure:
        print(failure)
        return 1
    print(f"{trace}: equal, {limited} tables with a bound")
    return 0


sys.exit(main())
