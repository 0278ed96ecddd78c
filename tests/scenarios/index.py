#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The index page of the library, made from the files.

usage: index.py [--write] SCENARIOS_FOLDER

Without --write: exit status 1 if SCENARIOS_FOLDER/README.md is not what the files give.
"""
import json
import pathlib
import sys

FOLDERS = {
    "basics": "What every program stands on",
    "runq": "Run queues: ring, runnext, the global queue",
    "steal": "Work stealing, spinning, waking",
    "syscall": "System calls and hand-off",
    "sysmon": "The monitor and preemption",
    "threads": "Threads, LockOSThread, cgo, GOMAXPROCS",
    "timers": "Timers",
    "netpoll": "The network poller and arrivals",
    "sync": "Locks, conditions, pools",
    "gc": "The collector",
    "history": "Releases side by side: what changed, and the number that shows it",
    "everyday": "Everyday shapes",
    "kernels": "Bugs of known programs, each with its fixed twin: `gmpsim explore FILE` finds them",
    "stress": "Programs for `gmpsim stress`, right in every schedule",
}
HEAD = """# The scenario library

Each file is a small concurrent program with a `why` and an `expect` that is checked on every
release it lists. [docs/scenarios.md](../docs/scenarios.md) has the language. Run one with
`gmpsim run scenarios/FOLDER/NAME.json`, all of its releases with `gmpsim scenarios check`.

This page is written by `tests/scenarios/index.py --write scenarios`.
"""


def entry(path):
    text = json.loads(path.read_text())
    first = text["why"].split(". ")[0].rstrip(".")
    releases = text.get("profiles", [text.get("profile", "latest")])
    low = min(releases, key=lambda r: int(r.split(".")[1]) if "." in r else 99)
    high = max(releases, key=lambda r: int(r.split(".")[1]) if "." in r else 99)
    span = low if low == high else f"{low} to {high}"
    return f"| [{path.stem}]({path.parent.name}/{path.name}) | {span} | {first}. |"


def page(folder):
    out = [HEAD]
    for name in sorted(p.name for p in folder.iterdir() if p.is_dir()):
        if name not in FOLDERS:
            sys.exit(f"index.py: say what scenarios/{name} is for")
    for name, title in FOLDERS.items():
        out.append(f"\n## {title}\n\n| {name}/ | releases | |\n|---|---|---|\n")
        out.extend(entry(path) + "\n" for path in sorted((folder / name).glob("*.json")))
    return "".join(out)


def main():
    write = sys.argv[1] == "--write"
    folder = pathlib.Path(sys.argv[2] if write else sys.argv[1])
    readme, text = folder / "README.md", page(folder)
    if write:
        readme.write_text(text)
    elif not readme.exists() or readme.read_text() != text:
        sys.exit("scenarios/README.md is not up to date: "
                 "tests/scenarios/index.py --write scenarios")


main()
