#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal: docs/schema/COMMAND.json is true of what every command prints with --json. Method: outputs
of many scenarios and options are validated; and the schemas are as strict as they can be: one with
a field less, a field more or another type is refused.

usage: schema.py GMPSIM [--write]      --write: docs/schema/ becomes what these outputs have
"""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fields  # noqa: E402

GMPSIM = os.path.abspath(sys.argv[1])
ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
FOLDER = os.path.join(ROOT, "docs", "schema")
# Objects whose keys are names of the program, of Go or of a counter: their values are alike.
BY_NAME = set("""spans groups series ranges counters p_ns events_by_kind wire_events g_transitions
    p_transitions block_reasons stop_reasons metrics region_begins task_begins log_categories
    waiting_by_reason_ns parts concluded""".split())
USERS = {"scenario"}  # documents of the user's, if they are objects
EVERYDAY = ["worker-pool", "deadlock", "http-service", "rate-limiter", "mutex-contention"]


def outputs():
    """(schema, arguments) in an order in which later ones find the files of earlier ones; without
    a schema it is run for its files."""
    library = os.path.join(ROOT, "scenarios")
    files = [os.path.join(library, "everyday", n + ".json") for n in EVERYDAY]
    files = [f for f in files if os.path.exists(f)]
    for folder in ("basics", "history", "threads", "gc"):
        files += [os.path.join(library, folder, n)
                  for n in sorted(os.listdir(os.path.join(library, folder))) if n.endswith(".json")]
    kernel = os.path.join(library, "kernels", "etcd-7492.json")
    fixed = os.path.join(library, "kernels", "etcd-7492-fixed.json")
    service = files[0]
    for file in files:
        yield "run", ["run", file, "--until", "50ms"]
    yield "run", ["run", service, "--host", "threads", "--until", "20ms"]
    yield "run", ["run", service, "--quota", "0.5", "--runs", "2", "--db", "x.db"]
    yield "whatif", ["whatif", service, "--procs", "1,2", "--runs", "2", "--journal", "x.j"]
    yield "whatif", ["whatif", service, "--procs", "1,2", "--quota", "1,none", "--runs", "2"]
    for promise in "request:p50<5ms", "request:p50<1us":
        yield "whatif-capacity", ["whatif", os.path.join(library, "everyday", "http-service.json"),
                                  "--capacity", promise, "--runs", "2", "--until", "2ms"]
    yield "merge", ["merge", "x.j"]
    yield "inspect", ["inspect", service, "--at", "50us"]
    yield "inspect", ["inspect", files[1], "--at", "1ms"]
    yield "diff", ["diff", "x.db", "1", "2"]
    yield "diff", ["diff", "x.db", "1", "1"]
    yield "db-list", ["db", "list", "x.db"]
    yield "db", ["db", "check", "x.db"]
    yield "db", ["db", "vacuum", "x.db"]
    yield "plot", ["plot", "x.db", "runq"]
    yield "whatif", ["whatif", service, "--runs", "1", "--db", "x.db"]
    yield "plot", ["plot", "x.db", "whatif"]
    yield "report", ["report", "x.db"]
    yield "doctor", ["doctor"]
    yield "calibrate", ["calibrate", "--samples", "20"]
    yield "explore", ["explore", kernel, "--schedule", "x.schedule"]
    yield "explore", ["explore", fixed, "--runs", "20"]
    for i, file in enumerate((kernel, fixed)):
        search = ["explore", file, "--seeds", "1-4", "--runs", "3", "--journal", f"e{i}.j"]
        yield "explore", search
        yield "merge-search", ["merge", f"e{i}.j"]
    yield "explore", ["explore", service, "--until", "1ms", "--runs", "2"]
    for name in ("cockroach-584", "grpc-795", "moby-4395"):
        for ending in ("", "-fixed"):
            yield "explore", ["explore", os.path.join(library, "kernels", name + ending + ".json"),
                              "--runs", "100"]
    for name in ("wrk.txt", "vegeta.json", "prom.txt", "schedtrace-1.26.txt", "metrics-1.27.txt"):
        yield "fit", ["fit", os.path.join(ROOT, "tests", "fuzz", "corpus", "measured", name)]
    yield "replay", ["replay", "x.schedule"]
    yield "shrink", ["shrink", "x.schedule"]
    yield "run", ["run", service, "--gotrace", "x.trace"]
    yield "trace-info", ["trace", "info", "x.trace"]
    yield "replay-trace", ["replay", "x.trace"]
    yield "replay-trace", ["replay", "x.trace", "--procs", "2"]
    yield "run", ["run", "x.trace"]
    yield "whatif", ["whatif", "x.trace", "--procs", "1,2", "--runs", "2", "--anyway"]
    recorded = os.path.join(ROOT, "tests", "fuzz", "corpus", "recorded")
    for name in sorted(os.listdir(recorded)):
        yield "trace-info", ["trace", "info", os.path.join(recorded, name)]
    yield "stress", ["stress", service, "--runs", "2"]
    yield "validate", ["validate", kernel, os.path.join(library, "basics", "ping-pong.json"),
                       "--runs", "3", "--anyway"]
    yield "scenarios-list", ["scenarios", "list", service]
    yield "scenarios-check", ["scenarios", "check", service, files[1]]
    yield None, ["scenarios", "check", service, files[1], "--shard", "1/1", "--journal", "c.j"]
    yield "merge-check", ["merge", "c.j"]
    yield "scenarios-show", ["scenarios", "show", service, files[1]]
    yield "scenarios-gen-go", ["scenarios", "gen-go", service]
    yield "scenarios-language", ["scenarios", "language"]
    yield "query", ["query", "x.db", "SELECT id, scenario, NULL AS sched2, 0.5 AS half FROM runs"]
    if os.environ.get("GO"):  # its library is compiled for it, which takes minutes
        yield "record", ["record", "--shallow", "--", os.environ["GO"], "run", "."]


# ---- what values have in common --------------------------------------------------

def kind_of(value):
    for kind, types in (("boolean", bool), ("integer", int), ("number", float), ("string", str),
                        ("array", list), ("object", dict)):
        if isinstance(value, types):
            return kind
    return "null"


def schema_of(value, key=""):
    kind = kind_of(value)
    if kind == "object" and key in USERS:
        return {"type": kind}
    if kind == "object" and key in BY_NAME:
        out = {"type": kind}
        for item in value.values():
            out["additionalProperties"] = joined(out.get("additionalProperties"), schema_of(item))
        return out
    if kind == "object":
        always = ["count", "exact"] if "exact" in value and "count" in value else sorted(value)
        return {"type": kind, "properties": {k: schema_of(v, k) for k, v in value.items()},
                "required": always}  # an empty distribution has no more than these two
    if kind == "array":
        out = {"type": kind}
        for item in value:
            out["items"] = joined(out.get("items"), schema_of(item))
        return out
    return {"type": kind}


def kinds(schema):
    return schema["type"] if isinstance(schema["type"], list) else [schema["type"]]


def joined(a, b):
    """Allows what either allows."""
    if a is None or b is None:
        return a or b
    both = sorted(set(kinds(a)) | set(kinds(b)))
    if "number" in both and "integer" in both:
        both.remove("integer")
    out = {"type": both[0] if len(both) == 1 else both}
    for word in ("items", "additionalProperties"):
        if word in a or word in b:
            out[word] = joined(a.get(word), b.get(word))
    if "properties" in a or "properties" in b:
        one, two = a.get("properties", {}), b.get("properties", {})
        out["properties"] = {k: joined(one.get(k), two.get(k)) for k in sorted({**one, **two})}
        those = [set(s["required"]) for s in (a, b) if "required" in s]
        out["required"] = sorted(set.intersection(*those))
    return out


# ---- validation ------------------------------------------------------------------

def real_outputs():
    folder = tempfile.mkdtemp()
    try:
        with open(os.path.join(folder, "main.go"), "w", encoding="utf-8") as f:
            f.write("package main\n\nfunc main() {\n\tc := make(chan int)\n"
                    "\tgo func() { c <- 1 }()\n\t<-c\n}\n")
        with open(os.path.join(folder, "go.mod"), "w", encoding="utf-8") as f:
            f.write("module main\n\ngo 1.19\n")
        for name, args in outputs():
            form = ["--json"] if name is not None else []
            done = subprocess.run([GMPSIM, args[0], *form, *args[1:]], stdout=subprocess.PIPE,
                                  cwd=folder, stderr=subprocess.PIPE, timeout=120, check=False)
            if name == "plot" and b"gnuplot" in done.stderr:
                continue  # not installed here
            if name == "record" and done.returncode != 0:
                continue  # a Go that is too old, or has no cache to build in
            if done.returncode not in (0, 1) and (name, done.returncode) not in (
                    ("calibrate", 4), ("validate", 4)):
                sys.exit("%s: status %d\n%s" % (args, done.returncode, done.stderr.decode()))
            if name is None:
                continue
            yield name, args, json.loads(done.stdout)
    finally:
        shutil.rmtree(folder)


def described(schema):
    """With the meaning of every field."""
    out = dict(schema)
    if "properties" in out:
        out["properties"] = {k: fields.describe(k, described(v))
                             for k, v in out["properties"].items()}
    for word in ("items", "additionalProperties"):
        if word in out:
            out[word] = described(out[word])
    return out


def undescribed(schema, path=""):
    for k, v in schema.get("properties", {}).items():
        if not v.get("description"):
            yield path + "/" + k
        yield from undescribed(v, path + "/" + k)
    for word in ("items", "additionalProperties"):
        if word in schema:
            yield from undescribed(schema[word], path)


def write():
    schemas = {}
    for name, _, value in real_outputs():
        schemas[name] = joined(schemas.get(name), schema_of(value))
    os.makedirs(FOLDER, exist_ok=True)
    # The columns are the user's.
    schemas["query"] = {"type": "array", "items": {"type": "object", "additionalProperties": {
        "type": ["integer", "null", "number", "string"]}}}
    for name, schema in schemas.items():
        head = {"$schema": "http://json-schema.org/draft-07/schema#",
                "title": "gmpsim %s --json" % name.replace("-", " ")}
        with open(os.path.join(FOLDER, name + ".json"), "w", encoding="utf-8") as f:
            f.write(json.dumps({**head, **described(schema)}, indent=1) + "\n")


def unknown(value, schema, path="", key=""):
    """Fields that no schema speaks of: more may come, but not without being written down."""
    if isinstance(value, dict):
        names = schema.get("properties")
        for k, v in value.items():
            if key in USERS:
                continue
            if names is not None and k not in names:
                yield path + "/" + k
            else:
                of = names[k] if names is not None else schema.get("additionalProperties") or {}
                yield from unknown(v, of, path + "/" + k, k)
    elif isinstance(value, list):
        for item in value:
            yield from unknown(item, schema.get("items") or {}, path + "[]")


def spoiled(value, draw):
    """A copy with a field less, or of another type."""
    value = json.loads(json.dumps(value))
    here = value
    while isinstance(here, list) and here:
        here = here[0]
    if not isinstance(here, dict) or not here:
        return None
    key = draw.choice(sorted(here))
    if draw.randrange(2):
        here[key] = {"x": 1} if not isinstance(here[key], dict) else "x"
    else:
        del here[key]
    return value


def check():
    from jsonschema import Draft7Validator
    draw, bad, seen, refused, tried = random.Random(1), 0, set(), 0, 0
    for name, args, value in real_outputs():
        with open(os.path.join(FOLDER, name + ".json"), encoding="utf-8") as f:
            schema = json.load(f)
        validator = Draft7Validator(schema)
        complaints = [e.message[:200] for e in validator.iter_errors(value)]
        complaints += ["no description of " + field for field in undescribed(schema)]
        complaints += ["unknown field " + field for field in sorted(set(unknown(value, schema)))]
        for complaint in complaints[:5]:
            print("%s: %s" % (" ".join(args), complaint))
        bad += bool(complaints)
        seen.add(name + ".json")
        for _ in range(5):
            wrong = spoiled(value, draw)
            if wrong is not None:
                tried += 1
                refused += not validator.is_valid(wrong)
    idle = set(os.listdir(FOLDER)) - seen - {"plot.json", "record.json"}
    print("%d schemas, %d outputs do not hold, %d of %d spoiled ones refused%s" %
          (len(seen), bad, refused, tried, "".join("\nnot checked: " + n for n in sorted(idle))))
    # A field that is not always there may go.
    return 1 if bad or idle or refused < tried * 0.8 else 0


if __name__ == "__main__":
    if "--write" in sys.argv:
        write()
    sys.exit(check())
