# SPDX-License-Identifier: GPL-2.0-or-later
"""Text and CSV from the JSON events of a trace. htmtrace-decode(1), OUTPUT."""

STAMP_LOSSES = ("records_dropped", "record_counter_overflow", "marker_dropped", "response_dropped", "trigger_dropped",
                "trace_full", "elapsed_overflow", "unknown_indication")


def digits(address):
    return address[2:] if address else "-" * 16


def csv_of(trace_type, events):
    """Stamps and records without a known layout are not in CSV. No field but the modes has a comma."""
    rows = (core_rows if trace_type == "core" else nest_rows)(events)
    return "".join(",".join(map(str, row)) + "\n" for row in rows).encode()


def core_rows(events):
    access_names = ("dea", "dra", "dla")
    yield ("target", "offset", "ea", "op", "ra", "la", "class", "privilege", "modes", *access_names,
           *(name + "2" for name in access_names))
    for event in events:
        if event["type"] != "instruction":
            continue
        accesses = (event.get("data", []) + [{}, {}])[:2]
        yield (event["target"], event["offset"],
               *(event.get(key, "") for key in ("ea", "op", "ra", "la", "class", "privilege")),
               f'"{event["modes"]}"' if "modes" in event else "",
               *(access.get(key, "") for access in accesses for key in ("ea", "ra", "la")))


def nest_rows(events):
    names = ("target", "offset", "time", "engine", "kind", "name", "ra", "la", "scope", "port", "group", "chip", "unit",
             "unit_name", "transaction", "ticket", "tsize", "response")
    yield names
    for event in events:
        if event["type"] not in ("command", "response"):
            continue
        row = {**event, "kind": event["type"], "name": event.get("command", "")}
        if event["type"] == "command" and "command" not in event:
            row["name"] = f"{event['ttype']:02x}{event['tsize']:02x}"
        if "response" not in event and "response_code" in event:
            row["response"] = f"{event['response_code']:02x}"
        yield tuple(row.get(name, "") for name in names)


def text_of(_, events):
    return "".join(line_of(event) + "\n" for event in events).encode()


def plain_text_of(_, events):
    """Without stamps and modes."""
    return "".join(line_of(event).partition(" privilege=")[0] + "\n"
                   for event in events if event["type"] != "stamp").encode()


def line_of(event):
    if event["type"] == "instruction":
        return instruction_line(event)
    if event["type"] == "stamp":
        place = f"time={event['time']} engine={event['engine']} " if "engine" in event else ""
        return place + stamp_line(event)
    place = f"time={event['time']} engine={event['engine']}"
    if event["type"] == "record":
        return f"{place} record={event['record']}"
    return f"{place} {command_line(event)}"


def instruction_line(event):
    line = f"ea={digits(event.get('ea'))} op={event.get('op', '-' * 8)} ra={digits(event.get('ra'))} " \
           f"la={digits(event.get('la'))}"
    for access in event.get("data", []):
        line += "".join(f" d{key}={digits(access.get(key))}" for key in ("ea", "ra", "la"))
    return f"{line} privilege={event.get('privilege', 'unknown')} modes={event.get('modes') or '-'}"


def stamp_line(event):
    line = f"stamp kind={event['kind']} word={event['word'][2:]}"
    for key in ("counter", "elapsed", "group", "chip", "unit", "value", "timer", *STAMP_LOSSES):
        if key in event:
            line += f" {key}" if event[key] is True else f" {key}={event[key]}"
    return line


def command_line(event):
    response = event.get("response") or (f"{event['response_code']:02x}" if "response_code" in event else "-")
    if event["type"] == "response":
        return f"command=- scope={event['scope']} port={event['port']} group={event['group']} chip={event['chip']} " \
               f"ticket={event['ticket']:02x} response={response}"
    name = event.get("command") or f"{event['ttype']:02x}{event['tsize']:02x}"
    return f"command={name} ra={digits(event.get('ra'))} la={digits(event.get('la'))} scope={event['scope']} " \
           f"port={event['port']} group={event['group']} chip={event['chip']} ticket={event['ticket']:02x} " \
           f"unit={event['unit']:03x}:{event['unit_name']} transaction={event['transaction']:02x} " \
           f"tsize={event['tsize']:02x} response={response}"
