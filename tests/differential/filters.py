# SPDX-License-Identifier: GPL-2.0-or-later
"""Selections of htmtrace-decode(1), applied to the JSON of a whole trace. Random selections hold some events of the
trace, because their values are those of random events."""
import json

ADDRESSES = {"--ea": "ea", "--ra": "ra", "--la": "la"}
DATA_ADDRESSES = {"--dea": "ea", "--dra": "ra", "--dla": "la"}
PRIVILEGES = ("user", "kernel", "hypervisor", "ultravisor")
CLASSES = ("integer", "branch", "load", "store", "atomic", "cache", "sync", "float", "vector", "spr", "system")


def events_of(text):
    return [json.loads(line) for line in text.splitlines()]


def lines_of(events):
    return "".join(json.dumps(event, separators=(",", ":"), ensure_ascii=False) + "\n" for event in events).encode()


def random_range(dice, addresses):
    """FIRST-LAST, START+SIZE or one address, with one of the addresses in it."""
    address = dice.choice(addresses) if addresses else dice.randrange(1 << 64)
    form = dice.randrange(4)
    if form == 0:
        return f"{address:x}"
    if form == 1:
        return f"{address & ~0xffff:x}+64K"
    if form == 2:
        return f"{address:x}-{max(dice.choice(addresses), address) if addresses else address:x}"
    return f"{address >> 32 << 32:x}+{1 << 32:x}"


def holds(ranges, address):
    """Whether one of the ranges, as the option has them, holds the address. An unknown address is in none."""
    if address is None:
        return False
    address = int(address, 16)
    for text in ranges:
        if "+" in text:
            start, size = text.split("+")
            size = int(size[:-1]) << 10 if size.endswith("K") else int(size, 16)
            first, last = int(start, 16), int(start, 16) + size - 1
        else:
            first, last = (int(part, 16) for part in (text.split("-") if "-" in text else (text, text)))
        if first <= address <= last:
            return True
    return False


def window(dice, most):
    first = dice.randint(0, max(most, 1))
    return f"{first}-" if dice.random() < 0.2 else f"{first}-{first + dice.randint(0, max(most // 3, 1))}"


def in_window(text, number):
    first, last = text.split("-")
    return int(first) <= number <= (int(last) if last else number)


def random_core_selection(dice, events):
    """Options of core traces, as a list of pairs."""
    instructions = [event for event in events if event["type"] == "instruction"]
    ticks = sum(event.get("elapsed", 0) for event in events if event["type"] == "stamp")
    marks = [event["value"] for event in events if event.get("kind") == "mark"] or [2748]
    accesses = [access for event in instructions for access in event.get("data", [])]

    def ranges(values):
        return [random_range(dice, values) for _ in range(dice.choice((1, 1, 2)))]

    def condition():
        name = dice.choice([*ADDRESSES, *DATA_ADDRESSES, "--privilege", "--class", "--instructions", "--ticks",
                            "marks"])
        if name in ADDRESSES:
            key = ADDRESSES[name]
            return [(name, text) for text in ranges([int(event[key], 16) for event in instructions if key in event])]
        if name in DATA_ADDRESSES:
            key = DATA_ADDRESSES[name]
            return [(name, text) for text in ranges([int(access[key], 16) for access in accesses if key in access])]
        if name == "--privilege":
            return [(name, ",".join(dice.sample(PRIVILEGES, dice.randint(1, 2))))]
        if name == "--class":
            return [(name, ",".join(dice.sample(CLASSES, dice.randint(1, 4))))]
        if name == "--instructions":
            return [(name, window(dice, len(instructions)))]
        if name == "--ticks":
            return [(name, window(dice, ticks))]
        return [(mark, dice.choice(marks)) for mark in dice.choice((["--from-mark"], ["--to-mark"],
                                                                    ["--from-mark", "--to-mark"]))]

    chosen = {}
    for _ in range(dice.choice((1, 1, 2))):
        for pair in condition():
            chosen.setdefault(pair[0], []).append(pair)
    one_value = ("--privilege", "--class", "--instructions", "--ticks", "--from-mark", "--to-mark")
    pairs = [pair for name, given in chosen.items() for pair in (given[:1] if name in one_value else given)]
    return pairs + random_thinning(dice, len(instructions), ("--first", "--last"))


def random_thinning(dice, events, ends):
    """--every, and one of --first and --last."""
    names = [name for name in ("--every", dice.choice(ends)) if dice.random() < 0.25]
    return [(name, dice.choice((1, 2, 7, max(events // 3, 1)))) for name in names]


def values(pairs, name):
    return [value for key, value in pairs if key == name]


def value(pairs, name, default=None):
    return (values(pairs, name) or [default])[0]


def thinned(pairs, selected):
    selected = selected[::value(pairs, "--every", 1)]
    selected = selected[:value(pairs, "--first", len(selected))]
    last = value(pairs, "--last")
    return selected if last is None else selected[-last:]


def core_matches(pairs, event):
    for name, key in ADDRESSES.items():
        if values(pairs, name) and not holds(values(pairs, name), event.get(key)):
            return False
    wanted = {key: values(pairs, name) for name, key in DATA_ADDRESSES.items() if values(pairs, name)}
    if wanted and not any(all(holds(ranges, access.get(key)) for key, ranges in wanted.items())
                          for access in event.get("data", [])):
        return False
    for name, key in (("--privilege", "privilege"), ("--class", "class")):
        if values(pairs, name) and event.get(key) not in value(pairs, name).split(","):
            return False
    return True


def select_core(pairs, events):
    """The selected instructions of one trace with all its stamps."""
    selected, number, ticks = [], 0, 0
    from_mark, to_mark = value(pairs, "--from-mark"), value(pairs, "--to-mark")
    open_, over = from_mark is None, False
    for event in events:
        if event["type"] == "stamp":
            ticks += event.get("elapsed", 0)
            if event["kind"] == "mark" and not over:
                if not open_:
                    open_ = event["value"] == from_mark
                elif event["value"] == to_mark:
                    open_, over = False, True
            continue
        if (open_ and in_window(value(pairs, "--instructions", "0-"), number) and
                in_window(value(pairs, "--ticks", "0-"), ticks) and core_matches(pairs, event)):
            selected.append(event)
        number += 1
    return thinned(pairs, selected)


def random_nest_selection(dice, events):
    commands = [event for event in events if event["type"] == "command"]
    times = [event["time"] for event in events]
    pairs = []
    for name in dice.sample(("--ra", "--la", "--ticks", "--command"), dice.choice((1, 1, 2))):
        if name == "--ticks":
            first, last = sorted(dice.choices(times or [0], k=2))
            pairs.append((name, f"{first}-{last}"))
        elif name == "--command":
            known = sorted({event["command"] for event in commands if "command" in event}) or ["rd_go_s"]
            pairs.append((name, ",".join(dice.sample(known, min(len(known), 3)))))
        else:
            key = ADDRESSES[name]
            pairs.append((name, random_range(dice, [int(event[key], 16) for event in commands if key in event])))
    return pairs + random_thinning(dice, len(commands), ("--first",))


def select_nest(pairs, events):
    """The selected commands. A response without its command matches only a window of time."""
    def matches(event):
        return (in_window(value(pairs, "--ticks", "0-"), event["time"]) and
                all(holds(values(pairs, name), event.get(key)) for name, key in ADDRESSES.items()
                    if values(pairs, name)) and
                (not values(pairs, "--command") or event.get("command") in value(pairs, "--command").split(",")))

    return thinned(pairs, [event for event in events if event["type"] != "stamp" and matches(event)])
