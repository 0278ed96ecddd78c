#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The tables of docs/records.md come from sim/base/events.def.

usage: records_doc.py [--write] SOURCE
"""
import os
import re
import sys

BEGIN, END = "<!-- from sim/base/events.def -->", "<!-- end -->"
TYPES = {"g": "a goroutine", "m": "an M", "p": "a P", "ns": "a length, ns", "when": "a moment, ns",
         "value": "a number of the program", "number": "a number", "count": "a number",
         "n16": "a number", "flag": "true or false", "cpu": "a CPU of the host",
         "fd": "a descriptor", "func": "a function, by name", "group": "a group, by name",
         "span": "a span, by name", "text": "a text", "pc": "a line of the scenario",
         "wait": "Go's wait reason"}


def strings(text):
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text))


def tables(source):
    with open(os.path.join(source, "sim/base/events.def"), encoding="utf-8") as f:
        text = re.sub(r"/\*(?! ----).*?\*/", "", f.read(), flags=re.S)
    enums = {name: (strings(what), re.findall(r'\(\w+, "([^"]*)"\)', body)) for name, what, body in
             re.findall(r'ENUM\((\w+), ("[^"]*"),((?:\s*\([^)]*\))*)', text)}
    lines = []
    item = re.compile(r'/\* ---- (.*?) ---- \*/|EVENT(_G)?\(\w+, (\w+),\s*'
                      r'((?:"(?:[^"\\]|\\.)*"\s*)+),((?:\s*\([^)]*\))*)')
    for head, of_g, name, what, body in item.findall(text):
        if head:
            lines += ["", f"## {head[0].upper()}{head[1:]}", "",
                      "| event | what happened | fields |", "|---|---|---|"]
        elif name not in ("name", "none"):
            fields = [("line" if t == "pc" else n, t) for t, n in
                      re.findall(r"\(\w+, (\w+), (\w+)\)", body)]
            told = ", ".join(f"`{n}` {TYPES.get(t) or enums[t][0]}" for n, t in fields)
            whose = "goroutine: " if of_g else ""
            lines.append(f"| `{name}` | {whose}{strings(what)} | {told} |")
    lines += ["", "## Words", "", "| field of kind | is one of |", "|---|---|"]
    lines += [f"| {what} | {', '.join(f'`{w}`' for w in words)} |"
              for what, words in enums.values()]
    return "\n".join(lines).strip() + "\n"


def main():
    write = "--write" in sys.argv
    source = sys.argv[-1]
    path = os.path.join(source, "docs/records.md")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    head, rest = text.split(BEGIN)
    new = head + BEGIN + "\n" + tables(source) + END + rest.split(END)[1]
    if write:
        with open(path, "w", encoding="utf-8") as f:
            f.write(new)
    elif new != text:
        sys.exit("docs/records.md is not what events.def says: tests/cli/records_doc.py --write .")


if __name__ == "__main__":
    main()
