# SPDX-License-Identifier: BSD-3-Clause
"""The rules by which Perfetto reads a file of the Trace Event Format, as far as a file can break
them: what it would drop or bind to nothing is a mistake here."""

import json


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)["traceEvents"]


def ns(us):
    return round(us * 1000)


def slices_by_track(events):
    tracks = {}
    for e in events:
        if e["ph"] == "X":
            tracks.setdefault((e["pid"], e["tid"]), []).append(
                (ns(e["ts"]), ns(e["ts"]) + ns(e["dur"]), e["name"]))
    for slices in tracks.values():
        slices.sort(key=lambda s: (s[0], -s[1]))
    return tracks


def nests(slices):
    """Slices of a track are inside of each other or apart."""
    open_ends = []
    for begin, end, _ in slices:
        while open_ends and open_ends[-1] <= begin:
            open_ends.pop()
        if open_ends and end > open_ends[-1]:
            return False
        open_ends.append(end)
    return True


def mistakes(events):
    found = []
    tracks = slices_by_track(events)
    names = {(e["pid"], e["tid"]) for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    folders = {e["pid"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
    for track, slices in tracks.items():
        if not nests(slices):
            found.append(f"slices of track {track} overlap")
        if track not in names:
            found.append(f"track {track} has no name")
    found += [f"folder {e['pid']} has no name" for e in events if e["pid"] not in folders]
    found += arrows(events, tracks)
    found += spans(events)
    last = {}
    for e in events:
        if e["ph"] == "C":
            key = (e["pid"], e["name"])
            if ns(e["ts"]) < last.get(key, 0):
                found.append(f"counter {key} goes back in time")
            last[key] = ns(e["ts"])
            if min(e["args"].values()) < 0:
                found.append(f"counter {key} is negative")
    return found


def arrows(events, tracks):
    ends = {}
    for e in events:
        if e["ph"] in "sf":
            ends.setdefault((e["cat"], e["id"]), {})[e["ph"]] = e
    found = []
    for key, both in ends.items():
        if set(both) != {"s", "f"}:
            found.append(f"arrow {key} has one end")
            continue
        if ns(both["s"]["ts"]) > ns(both["f"]["ts"]):
            found.append(f"arrow {key} goes back in time")
        for e in both.values():
            at = ns(e["ts"])
            if not any(b <= at <= e_ for b, e_, _ in tracks.get((e["pid"], e["tid"]), [])):
                found.append(f"the {e['ph']} end of arrow {key} at {at} ns is on no slice")
    return found


def spans(events):
    found, open_ = [], {}
    for e in sorted((e for e in events if e["ph"] in "be"), key=lambda e: ns(e["ts"])):
        key = (e["pid"], e["cat"], e["id"])
        open_[key] = open_.get(key, 0) + (1 if e["ph"] == "b" else -1)
    found += [f"span {key} is not closed" for key, n in open_.items() if n != 0]
    return found
