# SPDX-License-Identifier: GPL-2.0-or-later
"""query.py ports | COMMAND ARGUMENT... URL: asks Prometheus, and compares its answers.

ports           prints two free ports of the loopback interface
running N       waits until Prometheus has seen N different states of a running recorder
ended           waits until Prometheus has seen the end of the recording
monotonic       no counter decreased
readable        node_exporter could read the file at each scrape
equal TEXT DIR  the histograms and counters equal DIR/dtl.oracle.CPU, up to the last entry of TEXT
rules           all alert rules are evaluated without an error
"""
import collections
import json
import re
import socket
import struct
import sys
import time
import urllib.parse
import urllib.request

HZ = 512_000_000
BOUNDS_NS = [10**3, 10**4, 10**5, 5 * 10**5, 10**6, 2 * 10**6, 5 * 10**6, 10**7, 2 * 10**7, 5 * 10**7, 10**8, 10**9]
WAITS = ["enqueue_to_dispatch", "ready_to_enqueue", "waiting_to_ready"]
PREEMPT = {2: "H_CEDE", 3: "H_CONFER", 4: "time_slice", 6: "virtual_memory_page_fault"}
DISPATCH = {0: "external_interrupt", 2: "H_PROD", 3: "decrementer_interrupt", 6: "conferred_cycles", 7: "time_slice",
            8: "virtual_memory_page_fault", 10: "priv_doorbell"}
COUNTERS = '{__name__=~"htmtrace_dtl_.*_(total|bucket|count|sum)"}'  # every series that may only increase


def ask(url, path, **parameters):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"{url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}", timeout=10) as answer:
        return json.load(answer)["data"]


def query(url, expression):
    """Returns the labels and the value of each sample of an instant query."""
    return [(sample["metric"], float(sample["value"][1]))
            for sample in ask(url, "query", query=expression)["result"]]


def wait_for(url, expression, enough):
    values = []
    for _ in range(100):
        values = [value for _, value in query(url, expression)]
        if values and enough(values[0]):
            return
        time.sleep(0.2)
    sys.exit(f"{expression} is {values}")


def print_ports():
    sockets = [socket.socket() for _ in range(2)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    print(*(each.getsockname()[1] for each in sockets))


def oracle_entries(path, first, last):
    """Returns the entries of the log that contains the timebase `first`, up to the timebase `last`."""
    log = []
    data = open(path, "rb").read()
    for offset in range(0, len(data), 48):
        entry = struct.unpack_from(">BBHIIIQ", data, offset)
        if entry[0] == 0xff:
            if any(each[6] == first for each in log):
                break
            log = []
        else:
            log.append(entry)
    if not any(each[6] == first for each in log):
        sys.exit(f"{path} has no entry {first}")
    return [entry for entry in log if entry[6] <= last]


def expected_samples(text, folder):
    times = collections.defaultdict(list)
    for line in open(text):
        times[int(line[1:line.index("]")])].append(int(re.search("timebase:([0-9]+)", line)[1]))
    samples, ticks = collections.Counter(), collections.Counter()
    for cpu, recorded in times.items():
        entries = oracle_entries(f"{folder}/dtl.oracle.{cpu}", recorded[0], recorded[-1])
        print(f"CPU {cpu}: {len(entries)} entries of the hypervisor")
        for dispatch, preempt, _, *waits, _ in entries:
            samples["dispatches_total", cpu, DISPATCH[dispatch]] += 1
            ticks["stolen_seconds_total", cpu] += waits[0] + waits[1]
            ticks["ready_seconds_total", cpu] += waits[1]
            ticks["blocked_seconds_total", cpu] += waits[2]
            for name, wait in zip(WAITS, waits):
                for bound in BOUNDS_NS:
                    samples[f"{name}_seconds_bucket", cpu, PREEMPT[preempt], bound / 1e9] += wait * 10**9 <= bound * HZ
                samples[f"{name}_seconds_bucket", cpu, PREEMPT[preempt], float("inf")] += 1
                samples[f"{name}_seconds_count", cpu, PREEMPT[preempt]] += 1
                ticks[f"{name}_seconds_sum", cpu, PREEMPT[preempt]] += wait
    # htmtrace rounds times down to whole nanoseconds.
    return dict(samples) | {key: f"{value * 10**9 // HZ} ns" for key, value in ticks.items()}


def found_samples(url):
    found = {}
    for labels, value in query(url, '{__name__=~"htmtrace_dtl_(dispatches_total|.*_seconds_(total|bucket|count|sum))"}'):
        key = [labels["__name__"].removeprefix("htmtrace_dtl_"), int(labels["cpu"])]
        key += [labels[name] for name in ("preempt_reason", "dispatch_reason") if name in labels]
        key += [float(labels["le"])] if "le" in labels else []
        found[tuple(key)] = f"{round(value * 1e9)} ns" if "_seconds_sum" in key[0] or "_seconds_total" in key[0] else value
    return found


def compare(url, text, folder):
    expected, found = expected_samples(text, folder), found_samples(url)
    for key in sorted(expected.keys() | found.keys(), key=str):
        if expected.get(key) != found.get(key):
            print(key, "expected", expected.get(key), "found", found.get(key))
    print(f"{len(expected)} samples expected, {len(found)} found")
    if expected != found or len(found) < 200:
        sys.exit(1)


def check_rules(url):
    rules = [rule for group in ask(url, "rules")["groups"] for rule in group["rules"]]
    print(*((rule["name"], rule["health"], rule.get("lastError")) for rule in rules), sep="\n")
    if len(rules) != 5 or any(rule["health"] != "ok" for rule in rules):
        sys.exit(1)


def check_monotonic(url):
    # resets() drops the name of the metric, so each query asks for one metric.
    names = {labels["__name__"] for labels, _ in query(url, COUNTERS)}
    if len(names) < 15:
        sys.exit(f"{names}")
    for name in names:
        none_above_zero(url, f"resets({name}[10m])")


def none_above_zero(url, expression):
    samples = query(url, expression)
    print(f"{expression}: {len(samples)} series")
    bad = [sample for sample in samples if sample[1] != 0]
    if bad or not samples:
        sys.exit(f"{bad}")


def main(command, *arguments):
    if command == "ports":
        return print_ports()
    *arguments, url = arguments
    if command == "running":
        wait_for(url, "max_over_time(htmtrace_dtl_running[10m])", lambda value: value == 1)
        return wait_for(url, 'changes(htmtrace_dtl_home_dispatches_total{cpu="0"}[10m])',
                        lambda value: value >= int(arguments[0]))
    if command == "ended":
        return wait_for(url, "htmtrace_dtl_running", lambda value: value == 0)
    if command == "monotonic":
        return check_monotonic(url)
    if command == "readable":
        return none_above_zero(url, "max_over_time(node_textfile_scrape_error[10m])")
    if command == "equal":
        return compare(url, *arguments)
    return check_rules(url)


if __name__ == "__main__":
    main(*sys.argv[1:])
