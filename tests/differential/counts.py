# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts of a report, from its JSON and from the events of the trace."""
import collections
import json


def of_events(trace_type, events):
    return printed((core_counts if trace_type == "core" else nest_counts)(events))


def core_counts(events):
    instructions = [event for event in events if event["type"] == "instruction"]
    accesses = [access for event in instructions for access in event.get("data", [])]
    return {"instructions": len(instructions),
            "data_accesses": len(accesses),
            "data_without_address": sum("la" not in access for access in accesses),
            "code_without_address": sum(is_unknown(event.get("ea")) for event in instructions),
            "privileges": collections.Counter(event.get("privilege", "unknown") for event in instructions),
            "classes": collections.Counter(event.get("class", "unknown") for event in instructions)}


def is_unknown(ea):
    """Linux does not use these addresses. htmtrace-report(1), NAMES."""
    return ea is None or 0x0010000000000000 <= int(ea, 16) <= 0x0fffffffffffffff


def nest_counts(events):
    commands = [event for event in events if event["type"] == "command"]
    chips = collections.Counter(f"g{event['group']}.c{event['chip']}" for event in commands)
    return {"all_commands": len(commands), "commands": sum("ra" in event for event in commands), "chips": chips}


def of_report(trace_type, text):
    if not text:
        return b""
    report = json.loads(text)
    if trace_type == "core":
        found = {name: report[name] for name in ("instructions", "data_accesses", "data_without_address",
                                                 "code_without_address", "privileges", "classes")}
        for name in ("privileges", "classes"):
            found[name] = {key: count for key, count in found[name].items() if count}
        return printed(found)
    chips = {row["chip"]: row["commands"] for bus in report["buses"] for row in bus["from"]}
    return printed({"all_commands": report["all_commands"], "commands": report["commands"], "chips": chips})


def printed(found):
    return json.dumps(found, sort_keys=True, indent=1).encode()
