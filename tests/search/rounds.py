# SPDX-License-Identifier: BSD-3-Clause
"""What tests of programs that go round share: how one is written, and explored."""
import json
import pathlib
import subprocess

BREAK = {"break": True}
YIELD = {"gosched": True}
SMALL = 10  # preemptions of a shrunk schedule; of the long ones hundreds


def forever(*do):
    return {"loop": "forever", "do": list(do)}


def when(condition, *then):
    return {"if": condition, "then": list(then)}


def explore(gmpsim, folder, name, body, *options):
    """What the search says, and where the scenario is; its schedule lies beside it."""
    path = pathlib.Path(folder) / "x.json"
    path.write_text(json.dumps({"name": name, **body}))
    done = subprocess.run([gmpsim, "explore", str(path), "--json", "--schedule",
                           str(path) + ".schedule", *options],
                          capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), (name, done.stderr)
    return json.loads(done.stdout), path


def is_small(name, found):
    """Its schedule is what leads to a round, and the round; nothing of it can go."""
    f = found["finding"]
    assert f["preemptions"] <= SMALL and f["answers"] <= 6 * SMALL and f["minimal"], (name, f)


def is_met_again(gmpsim, path, verdict):
    done = subprocess.run([gmpsim, "replay", str(path) + ".schedule"], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 1 and verdict in done.stdout, done.stdout + done.stderr
