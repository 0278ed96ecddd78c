#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the tables of statements (scenarios/stmt_*.c) say, in the schema and the manual.

usage: language.py [--write] GMPSIM

Without --write: exit status 1 if scenarios/schema.json or docs/scenarios.md does not say what
`gmpsim scenarios language --json` does. Run in the top folder of the tree.
"""
import json
import pathlib
import subprocess
import sys

SCHEMA, MANUAL = pathlib.Path("scenarios/schema.json"), pathlib.Path("docs/scenarios.md")
HEAD, TAIL = "## Statements\n\nA statement is an object whose first key is its name.\n", \
    "\n## What must hold\n"
TRUE, TEXT = {"const": True}, {"type": "string"}
NAMED = {"name": "name", "value": "value", "object": "operand", "amount": "amount",
         "bytes": "bytes", "block": "block", "callee": "callee", "function": "funcname",
         "arguments": "args", "argument": "value", "shape": "object"}
ARM = {"type": "object",
       "properties": {"weight": {"type": "integer", "minimum": 0},
                      "do": {"$ref": "#/definitions/block"}},
       "required": ["do"], "additionalProperties": False}
PLAIN = {
    "true": TRUE, "bool": {"type": "boolean"}, "text": TEXT,
    "label": {"type": "string", "pattern": "^[^\\u0000-\\u001f\\u007f]*$"},
    "status": {"type": "integer", "minimum": 0, "maximum": 255},
    "rounds": {"anyOf": [{"$ref": "#/definitions/value"}, {"const": "forever"}]},
    "result": {"anyOf": [{"$ref": "#/definitions/value"}, {"type": "null"}]},
    "reason": {"type": ["string", "integer"]},
    "arms": {"type": "array", "items": ARM},
    "cases": {"type": "array", "items": {"$ref": "#/definitions/case"}},
}


def schema_of(field):
    if "words" in field:
        return {"enum": field["words"]}
    if field["kind"] in NAMED:
        return {"$ref": "#/definitions/" + NAMED[field["kind"]]}
    return PLAIN[field["kind"]]


def statement_schema(s):
    properties = {s["word"]: None, "why": TEXT}
    for f in s["fields"]:
        properties[f["key"]] = schema_of(f)
    return {"description": s["what"].replace("`", ""), "type": "object", "properties": properties,
            "required": [f["key"] for f in s["fields"] if f["needed"] or f["key"] == s["word"]],
            "additionalProperties": False}


def layout(v, indent=0):
    """On one line where it fits."""
    one = json.dumps(v, ensure_ascii=False)
    if len(one) + indent <= 96 or not isinstance(v, (dict, list)) or not v:
        return one
    pad, end = "\n" + " " * (indent + 2), "\n" + " " * indent
    if isinstance(v, dict):
        rows = [json.dumps(k, ensure_ascii=False) + ": " + layout(x, indent + 2)
                for k, x in v.items()]
        return "{" + pad + ("," + pad).join(rows) + end + "}"
    return "[" + pad + ("," + pad).join(layout(x, indent + 2) for x in v) + end + "]"


def with_statements(schema, language):
    every = [s for g in language for s in g["statements"]]
    schema["definitions"]["statement"] = {
        "anyOf": [statement_schema(s) for s in sorted(every, key=lambda s: s["word"])]}
    return layout(schema) + "\n"


def with_tables(manual, language):
    begin, end = manual.index(HEAD) + len(HEAD), manual.index(TAIL)
    out = []
    for g in language:
        out.append(f"\n### {g['group']}\n\n| statement | example | |\n|---|---|---|\n")
        out += [f"| `{s['word']}` | `{s['example']}` | {s['what']} |\n" for s in g["statements"]]
    return manual[:begin] + "".join(out) + manual[end:]


def main():
    write, gmpsim = sys.argv[1] == "--write", sys.argv[-1]
    text = subprocess.run([gmpsim, "scenarios", "language", "--json"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    language, bad = json.loads(text), 0
    for path, new in ((SCHEMA, with_statements(json.loads(SCHEMA.read_text()), language)),
                      (MANUAL, with_tables(MANUAL.read_text(), language))):
        if write:
            path.write_text(new)
        elif path.read_text() != new:
            print(f"{path} is not up to date: tests/scenarios/language.py --write GMPSIM")
            bad = 1
    sys.exit(bad)


main()
