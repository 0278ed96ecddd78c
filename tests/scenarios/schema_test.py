#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every shipped scenario against scenarios/schema.json, by a validator that is not ours.

usage: schema_test.py SCENARIOS_FOLDER

Also: the schema refuses what it should refuse, and the examples of docs/scenarios.md are valid.
language.py checks that both say what the compiler does. Exit status 77: no validator (Debian:
python3-jsonschema).
"""
import copy
import json
import pathlib
import re
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: no jsonschema for python3 (Debian's package python3-jsonschema)")
    sys.exit(77)

MINIMAL = {"name": "n", "main": []}
# What a schema can see to be wrong.
WRONG = [
    {"proc": 1}, {"procs": 0}, {"procs": 65001},
    {"expect": {"makespan": "< 5"}}, {"procs": "two"}, {"until": "5"}, {"profile": "go1.12"},
    {"objects": {"c": "channel"}}, {"objects": {"a b": "mutex"}}, {"rules": {"no_such": 1}},
    {"main": [{"gosched": 1}]}, {"main": [{"send": "c", "valu": 1}]}, {"main": [{}]},
    {"main": [{"loop": 3}]}, {"main": [{"cpu": {"exp": "1us", "uniform": ["1us", "2us"]}}]},
    {"main": [{"select": [{"recv": "a", "send": "b"}]}]}, {"main": {}},
    {"expect": {"end": "finish"}}, {"expect": {"counters": {"steals_won": "many"}}},
]


def statements_of_schema(schema):
    statements = {}
    for statement in schema["definitions"]["statement"]["anyOf"]:
        word = statement["required"][0]
        statements[word] = set(statement["properties"]) - {word, "why"}
    return statements


def check_files(folder, validator):
    bad = 0
    files = sorted(folder.glob("*/*.json"))
    for path in files:
        for error in validator.iter_errors(json.loads(path.read_text())):
            print(f"{path}: {'/'.join(map(str, error.absolute_path))}: {error.message[:200]}")
            bad += 1
    print(f"{len(files)} files, {bad} mistakes")
    return bad + (len(files) == 0)


def check_wrong(validator):
    bad = 0
    for change in WRONG:
        if validator.is_valid({**copy.deepcopy(MINIMAL), **change}):
            print(f"the schema lets this pass: {json.dumps(change)}")
            bad += 1
    return bad + (not validator.is_valid(MINIMAL))


def check_document(schema, text):
    """The manual has an example of every statement; each is valid, and so is the complete one."""
    bad, seen = 0, set()
    statement = jsonschema.Draft7Validator({"$ref": "#/definitions/statement",
                                            "definitions": schema["definitions"]})
    for word, example in re.findall(r"^\| `(\w+)` \| `(\{.*?\})` \|", text, re.M):
        seen.add(word)
        for e in json.loads("[" + example + "]"):
            for error in statement.iter_errors(e):
                print(f"docs/scenarios.md: {word}: {error.message[:200]}")
                bad += 1
    for word in set(statements_of_schema(schema)) - seen:
        print(f"docs/scenarios.md: no example of {word}")
        bad += 1
    first = json.loads(re.search(r"```json\n(.*?)```", text, re.S).group(1))
    return bad + (not jsonschema.Draft7Validator(schema).is_valid(first))


def main():
    folder = pathlib.Path(sys.argv[1])
    schema = json.loads((folder / "schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    bad = check_files(folder, validator) + check_wrong(validator)
    bad += check_document(schema, (folder.parent / "docs/scenarios.md").read_text())
    sys.exit(1 if bad else 0)


main()
