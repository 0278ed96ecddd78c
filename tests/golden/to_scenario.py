#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Golden programs (programs/NAME.prog) as scenarios (scenarios/NAME.json).

usage: to_scenario.py [--check] GOLDEN_FOLDER

Each scenario lists the releases that NAME was recorded with, and expects what was recorded.
--check: exit status 1 if a committed scenario is not what its program gives.
What the scenario language has no word for is left out, with the reason on standard error.
"""
import json
import pathlib
import re
import sys

KINDS = {"mutex": "mutex", "rwmutex": "rwmutex", "wg": "waitgroup", "once": "once", "pool": "pool"}
PLAIN = {"gosched": "gosched", "goexit": "goexit", "lockos": "lock_os_thread",
         "unlockos": "unlock_os_thread", "gc": "gc", "break": "break",
         "tracestart": "trace_start", "tracestop": "trace_stop"}
OBJECT = {"close": "close", "lock": "lock", "unlock": "unlock", "rlock": "rlock", "wait": "wait",
          "runlock": "runlock", "wlock": "lock", "wunlock": "unlock", "done": "done",
          "cwait": "wait", "signal": "signal", "broadcast": "broadcast", "cancel": "cancel",
          "stopco": "stop_pull"}
OPENS = ("if", "while", "loop", "forever", "select")


# Its descriptors are ready 0.1 ms after a sleep of 2 ms ends: too close to compare two costs.
LEFT_OUT = ("netpoll_order",)


class Untranslatable(Exception):
    pass


def words_of(line):
    return [m[1] or m[0] if m[0][0] == '"' else m[0]
            for m in re.finditer(r'"([^"]*)"|[^ ]+', line.split("#")[0] if '"' not in line
                                 else line)]


def value(word):
    return int(word) if re.fullmatch(r"-?\d+", word) else word


def duration(word):
    return word if not re.fullmatch(r"\d+", word) else word + "ns"


class Reader:
    def __init__(self, text):
        self.lines = [w for w in map(words_of, text.splitlines()) if w]
        self.at = 0

    def next(self):
        self.at += 1
        return self.lines[self.at - 1]

    def peek(self):
        return self.lines[self.at][0] if self.at < len(self.lines) else "func"


def assigned(statements, names):
    """Names that a block makes, at any depth."""
    for s in statements:
        for key in ("into", "ok", "set", "timer", "ticker", "context", "recover", "pull", "make"):
            if key in s:
                names.append(s[key])
        if "recover" in s:
            names.append(s["value"])
        for key in ("do", "then", "else"):
            if isinstance(s.get(key), list):
                assigned(s[key], names)
        for case in s.get("select", []):
            names.extend(case[k] for k in ("into", "ok") if k in case)
            assigned(case.get("do", case.get("default", [])), names)


def nested(statements):
    names = []
    for s in statements:
        if any(k in s for k in ("do", "then", "select")):
            assigned([s], names)
    return names


def call(verb, words):
    args = {"args": [value(w) for w in words[1:]]} if words[1:] else {}
    return {verb: words[0], **args}


def into(statement, names):
    return {**statement, **dict(zip(("into", "ok"), names))}


def assignment(x, rhs):
    word, rest = rhs[0], rhs[1:]
    if len(rhs) == 3 and rest[0] in "+-*/%":
        return {"set": x, "value": " ".join(rhs)}
    if not rest and word == "leakprofile":
        return {"leak_profile": x}
    if not rest and word not in ("numgoroutine", "now"):
        return {"set": x, "value": value(word)}
    if word in ("len", "cap"):
        return {"set": x, "value": f"{word}({rest[0]})"}
    if word in ("numgoroutine", "now"):
        return {"set": x, "value": word + "()"}
    if word in ("timerc", "ctxdone", "ctxerr"):
        field = {"timerc": "C", "ctxdone": "Done", "ctxerr": "Err"}[word]
        return {"set": x, "value": f"{rest[0]}.{field}"}
    if word in ("trylock", "tryrlock", "trywlock", "stop"):
        return into({word.replace("yw", "y"): rest[0]}, [x])
    if word == "reset":
        return {"reset": rest[0], "after": duration(rest[1]), "into": x}
    if word in ("load", "aload"):
        return {"load": rest[0], "into": x, **({"atomic": True} if word == "aload" else {})}
    if word == "aadd":
        return {"atomic_add": rest[0], "value": value(rest[1]), "into": x}
    if word == "cas":
        return {"cas": rest[0], "old": value(rest[1]), "new": value(rest[2]), "into": x}
    if word == "timer":
        return {"timer": x, "after": duration(rest[0])}
    if word == "afterfunc":
        arg = {"arg": value(rest[2])} if rest[2:] else {}
        return {"after_func": rest[1], "after": duration(rest[0]), **arg, "timer": x}
    if word == "ticker":
        return {"ticker": x, "every": duration(rest[0])}
    if word == "after":
        return {"after": duration(rest[0]), "into": x}
    if word in ("ctx", "ctxtimeout"):
        parent = {} if rest[0] == "nil" else {"parent": rest[0]}
        return {"context": x, **parent, **({"timeout": duration(rest[1])} if rest[1:] else {})}
    if word == "call":
        return {**call("call", rest), "into": x}
    if word == "pull":
        args = {"args": [value(w) for w in rest[1:]]} if rest[1:] else {}
        return {"pull": x, "from": rest[0], **args}
    if word == "make":
        return {"make": x, "as": {"chan": int(rest[1])}}
    if word == "gomaxprocs":
        return {"gomaxprocs": value(rest[0]), "into": x}
    if word == "fdread":
        return {"read": rest[0], "into": x}
    raise Untranslatable("x = " + word)


def select(r):
    cases = []
    while r.peek() != "end":
        w = r.next()
        if w[0] == "default":
            cases.append({"default": block(r, ("case", "default", "end"))})
        elif w[1] == "send":
            cases.append({"send": w[2], "value": value(w[3]),
                          "do": block(r, ("case", "default", "end"))})
        else:
            head = into({"recv": w[2]}, w[3:])
            cases.append({**head, "do": block(r, ("case", "default", "end"))})
    r.next()
    return [{"select": cases}]


def counted(r, w):
    """loop X FROM TO, both included."""
    x, first, last = w[1], w[2], w[3]
    body = block(r, ("end",))
    r.next()
    if first == "0" and last.isdigit():
        return [{"loop": int(last) + 1, "index": x, "do": body}]
    return [{"set": x, "value": value(first)},
            {"while": f"{x} <= {last}", "do": body + [{"set": x, "value": f"{x} + 1"}]}]


def statement(r):
    w = r.next()
    verb, rest = w[0], w[1:]
    if rest and rest[0] == "=":
        return [assignment(verb, rest[1:])]
    if verb in PLAIN:
        return [{PLAIN[verb]: True}]
    if verb in OBJECT:
        return [{OBJECT[verb]: rest[0]}]
    if verb in ("go", "call", "defer", "finalizer", "cleanup"):
        return [call(verb, rest)]
    if verb == "alloc":
        return [{"alloc": rest[0] + "B", "live": True}]
    if verb == "select":
        return select(r)
    if verb == "loop":
        return counted(r, w)
    if verb in ("forever", "while"):
        body = block(r, ("end",))
        r.next()
        return [{"loop": "forever", "do": body} if verb == "forever"
                else {"while": " ".join(rest), "do": body}]
    if verb == "if":
        s = {"if": " ".join(rest), "then": block(r, ("else", "end"))}
        if r.next()[0] == "else":
            s["else"] = block(r, ("end",))
            r.next()
        return [s]
    if verb == "print":
        return [{"print": rest[0], **({"args": [value(v) for v in rest[1:]]} if rest[1:] else {})}]
    if verb == "recv":
        return [into({"recv": rest[0]}, rest[1:])]
    if verb == "send":
        return [{"send": rest[0], "value": value(rest[1])}]
    if verb == "add":
        return [{"add": rest[0], "n": value(rest[1])}]
    if verb == "put":
        return [{"pool_put": rest[0], "value": value(rest[1])}]
    if verb in ("get", "next"):
        return [into({"pool_get" if verb == "get" else "next": rest[0]}, rest[1:])]
    if verb in ("store", "astore"):
        return [{"store": rest[0], "value": value(rest[1]),
                 **({"atomic": True} if verb == "astore" else {})}]
    if verb in ("sleep", "cpu", "syscall"):
        return [{verb: duration(rest[0])}]
    if verb == "tight":
        return [{"cpu": duration(rest[0]), "kind": "tight"}]
    if verb == "return":
        return [{"return": value(rest[0]) if rest else None}]
    if verb == "panic" and not re.fullmatch(r"\w", rest[0]):
        return [{"panic": value(rest[0])}]
    if verb == "exit":
        return [{"exit": int(rest[0])}]
    if verb == "once":
        args = {"args": [value(v) for v in rest[2:]]} if rest[2:] else {}
        return [{"once": rest[0], "do": rest[1], **args}]
    if verb == "recover":
        return [{"recover": rest[0], "value": rest[1]}]
    if verb == "yield":
        return [into({"yield": value(rest[0])}, rest[1:])]
    raise Untranslatable(" ".join(w))


def block(r, ends):
    out = []
    while r.peek() not in ends:
        out.extend(statement(r))
    return out


def function(r, params):
    body = block(r, ("func",))
    made = []
    for name in nested(body):
        if name not in params and name not in made:
            made.append(name)
    return [{"set": name, "value": 0} for name in made] + body


def declared(kind, rest):
    if kind == "chan":
        return {"chan": int(rest[0]) if rest else 0}
    if kind == "fd":
        return {"fd": {"times": [duration(t) for t in rest]}}
    if kind in ("var", "cond"):
        return {kind: value(rest[0])} if rest else kind
    return KINDS[kind]


def program(text):
    r, out, objects, funcs = Reader(text), {"procs": 1}, {}, {}
    while r.at < len(r.lines):
        w = r.next()
        if w[0] == "func":
            funcs[w[1]] = (w[2:], function(r, w[2:]))
        elif w[0] == "rule":
            out["rules"] = {w[1]: int(w[2])}
        elif w[0] == "prints-p":
            raise Untranslatable(w[0])
        else:
            objects[w[1]] = declared(w[0], w[2:])
    out["objects"] = objects
    out["funcs"] = {name: {"params": p, "do": b} if p else b
                    for name, (p, b) in funcs.items() if name != "main"}
    out["main"] = funcs["main"][1]
    return {k: v for k, v in out.items() if v or k == "main"}


def expectation(releases, text):
    """What was recorded: prints, then "exit N" and the messages of a crash."""
    e = {"profiles": releases, "end": "finishes"}
    prints, _, crash = text.partition("exit ") if not text.startswith("exit ") \
        else ("", "", text[5:])
    e["output"] = prints.splitlines()
    lines = crash.splitlines()
    if not lines:
        return e
    if len(lines) == 1:
        return {**e, "end": "exit"}
    e["end"] = "deadlock" if lines[1].endswith("deadlock!") else \
        "fatal" if lines[1].startswith("fatal") else "panic"
    e["text"] = lines[1]
    return e


def width(v, indent):
    one = json.dumps(v, ensure_ascii=False)
    if len(one) + indent <= 96 or not isinstance(v, (dict, list)) or not v:
        return one
    pad = "\n" + " " * (indent + 2)
    if isinstance(v, dict):
        inside = ("," + pad).join(json.dumps(k) + ": " + width(x, indent + 2) for k, x in v.items())
        return "{" + pad + inside + "\n" + " " * indent + "}"
    return "[" + pad + ("," + pad).join(width(x, indent + 2) for x in v) + "\n" + " " * indent + "]"


def scenario(golden, name, files):
    p = program((golden / f"programs/{name}.prog").read_text())
    releases = [r for rs in files.values() for r in rs]
    s = {"name": name, "why": "Recorded with real Go: tests/golden/README.md.",
         "profiles": sorted(releases, reverse=True), **p,
         "expect": [expectation(rs, (golden / "recorded" / f).read_text())
                    for f, rs in files.items()]}
    return width(s, 0) + "\n"


def main():
    check, golden = sys.argv[1] == "--check", pathlib.Path(sys.argv[-1])
    rows, bad = {}, 0
    for line in (golden / "index.tsv").read_text().splitlines():
        name, release, file = line.split("\t")
        rows.setdefault(name, {}).setdefault(file, []).append(release)
    (golden / "scenarios").mkdir(exist_ok=True)
    for name, files in sorted(rows.items()):
        path = golden / f"scenarios/{name}.json"
        try:
            text = scenario(golden, name, files)
        except Untranslatable as e:
            print(f"{name}: no word for: {e}", file=sys.stderr)
            continue
        if name in LEFT_OUT:
            continue
        if not check:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            print(f"{path} is not what programs/{name}.prog gives")
            bad += 1
    sys.exit(bad != 0)


main()
